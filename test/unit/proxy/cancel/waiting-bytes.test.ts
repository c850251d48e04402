// A cancelled request leaves the bytes that wait, wherever they are divided; everything behind it stays as it is.
import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WaitingBytes } from '../../../../src/proxy/cancel/waiting-bytes.ts';
import { aMessage, readyForQuery } from '../../../support/sockets/messages.ts';
import { errorFields } from '../../../support/sockets/packets.ts';

const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));
const SYNC = aMessage('S');
const TERMINATE = aMessage('X');
const PARSE = aMessage('P', Buffer.from('name\0select 1\0\0\0'));
const SERIES = Buffer.concat([PARSE, aMessage('B', Buffer.alloc(9, 1)), aMessage('E', Buffer.alloc(5)), SYNC]);
/** COPY data that was sent ahead. */
const COPY = Buffer.concat([aMessage('d', Buffer.from('1\n')), aMessage('c')]);
const CALL = aMessage('F', Buffer.alloc(20));
const READY = readyForQuery('I');

/** The first bytes are there at the cancel, and the others come behind it. `told`: the client reads that. */
function cancelled(bytes: Buffer, atCancel: number, size = bytes.length): { left: Buffer; told: Buffer } {
  const waiting = new WaitingBytes();
  const told: Uint8Array[] = [];
  const add = (chunk: Uint8Array): void => void told.push(waiting.add(chunk) ?? Buffer.alloc(0));
  add(bytes.subarray(0, atCancel));
  told.push(waiting.cancelFirst() ?? Buffer.alloc(0));
  for (let at = atCancel; at < bytes.length; at += size) add(bytes.subarray(at, at + size));
  return { left: Buffer.from(waiting.bytes()), told: Buffer.concat(told) };
}

test.each([
  ['a statement', query('insert'), query('next')],
  ['a call', CALL, query('next')],
  ['messages up to their Sync', SERIES, SERIES],
  [
    'messages with a Query before their Sync, which the server would skip',
    Buffer.concat([PARSE, query('x'), SYNC]),
    SYNC,
  ],
  ['a COPY whose data was sent ahead: the server ignores the data', query('copy t from stdin'), COPY],
  ['the last statement of a client that says goodbye', query('insert'), TERMINATE],
])('%s', (_, first, behind) => {
  const bytes = Buffer.concat([first, behind]);
  assert(
    property(integer({ min: 1, max: bytes.length }), integer({ min: 1, max: 30 }), (atCancel, size) => {
      const { left, told } = cancelled(bytes, atCancel, size);
      expect(left).toEqual(behind);
      expect(errorFields(told)).toMatchObject({ S: 'ERROR', C: '57014' });
      expect(told.subarray(-READY.length)).toEqual(READY);
    }),
  );
});

test('one request for each cancel, and none while the rest of one is still to come', () => {
  const waiting = new WaitingBytes();
  waiting.add(Buffer.concat([query('a'), query('b'), query('c').subarray(0, 6)]));
  for (let round = 0; round < 3; round += 1) expect(waiting.cancelFirst()).toBeDefined();
  expect([waiting.isCancelling(), waiting.cancelFirst(), waiting.length()]).toEqual([true, undefined, 0]);
  expect(waiting.add(query('c').subarray(6))).toEqual(Uint8Array.from(READY));
  expect([waiting.isCancelling(), waiting.length()]).toEqual([false, 0]);
});

test.each([
  ['a Sync', SYNC, 1],
  ['two of them', Buffer.concat([SYNC, SYNC]), 2],
  ['a Flush', aMessage('H'), 0],
  ['the data of a COPY that was cancelled before', COPY, 0],
  ['the end of such a COPY in the extended protocol', Buffer.concat([COPY, SYNC]), 1],
  ['the failure of such a COPY', aMessage('f', Buffer.from('no\0')), 0],
])('a statement behind messages that begin nothing is taken out with them: %s', (_, before, syncs) => {
  const bytes = Buffer.concat([before, query('insert'), query('next')]);
  assert(
    property(integer({ min: before.length + 1, max: bytes.length }), integer({ min: 1, max: 30 }), (atCancel, size) => {
      const { left, told } = cancelled(bytes, atCancel, size);
      expect(left).toEqual(query('next'));
      const ready = Buffer.concat(Array<Buffer>(syncs).fill(READY));
      expect(told.subarray(0, ready.length)).toEqual(ready);
      const answer = told.subarray(ready.length);
      expect(errorFields(answer)).toMatchObject({ S: 'ERROR', C: '57014' });
      expect([answer.subarray(-READY.length), answer.indexOf(READY)]).toEqual([READY, answer.length - READY.length]);
    }),
  );
});

test.each([
  ['a Query', query('a'), true],
  ['a Parse without a name', Buffer.concat([aMessage('P', Buffer.from('\0select 1\0\0\0')), SYNC]), true],
  ['a Parse with a name', SERIES, false],
  ['a call', CALL, false],
])('%s that is taken out: is the unnamed statement lost with it? %s', (_, bytes, isLost) => {
  for (let atCancel = 1; atCancel <= bytes.length; atCancel += 1) {
    const waiting = new WaitingBytes();
    waiting.add(bytes.subarray(0, atCancel));
    expect([waiting.hasLostUnnamed(), waiting.cancelFirst()]).toEqual([false, expect.anything()]);
    waiting.add(bytes.subarray(atCancel));
    expect(waiting.hasLostUnnamed()).toBe(isLost);
  }
});

