// Where a cancel request goes, with a dialler and peers that answer when the test says so.
import { PassThrough } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Address } from '../../../../src/model/member.ts';
import { Cancels } from '../../../../src/proxy/cancel/cancel.ts';
import type { CancelOutcome, Siblings } from '../../../../src/proxy/siblings.ts';
import { NO_SIBLINGS } from '../../../../src/proxy/siblings.ts';
import type { DialResult } from '../../../../src/proxy/server.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import { cancelRequest, type CancelKey } from '../../../../src/wire/messages/cancel-key.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const KEY: CancelKey = { processId: 7, secret: 'abcd' };
const MEMBER = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const TWO = { 'pg-1': MEMBER.address, 'pg-2': { host: '10.0.0.2', port: 5432 } };
const LISTENER = { host: '127.0.0.1', port: 6432 };
const REFUSED: DialResult = { kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' };

class Lab {
  readonly clock = new ManualClock();
  /** The connections that are opened, by member. */
  readonly dialling: { readonly to: string; readonly fail: () => void; readonly connect: () => PassThrough }[] = [];
  aborted = 0;
  decided = 0;
  /** As the clients were told; undefined: no problem. */
  readonly done: (string | undefined)[] = [];
  readonly events: unknown[] = [];
  readonly cancels: Cancels;

  constructor(siblings?: Siblings, open: Readonly<Record<string, Address>> = { 'pg-1': MEMBER.address }) {
    this.cancels = new Cancels({
      table: () => aTableOf({ write: { open } }),
      decideIfDue: () => void (this.decided += 1),
      clock: this.clock,
      onEvent: (event) => void this.events.push(event),
      ...(siblings === undefined ? {} : { siblings }),
      registry: new SessionRegistry(),
      policy: () => ({}),
      dialPeer: () => expect.unreachable('no peer is set'),
      dial: (server, _limits, onResult) => {
        const connect = (): PassThrough => {
          const socket = new PassThrough();
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is used of a socket, a stream has
          onResult({ kind: 'connected', socket: socket as unknown as Socket });
          return socket;
        };
        this.dialling.push({ to: 'member' in server ? server.member : '', fail: () => onResult(REFUSED), connect });
        return () => void (this.aborted += 1);
      },
    });
  }

  pass(pool = 'write', port = LISTENER.port): () => void {
    return this.cancels.passOn({
      packet: cancelRequest(KEY),
      pool,
      listener: { ...LISTENER, port },
      address: '10.9.9.9',
      onDone: (problem) => void this.done.push(problem),
    });
  }
}

/** Siblings that answer when they are told to. */
function lateSiblings() {
  const { promise, resolve } = Promise.withResolvers<CancelOutcome>();
  return { siblings: { ...NO_SIBLINGS, passOnCancel: () => promise }, answer: resolve };
}

test('a statement that waits here takes the cancel: no server hears of it', () => {
  const lab = new Lab();
  lab.cancels.keys.add(KEY, MEMBER, { takesCancel: () => true });
  lab.pass();
  expect(lab.done).toEqual([undefined]);
  expect(lab.dialling).toEqual([]);
  expect(lab.events).toEqual([{ kind: 'cancel_forwarded', pool: 'write', key: 'known', members: [] }]);
});

test('a known key goes to the server of its session alone, and the client hears why it did not get there', () => {
  const lab = new Lab();
  lab.cancels.keys.add(KEY, { ...MEMBER, member: 'pg-2' }, { takesCancel: () => false });
  expect(lab.cancels.isKnown(cancelRequest(KEY))).toBe(true);
  lab.pass();
  expect(lab.dialling.map(({ to }) => to)).toEqual(['pg-2']);
  lab.dialling[0]?.fail();
  expect(lab.done).toEqual(['pg-2: connection refused']);
  expect([lab.events, lab.clock.pending()]).toEqual([[], 0]);
});

test('the deadline ends a request whose server does not answer', async () => {
  const lab = new Lab();
  lab.pass();
  expect(lab.decided, 'by the table of this moment').toBe(1);
  await lab.clock.advance(4_999);
  expect([lab.done, lab.aborted]).toEqual([[], 0]);
  await lab.clock.advance(1);
  expect([lab.done, lab.aborted]).toEqual([['no server could be reached within 5 s'], 1]);
});

test('a guess is done when each server has closed', async () => {
  const lab = new Lab(undefined, TWO);
  lab.pass();
  const [first, second] = lab.dialling.map(({ connect }) => connect());
  expect(lab.events).toMatchObject([{ key: 'unknown', members: ['pg-1', 'pg-2'] }]);
  first?.destroy();
  await lab.clock.advance(0);
  expect(lab.done).toEqual([]);
  second?.destroy();
  await lab.clock.advance(0);
  expect([lab.done, lab.clock.pending()]).toEqual([[undefined], 0]);
});

test('at the deadline the servers that were reached are told, and their connections end', async () => {
  const lab = new Lab(undefined, TWO);
  lab.pass();
  const socket = lab.dialling[0]?.connect();
  expect(lab.events, 'the other one may still be reached').toEqual([]);
  await lab.clock.advance(5_000);
  expect(lab.events).toMatchObject([{ members: ['pg-1'] }]);
  expect([lab.done, socket?.destroyed]).toEqual([[undefined], true]);
});

test('the event of a session on a branch names the branch', () => {
  const lab = new Lab();
  const branch = { name: 'pr-1', id: 'br-1' };
  const server = { branch, address: MEMBER.address, tls: 'off' as const };
  lab.cancels.keys.add(KEY, server, { takesCancel: () => false });
  lab.pass();
  lab.dialling[0]?.connect();
  expect(lab.events).toEqual([{ kind: 'cancel_forwarded', pool: 'write', key: 'known', members: [], branch }]);
});

test('another process learns that the session of a key it knew has ended', () => {
  const lab = new Lab();
  lab.cancels.passOnKnown(cancelRequest(KEY), 'write', (problem) => void lab.done.push(problem));
  expect([lab.done, lab.cancels.isKnown(cancelRequest(KEY))]).toEqual([['its session has ended'], false]);
});

test.each([
  ['nobody has the session: the members are asked', { kind: 'unknown' }, ['pg-1'], []],
  ['a process has passed it on', { kind: 'done' }, [], [undefined]],
  ['a process could not pass it on', { kind: 'done', problem: 'refused' }, [], ['refused']],
] as const)('the siblings answer: %s', async (_, outcome, dialled, done) => {
  const { siblings, answer } = lateSiblings();
  const lab = new Lab(siblings);
  const stop = lab.pass();
  expect(lab.dialling).toEqual([]);
  answer(outcome);
  await lab.clock.advance(0);
  expect(lab.dialling.map(({ to }) => to)).toEqual(dialled);
  expect(lab.done).toEqual(done);
  stop();
  expect([lab.aborted, lab.clock.pending()]).toEqual([dialled.length, 0]);
});

test('a client that leaves before the siblings answer has no request any more', async () => {
  const { siblings, answer } = lateSiblings();
  const lab = new Lab(siblings);
  lab.pass()();
  answer({ kind: 'unknown' });
  await lab.clock.advance(0);
  expect([lab.dialling, lab.done]).toEqual([[], []]);
});

test('guesses of one listener share a limit, which another listener does not use up', () => {
  const lab = new Lab();
  for (let guess = 0; guess < 22; guess += 1) lab.pass();
  expect(lab.dialling.length).toBeLessThan(22);
  expect(lab.done.at(-1)).toBe('dropped: too many requests with unknown keys');
  const before = lab.dialling.length;
  lab.pass('write', LISTENER.port + 1);
  expect(lab.dialling).toHaveLength(before + 1);
});

test('a pool without members has nobody to guess at', () => {
  const lab = new Lab();
  lab.pass('read');
  expect(lab.done).toEqual(['the pool has no member to pass it on to']);
});

test('the end of the proxy ends the requests of its own, and leaves no timer', async () => {
  const lab = new Lab();
  const entry = lab.cancels.keys.add(KEY, MEMBER, { takesCancel: () => false });
  lab.cancels.cancelStatement(entry);
  lab.cancels.cancelStatement(entry);
  lab.dialling[0]?.fail();
  lab.cancels.stop();
  expect([lab.aborted, lab.clock.pending()]).toEqual([2, 0]);
  await lab.clock.advance(10_000);
  expect(lab.events).toEqual([]);
});
