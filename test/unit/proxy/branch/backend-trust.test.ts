import { beforeEach, expect, test } from 'vitest';
import type { AuthorityReading } from '../../../../src/model/authority.ts';
import { BackendTrust } from '../../../../src/proxy/branch/backend-trust.ts';
import type { Trust } from '../../../../src/proxy/branch/backend-trust.ts';
import type { ProxyEvent } from '../../../../src/reports/events.ts';
import { tlsText } from '../../../support/values/tls-files.ts';

const FILE = '/etc/branches-ca.pem';
const MISSING: AuthorityReading = { kind: 'unusable', why: 'cannot be read: there is no such file' };
const DAMAGED: AuthorityReading = { kind: 'unusable', why: 'is not a certificate in PEM' };

let reading: AuthorityReading;
let events: ProxyEvent[];
let trust: BackendTrust;

beforeEach(() => {
  reading = { kind: 'authorities', text: tlsText('ca.pem') };
  events = [];
  trust = new BackendTrust({
    readAuthorities: () => Promise.resolve(reading),
    onEvent: (event) => events.push(event),
  });
});

function contextOf(got: Trust): unknown {
  return got.kind === 'trusted' ? got.context : got.why;
}

test('the context is made once for each content of the file', async () => {
  const [first, second] = await Promise.all([trust.get(FILE), trust.get(FILE)]);
  expect(contextOf(second)).toBe(contextOf(first));
  reading = { kind: 'authorities', text: tlsText('other-ca.pem') };
  const rotated = await trust.get(FILE);
  expect(rotated.kind).toBe('trusted');
  expect(contextOf(rotated)).not.toBe(contextOf(first));
});

test('a file that cannot be used any more: its last good content stays, with one event for each fault', async () => {
  const good = await trust.get(FILE);
  reading = MISSING;
  expect(contextOf(await trust.get(FILE))).toBe(contextOf(good));
  expect(contextOf(await trust.get(FILE))).toBe(contextOf(good));
  reading = DAMAGED;
  expect(contextOf(await trust.get(FILE))).toBe(contextOf(good));
  reading = { kind: 'authorities', text: tlsText('ca.pem') };
  expect(contextOf(await trust.get(FILE))).toBe(contextOf(good));
  reading = MISSING;
  await trust.get(FILE);
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
  expect(await trust.get(FILE)).toEqual({ kind: 'unusable', why });
  expect(events).toEqual([]);
});

test('the content of another file is not used in its place', async () => {
  await trust.get(FILE);
  reading = MISSING;
  expect((await trust.get('/etc/new-ca.pem')).kind).toBe('unusable');
});

test('without a file the authorities of the system are trusted', async () => {
  const system = await trust.get(undefined);
  expect(system.kind).toBe('trusted');
  expect(contextOf(await trust.get(undefined))).toBe(contextOf(system));
  expect(contextOf(await trust.get(FILE))).not.toBe(contextOf(system));
});
