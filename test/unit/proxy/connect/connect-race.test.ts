// The first of several connects wins: when the next one begins, which ones are aborted, and which member was slow.
import { Socket } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import type { Target } from '../../../../src/core/routing-table.ts';
import { nothing } from '../../../../src/model/once.ts';
import { ConnectRace } from '../../../../src/proxy/connect/connect-attempts.ts';
import type { DialLimits, DialResult } from '../../../../src/proxy/server.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const DELAY_MS = 200;
const FAILED = { kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' } as const;

interface Connect extends DialLimits {
  readonly end: (result: DialResult) => void;
  aborts: number;
}

let clock: ManualClock;
let connects: Record<string, Connect>;
let log: string[];
/** Runs before the next member is named. */
let onNext: () => void;
let race: ConnectRace;
let socket: Socket;

function target(member: string): Target {
  return { member, address: { host: member, port: 5432 } };
}

function begin(delayMs: number | undefined): void {
  race = new ConnectRace({
    dial(server, limits, end) {
      const connect = { ...limits, end, aborts: 0 };
      connects['member' in server ? server.member : ''] = connect;
      return () => (connect.aborts += 1);
    },
    clock,
    isEncrypted: true,
    timeoutMs: 5_000,
    delayMs,
    next(tried) {
      onNext();
      const member = ['pg-1', 'pg-2', 'pg-3'].find((name) => !tried.includes(name));
      return member === undefined ? undefined : target(member);
    },
    onBegin: ({ member }) => log.push(`${member} begins`),
    onFinished: ({ member }, outcome, ms) => log.push(`${member} ${outcome} in ${ms} ms`),
    onSlow: ({ member }) => log.push(`${member} is slow`),
    onConnected: ({ member }, won) => log.push(`${member} wins${won === socket ? '' : ' with another socket'}`),
    onFailed: ({ member }, { detail }, isLast) => log.push(`${member} failed: ${detail}${isLast ? ', the last' : ''}`),
  });
  race.begin(target('pg-1'));
}

function win(member: string): void {
  connects[member]?.end({ kind: 'connected', socket });
}

beforeEach(() => {
  [clock, connects, log, onNext, socket] = [new ManualClock(), {}, [], nothing, new Socket()];
});

test('a member that answers in time has no rival', async () => {
  begin(DELAY_MS);
  expect(connects['pg-1']).toMatchObject({ clock, isEncrypted: true, timeoutMs: 5_000 });
  await clock.advance(DELAY_MS - 1);
  win('pg-1');
  await clock.advance(DELAY_MS);
  expect(log).toEqual(['pg-1 begins', 'pg-1 connected in 199 ms', 'pg-1 wins']);
  expect(clock.pending()).toBe(0);
});

test('each member that does not answer gets a rival, and the winner ends the others before it is told', async () => {
  begin(DELAY_MS);
  await clock.advance(DELAY_MS);
  await clock.advance(DELAY_MS);
  await clock.advance(10 * DELAY_MS);
  expect(log.splice(0)).toEqual(['pg-1 begins', 'pg-2 begins', 'pg-3 begins']);
  win('pg-2');
  expect(log).toEqual([
    'pg-1 outraced in 2400 ms',
    'pg-1 is slow',
    'pg-3 outraced in 2000 ms',
    'pg-2 connected in 2200 ms',
    'pg-2 wins',
  ]);
  expect(Object.values(connects).map(({ aborts }) => aborts)).toEqual([1, 0, 1]);
});

test('a member whose connection is being encrypted has answered: it has no rival, and is not slow', async () => {
  begin(DELAY_MS);
  await clock.advance(DELAY_MS);
  connects['pg-2']?.onReached?.();
  await clock.advance(3 * DELAY_MS);
  expect(Object.keys(connects)).toEqual(['pg-1', 'pg-2']);
  connects['pg-2']?.end(FAILED);
  await clock.advance(DELAY_MS);
  expect(Object.keys(connects)).toEqual(['pg-1', 'pg-2', 'pg-3']);
  connects['pg-1']?.onReached?.();
  log.splice(0);
  win('pg-3');
  expect(log).toEqual(['pg-1 outraced in 1000 ms', 'pg-3 connected in 0 ms', 'pg-3 wins']);
});

test('a rival that began at the same instant as the winner had no more time', async () => {
  begin(0);
  await clock.advance(0);
  expect(log.splice(0).length).toBeGreaterThan(1);
  win('pg-2');
  expect(log.filter((line) => line.endsWith('slow'))).toEqual([]);
});

test('only the last failure ends the race', async () => {
  begin(DELAY_MS);
  await clock.advance(DELAY_MS);
  log.splice(0);
  connects['pg-1']?.end(FAILED);
  expect(log.splice(0)).toEqual(['pg-1 refused in 200 ms', 'pg-1 failed: connection refused']);
  expect(connects['pg-2']?.aborts).toBe(0);
  connects['pg-2']?.end(FAILED);
  expect(log.splice(0)).toEqual(['pg-2 refused in 0 ms', 'pg-2 failed: connection refused, the last']);
  await clock.advance(10 * DELAY_MS);
  expect([log, clock.pending()]).toEqual([[], 0]);
});

test('without a delay one member is tried', async () => {
  begin(undefined);
  await clock.advance(60_000);
  expect([log, clock.pending()]).toEqual([['pg-1 begins'], 0]);
});

test('nothing begins and nothing is reported behind an abort', async () => {
  begin(DELAY_MS);
  await clock.advance(DELAY_MS);
  log.splice(0);
  race.abort();
  race.abort();
  expect(clock.pending()).toBe(0);
  await clock.advance(10 * DELAY_MS);
  expect(log).toEqual([]);
  expect(Object.values(connects).map(({ aborts }) => aborts)).toEqual([1, 1]);
});

test('no rival begins when the look for one routes the client elsewhere', async () => {
  begin(DELAY_MS);
  onNext = () => race.abort();
  await clock.advance(10 * DELAY_MS);
  expect([log, clock.pending()]).toEqual([['pg-1 begins'], 0]);
});
