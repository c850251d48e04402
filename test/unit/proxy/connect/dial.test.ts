// One connection to one member: the result, once, and whose fault a failure is. The sockets connect nowhere.
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { dialerOf } from '../../../../src/proxy/connect/dial.ts';
import type { DialResult } from '../../../../src/proxy/server.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

function start() {
  const clock = new ManualClock();
  const socket = new Socket();
  let target: unknown;
  socket.connect = (options: unknown): Socket => {
    target = options;
    return socket;
  };
  const results: DialResult[] = [];
  const address = { host: '10.0.0.1', port: 5432 };
  const dial = dialerOf(() => socket);
  const abort = dial(address, { clock, timeoutMs: 800 }, (result) => results.push(result));
  expect(target).toMatchObject(address);
  return { clock, socket, results, abort };
}

function errorOf(code: string | undefined): Error {
  return Object.assign(new Error('the words of the system'), code === undefined ? {} : { code });
}

test('a connection is the result, and its deadline is over', async () => {
  const { clock, socket, results } = start();
  socket.emit('connect');
  expect(results).toEqual([{ kind: 'connected', socket }]);
  await clock.advance(5_000);
  socket.emit('error', errorOf('ECONNRESET'));
  expect([results.length, socket.destroyed, clock.pending()]).toEqual([1, false, 0]);
  // Errors are ignored until the caller listens.
  expect([socket.listenerCount('connect'), socket.listenerCount('error')]).toEqual([0, 1]);
});

test('no answer until the deadline is no fault of this machine', async () => {
  const { clock, socket, results } = start();
  await clock.advance(799);
  expect(results).toEqual([]);
  await clock.advance(1);
  const detail = 'no connection within 800 ms';
  expect(results).toEqual([{ kind: 'failed', outcome: 'timeout', isLocalFault: false, detail }]);
  expect([socket.destroyed, clock.pending()]).toEqual([true, 0]);
});

test.each<[string | undefined, string, boolean, string]>([
  ['ECONNREFUSED', 'refused', false, 'connection refused'],
  ['ETIMEDOUT', 'timeout', false, 'connection timed out'],
  ['ECONNRESET', 'failed', false, 'connection reset'],
  ['EHOSTUNREACH', 'failed', false, 'host unreachable'],
  ['ENETUNREACH', 'failed', true, 'network unreachable'],
  ['EMFILE', 'failed', true, 'too many open files'],
  ['EADDRNOTAVAIL', 'failed', true, 'no local port is free'],
  ['EODD', 'failed', false, 'EODD'],
  [undefined, 'failed', false, 'the words of the system'],
])('G12: %s is %s, and a local fault: %s', (code, outcome, isLocalFault, detail) => {
  const { clock, socket, results } = start();
  socket.emit('error', errorOf(code));
  expect(results).toEqual([{ kind: 'failed', outcome, isLocalFault, detail }]);
  expect([socket.destroyed, clock.pending()]).toEqual([true, 0]);
});

test('a name without an address says so', () => {
  const { socket, results } = start();
  socket.emit('error', errorOf('ENOTFOUND'));
  expect(results).toMatchObject([{ outcome: 'failed', isLocalFault: true, isUnresolvable: true }]);
});

test('an abort closes, and reports nothing; behind the result it does nothing', async () => {
  const early = start();
  early.abort();
  await early.clock.advance(5_000);
  expect([early.results, early.socket.destroyed, early.clock.pending()]).toEqual([[], true, 0]);
  const late = start();
  late.socket.emit('connect');
  late.abort();
  expect(late.socket.destroyed).toBe(false);
});