test('a goodbye ends messages without a Sync', () => {
  const { left, told } = cancelled(Buffer.concat([PARSE, TERMINATE]), PARSE.length);
  expect(left).toEqual(TERMINATE);
  expect(told.includes(READY)).toBe(false);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a Sync', SYNC],
  ['a Flush', aMessage('H')],
  ['a goodbye', TERMINATE],
])('%s is no statement', (_, bytes) => {
  expect(cancelled(bytes, bytes.length)).toEqual({ left: bytes, told: Buffer.alloc(0) });
});

test.each([
  ['from the first byte on', Buffer.alloc(0)],
  ['in the middle of a request', Buffer.concat([PARSE, aMessage('B', Buffer.alloc(9, 1))])],
])('bytes that are no protocol stay for the server, wherever they are divided: %s', (_, before) => {
  const garbage = Buffer.from('Q\0\0\0\x01garbage');
  const bytes = Buffer.concat([before, garbage]);
  assert(
    property(integer({ min: 1, max: bytes.length }), integer({ min: 1, max: 30 }), (atCancel, size) => {
      expect(cancelled(bytes, atCancel, size).left).toEqual(garbage);
    }),
  );
});

describe('a client whose transaction was ended', () => {
  const owed = { error: aMessage('E', Buffer.from('SERROR\0C40001\0Mno\0\0')), textOf: () => undefined };
  const states = { I: 'idle', E: 'failed', T: 'in_transaction' } as const;
  const COMMIT_SERIES = Buffer.concat([
    aMessage('P', Buffer.from('\0commit\0\0\0')),
    aMessage('B', Buffer.alloc(8)),
    aMessage('E', Buffer.alloc(5)),
    SERIES,
  ]);

  /** `before`: bytes that are there already. */
  function owing(bytes: Buffer, before: number, size: number): { waiting: WaitingBytes; told: Buffer } {
    const waiting = new WaitingBytes();
    waiting.add(bytes.subarray(0, before));
    const told = [waiting.owes(owed) ?? Buffer.alloc(0)];
    for (let at = before; at < bytes.length; at += size) {
      told.push(waiting.add(bytes.subarray(at, at + size)) ?? Buffer.alloc(0));
    }
    return { waiting, told: Buffer.concat(told) };
  }

  test.each([
    ['a statement', query('insert'), query('next'), 'E'],
    ['a call', CALL, query('next'), 'E'],
    ['messages up to their Sync', SERIES, SERIES, 'E'],
    ['a commit', query('commit'), query('next'), 'I'],
    ['a commit, and more before its Sync', COMMIT_SERIES, COMMIT_SERIES, 'I'],
  ] as const)('%s reads the error once, wherever its bytes are divided', (_, first, behind, state) => {
    const bytes = Buffer.concat([SYNC, first, behind]);
    const answer = Buffer.concat([readyForQuery('T'), owed.error, readyForQuery(state)]);
    assert(
      property(integer({ min: 0, max: bytes.length }), integer({ min: 1, max: 30 }), (before, size) => {
        const { waiting, told } = owing(bytes, before, size);
        expect([Buffer.from(waiting.bytes()), told]).toEqual([behind, answer]);
        expect([waiting.isOwing(), waiting.isCancelling(), waiting.status()]).toEqual([false, false, states[state]]);
      }),
    );
  });

  test.each([
    ['a rollback waits for the server, and reads no error', query('rollback'), false, 'failed', query('rollback')],
    ['a Sync is no request', SYNC, true, 'in_transaction', Buffer.alloc(0)],
    ['a goodbye is none', TERMINATE, true, 'in_transaction', TERMINATE],
  ] as const)('%s', (_, bytes, isOwing, status, left) => {
    const { waiting, told } = owing(bytes, 0, 3);
    expect([waiting.isOwing(), waiting.status()]).toEqual([isOwing, status]);
    expect(told).toEqual(bytes === SYNC ? readyForQuery('T') : Buffer.alloc(0));
    expect(Buffer.from(waiting.bytes())).toEqual(left);
  });

  test('a cancel request finds nothing before the error is told, and the failed transaction behind it', () => {
    const { waiting } = owing(query('insert').subarray(0, 7), 0, 7);
    expect([waiting.cancelFirst(), waiting.isOwing()]).toEqual([undefined, true]);
    waiting.add(Buffer.concat([query('insert').subarray(7), query('select')]));
    const told = Buffer.from(waiting.cancelFirst() ?? []);
    expect(errorFields(told)).toMatchObject({ C: '57014' });
    expect(told.subarray(-6)).toEqual(readyForQuery('E'));
  });

  test('one that knew reads nothing', () => {
    const waiting = new WaitingBytes();
    waiting.add(query('select'));
    expect([waiting.owes(undefined), waiting.isOwing(), waiting.status()]).toEqual([undefined, false, 'failed']);
    expect(Buffer.from(waiting.bytes())).toEqual(query('select'));
  });
});
