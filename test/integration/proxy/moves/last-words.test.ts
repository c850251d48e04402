// The server of a session that may move without warning ends it, or seems to: which bytes wait, who reads the last
// words, and that nothing of it stays (`lab.end` waits for the last timer).
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WalSample } from '../../../../src/core/coverage.ts';
import type { Standing } from '../../../../src/core/standing.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { QUERY, errorOf, readyForQuery } from '../../../support/sockets/messages.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const RUN = { timeline: 1, startedAt: 'monday' };
const PARK_MS = 30_000;
const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };
const STOPS = errorOf(['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command']);

let clock: ManualClock;
let lab: ProxyLab;
let one: FakeBackend;
let client: RawClient;
/** The sample of `pg-1`. Undefined: none is known. */
let sample: (() => WalSample) | undefined;
/** The client has read as much at the end of its login. */
let greeted: number;

beforeEach(async () => {
  clock = new ManualClock();
  sample = () => ({ at: clock.now(), run: RUN, bytes: 500 });
  one = await startFakeBackend('movable');
});

afterEach(async () => {
  client.socket.destroy();
  await lab.end(one);
});

async function start(pool = 'write', write = aWritePool()): Promise<void> {
  lab = await startProxyLab({
    clock,
    pools: [write, aPool()],
    moves: { mode: 'always', parkTimeoutMs: PARK_MS },
    wal: () => ({ samples: new Map(sample === undefined ? [] : [['pg-1', [sample()]]]), ends: undefined }),
    table: { [pool]: { open: { 'pg-1': one.address } } },
  });
  client = await lab.connect(pool);
  await until('the login', () => client.received().includes(readyForQuery('I')));
  greeted = client.received().length;
}

/** Its state is known, and it was idle for long since. */
async function idleForLong(): Promise<void> {
  await start();
  await clock.advance(1_000);
  await until('the question', () => count('session_asked') === 1);
  await clock.advance(60_000);
}

function count(kind: string): number {
  return lab.events.filter((event) => event.kind === kind).length;
}

function said(): Buffer {
  return client.received().subarray(greeted);
}

function open(): void {
  lab.decide({ write: { open: { 'pg-1': one.address } } });
}

function leave(standing: Standing): void {
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing } } } });
}

test('last words without an end: the client and its statement wait for some seconds, and go on then', async () => {
  await idleForLong();
  one.last().socket.write(STOPS);
  await until('its timer', () => clock.pending() > 0);
  client.socket.write(QUERY);
  await clock.advance(4_999);
  expect([said().length, one.last().received().includes(QUERY)]).toEqual([0, false]);
  await clock.advance(1);
  await until('the words', () => said().length >= STOPS.length);
  expect(said().subarray(0, STOPS.length)).toEqual(STOPS);
  await until('the statement', () => one.last().received().includes(QUERY));
});

test('words that were not the last ones: all of them pass at once', async () => {
  await idleForLong();
  one.last().socket.write(STOPS);
  await until('its timer', () => clock.pending() > 0);
  one.last().socket.write(readyForQuery('I'));
  await until('the words', () => said().length > 0);
  expect(said()).toEqual(Buffer.concat([STOPS, readyForQuery('I')]));
  client.socket.write(QUERY);
  await until('the statement', () => one.last().received().includes(QUERY));
});

test('its client leaves while last words are kept back', async () => {
  await idleForLong();
  one.last().socket.write(STOPS);
  await until('its timer', () => clock.pending() > 0);
  client.socket.resetAndDestroy();
  await until('the end', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['client_reset']);
});

test('a session that was meant reads the words, although its state is known', async () => {
  await idleForLong();
  one.last().socket.end(STOPS);
  await until('the last byte', () => client.hasEnded);
  expect([said(), count('session_parked')]).toEqual([STOPS, 0]);
});

test('a read session is not asked in advance, and ends with its server', async () => {
  await start('read');
  await clock.advance(60_000);
  expect(count('session_asked')).toBe(0);
});

test('neither is one of the leader of a standby cluster', async () => {
  await start('write', aWritePool({ check: '/standby-leader' }));
  await clock.advance(60_000);
  expect(count('session_asked')).toBe(0);
});

test('behind a move after a loss the next move needs no proof of that loss', async () => {
  await idleForLong();
  leave(DEAD);
  open();
  await until('the move', () => count('session_moved') === 1);
  sample = undefined;
  expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
});
