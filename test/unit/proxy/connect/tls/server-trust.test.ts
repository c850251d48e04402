import { beforeEach, expect, test } from 'vitest';
import type { PemReading } from '../../../../../src/model/pem.ts';
import { ServerTrust } from '../../../../../src/proxy/connect/tls/server-trust.ts';
import type { Trust } from '../../../../../src/proxy/connect/tls/server-trust.ts';
import type { ProxyEvent } from '../../../../../src/reports/events.ts';
import { tlsText } from '../../../../support/values/tls-files.ts';
import { ManualClock } from '../../../../support/waiting/manual-clock.ts';

const FILE = '/etc/branches-ca.pem';
const MISSING: PemReading = { kind: 'unusable', why: 'cannot be read: there is no such file' };
const DAMAGED: PemReading = { kind: 'unusable', why: 'is not a certificate in PEM' };

let reading: PemReading;
let events: ProxyEvent[];
let trust: ServerTrust;
let clock: ManualClock;
let reads = 0;

beforeEach(() => {
  reading = { kind: 'pem', text: tlsText('ca.pem') };
  events = [];
  clock = new ManualClock();
  trust = aTrust(0);
});

function aTrust(validMs: number): ServerTrust {
  return new ServerTrust({
    section: 'branches.backends',
    validMs,
    clock,
    readPem: () => {
      reads += 1;
      return Promise.resolve(reading);
    },
    readKeyPair: () => expect.unreachable(),
    onEvent: (event) => events.push(event),
  });
}

const of = (caFile?: string) => ({ caFile, crlFile: undefined, pair: undefined, minVersion: 'TLSv1.2' }) as const;

function contextOf(got: Trust): unknown {
  return got.kind === 'trusted' ? got.context : got.why;
}

test('the context is made once for each content of the file', async () => {
  const [first, second] = await Promise.all([trust.get(of(FILE)), trust.get(of(FILE))]);
  expect(contextOf(second)).toBe(contextOf(first));
  reading = { kind: 'pem', text: tlsText('other-ca.pem') };
  const rotated = await trust.get(of(FILE));
  expect(rotated.kind).toBe('trusted');
  expect(contextOf(rotated)).not.toBe(contextOf(first));
});

test('a file that cannot be used any more: its last good content stays, with one event for each fault', async () => {
  const good = await trust.get(of(FILE));
  reading = MISSING;
  expect(contextOf(await trust.get(of(FILE)))).toBe(contextOf(good));
  expect(contextOf(await trust.get(of(FILE)))).toBe(contextOf(good));
  reading = DAMAGED;
  expect(contextOf(await trust.get(of(FILE)))).toBe(contextOf(good));
  reading = { kind: 'pem', text: tlsText('ca.pem') };
  expect(contextOf(await trust.get(of(FILE)))).toBe(contextOf(good));
  reading = MISSING;
  await trust.get(of(FILE));
  const missing = `branches.backends.ca_file ${FILE} cannot be read: there is no such file`;
  expect(events).toEqual([
    { kind: 'certificate_refused', why: missing },
    { kind: 'certificate_refused', why: `branches.backends.ca_file ${FILE} is not a certificate in PEM` },
    { kind: 'certificate_refused', why: missing },
  ]);
});

test('a file that was never usable trusts nobody, and the reason for clients has no path', async () => {
  reading = MISSING;
  const why = 'branches.backends.ca_file cannot be read: there is no such file';
  expect(await trust.get(of(FILE))).toEqual({ kind: 'unusable', why });
  expect(events).toEqual([]);
});

test('the content of another file is not used in its place', async () => {
  await trust.get(of(FILE));
  reading = MISSING;
  expect((await trust.get(of('/etc/new-ca.pem'))).kind).toBe('unusable');
});

test('without a file the authorities of the system are trusted', async () => {
  const system = await trust.get(of());
  expect(system.kind).toBe('trusted');
  expect(contextOf(await trust.get(of()))).toBe(contextOf(system));
  expect(contextOf(await trust.get(of(FILE)))).not.toBe(contextOf(system));
});

test('the files are not read again while the last read is valid', async () => {
  trust = aTrust(5_000);
  reads = 0;
  const files = of(FILE);
  const first = await trust.get(files);
  reading = { kind: 'pem', text: tlsText('other-ca.pem') };
  expect(contextOf(await trust.get(files))).toBe(contextOf(first));
  expect(reads).toBe(1);
  await clock.advance(5_000);
  expect(contextOf(await trust.get(files))).not.toBe(contextOf(first));
  expect(reads).toBe(2);
});
