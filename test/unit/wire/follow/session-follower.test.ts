// Dialogues of a client and a backend, with the session state after each chunk.
import { expect, test } from 'vitest';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { ERROR, READY, STARTED, aStarted, play } from '../../../support/sockets/dialogues.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  aMessage,
  backendKeyData,
  BIND,
  COMMAND_COMPLETE,
  COPY_BOTH_RESPONSE,
  COPY_DATA,
  COPY_DONE,
  COPY_FAIL,
  COPY_IN_RESPONSE,
  COPY_OUT_RESPONSE,
  DATA_ROW,
  errorOf,
  EXECUTE,
  FLUSH,
  PARSE,
  parameterStatus,
  QUERY,
  readyForQuery,
  SYNC,
  TERMINATE,
} from '../../../support/sockets/messages.ts';

test('a startup ends with its first ReadyForQuery', () => {
  play(new SessionFollower(), [
    ['B', [AUTHENTICATION_SASL], 'starting'],
    ['C', [aMessage('p', Buffer.from('x'))], 'starting'],
    ['B', [AUTHENTICATION_OK, parameterStatus('in_hot_standby', 'off')], 'starting'],
    ['B', [backendKeyData(1, Buffer.alloc(4)), READY.subarray(0, 5)], 'starting'],
    ['B', [READY.subarray(5)], 'idle'],
  ]);
});

test('a client that sends a query before its authentication waits for two answers', () => {
  play(new SessionFollower(), [
    ['C', [QUERY], 'starting'],
    ['B', STARTED, 'busy'],
    ['B', [DATA_ROW, READY], 'idle'],
  ]);
});

test('a ReadyForQuery without AuthenticationOk starts nothing', () => {
  play(new SessionFollower(), [['B', [READY], 'starting']]);
});

test('simple queries, and the transactions they open', () => {
  play(aStarted(), [
    ['C', [QUERY.subarray(0, 3)], 'busy'],
    ['C', [QUERY.subarray(3)], 'busy'],
    ['B', [DATA_ROW, COMMAND_COMPLETE], 'busy'],
    ['B', [readyForQuery('T')], 'in_transaction'],
    ['C', [QUERY], 'busy'],
    ['B', [ERROR, readyForQuery('E')], 'in_failed_transaction'],
    ['C', [QUERY], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('all pipelined queries are awaited', () => {
  play(aStarted(), [
    ['C', [QUERY, QUERY, SYNC], 'busy'],
    ['B', [DATA_ROW, READY], 'busy'],
    ['B', [DATA_ROW, READY], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('the extended protocol is open until its Sync is answered', () => {
  play(aStarted(), [
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [aMessage('1')], 'idle'],
    ['C', [BIND, EXECUTE], 'busy'],
    ['B', [aMessage('2'), DATA_ROW, COMMAND_COMPLETE], 'busy'],
    ['C', [SYNC], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('after an error the backend skips to the Sync, which it answers', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC, PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [ERROR], 'busy'],
    ['B', [READY], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test.each([
  ['a Query', [QUERY]],
  ['two Queries', [QUERY, QUERY]],
  ['a FunctionCall', [aMessage('F', Buffer.alloc(10))]],
  ['data and the end of a COPY', [COPY_DATA, COPY_DONE, FLUSH]],
])('%s that the backend discards up to Sync awaits no answer', (_, discarded) => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, ...discarded], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), ERROR], 'busy'],
    ['C', [...discarded], 'busy'],
    ['C', [SYNC], 'busy'],
    ['B', [readyForQuery('E')], 'in_failed_transaction'],
    ['C', [QUERY], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('a Query behind a batch without Sync has an answer of its own, also when it fails', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, QUERY, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COMMAND_COMPLETE], 'busy'],
    ['B', [ERROR, READY], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('unrequested messages while idle change nothing, but are not cut in two', () => {
  const notice = errorOf(['SNOTICE', 'C00000', 'Mx'], 'N');
  play(aStarted(), [
    ['B', [aMessage('A', Buffer.from('\0\0\0\x01channel\0\0')), notice, parameterStatus('TimeZone', 'UTC')], 'idle'],
    ['B', [notice.subarray(0, 8)], 'busy'],
    ['B', [notice.subarray(8)], 'idle'],
  ]);
});

test('a notice before ReadyForQuery is no answer', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [errorOf(['SNOTICE'], 'N'), COMMAND_COMPLETE], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('an error while idle brings an unrequested ReadyForQuery', () => {
  play(aStarted(), [
    ['B', [ERROR, READY], 'idle'],
    ['C', [QUERY], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('COPY FROM STDIN by a simple query', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [COPY_IN_RESPONSE], 'busy'],
    ['C', [COPY_DATA, COPY_DATA, COPY_DONE], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('COPY FROM STDIN by a simple query that fails half way: the client may still send data', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [COPY_IN_RESPONSE], 'busy'],
    ['C', [COPY_DATA], 'busy'],
    ['B', [ERROR, READY], 'idle'],
    ['C', [COPY_DATA, COPY_DONE], 'idle'],
    ['C', [QUERY], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test.each([
  ['done', COPY_DONE],
  ['given up', COPY_FAIL],
])('COPY FROM STDIN by the extended protocol, %s: the Sync before the data is ignored', (_, end) => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE], 'busy'],
    ['C', [COPY_DATA], 'busy'],
    ['C', [end], 'busy'],
    ['B', [COMMAND_COMPLETE], 'busy'],
    ['C', [SYNC], 'busy'],
    ['B', [READY], 'idle'],
    ['C', [PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('COPY FROM STDIN by the extended protocol that fails half way', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE], 'busy'],
    ['C', [COPY_DATA], 'busy'],
    ['B', [ERROR], 'busy'],
    ['C', [COPY_DATA, COPY_DONE, SYNC], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('an error without a request crosses a query: the session is busy again when the answer begins', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [errorOf(['SERROR', 'VERROR', 'C53200', 'Mout of memory']), READY], 'idle'],
    ['B', [COMMAND_COMPLETE], 'busy'],
    ['B', [READY], 'idle'],
    ['C', [PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('an error without a request in an open batch: the backend discards the rest of it', () => {
  play(aStarted(), [
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [aMessage('1')], 'idle'],
    ['B', [ERROR], 'busy'],
    ['C', [BIND, EXECUTE, QUERY], 'busy'],
    ['C', [SYNC], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('COPY FROM STDIN sent ahead: every Sync before its end is taken', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC, FLUSH, COPY_DATA, SYNC, COPY_DONE, SYNC, QUERY], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('two COPYs of one query, sent ahead', () => {
  play(aStarted(), [
    ['C', [QUERY, COPY_DATA, COPY_DONE, SYNC, COPY_DATA, COPY_DONE], 'busy'],
    ['B', [COPY_IN_RESPONSE, COMMAND_COMPLETE], 'busy'],
    ['B', [COPY_IN_RESPONSE, COMMAND_COMPLETE], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('an early Sync of a COPY whose table is missing has its own answer', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC, COPY_DATA, COPY_DONE, SYNC], 'busy'],
    ['B', [ERROR, READY], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('a COPY that fails in its data: the Sync before them was taken', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC, COPY_DATA, COPY_DONE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE, ERROR], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('a COPY that fails before it has taken the Sync: what comes behind it is not discarded', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, SYNC, COPY_DATA, COPY_DONE, PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE, ERROR], 'busy'],
    ['B', [READY, aMessage('1')], 'busy'],
    ['B', [aMessage('2'), COMMAND_COMPLETE], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('more unanswered messages than fit anywhere on the way make the state unknown', () => {
  const follower = aStarted();
  const syncs = Buffer.concat(Array.from({ length: 100_000 }, () => SYNC));
  for (let count = 0; count < 10; count += 1) follower.fromClient(syncs);
  expect(follower.activity()).toBe('busy');
  follower.fromClient(syncs);
  expect(follower.activity()).toBe('unknown');
  // The server answers all of them.
  const answers = Buffer.concat(Array.from({ length: 100_000 }, () => READY));
  for (let count = 0; count < 11; count += 1) follower.fromBackend(answers);
  expect(follower.activity()).toBe('unknown');
});

test('so do too many messages that the server may discard, or not', () => {
  const follower = aStarted();
  follower.fromClient(Buffer.concat([PARSE, BIND, EXECUTE, SYNC, COPY_DATA, COPY_DONE]));
  follower.fromBackend(Buffer.concat([aMessage('1'), aMessage('2'), COPY_IN_RESPONSE, ERROR]));
  const executes = Buffer.concat(Array.from({ length: 100_000 }, () => EXECUTE));
  for (let count = 0; count < 21; count += 1) follower.fromClient(executes);
  expect(follower.activity()).toBe('unknown');
});

test('COPY TO STDOUT and a base backup end with their ReadyForQuery', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [COPY_OUT_RESPONSE, COPY_DATA, COPY_DATA], 'busy'],
    ['B', [COPY_DONE, COMMAND_COMPLETE], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('replication is never between transactions, whatever messages pass', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [COPY_BOTH_RESPONSE, COPY_DATA], 'busy'],
    ['C', [COPY_DATA], 'busy'],
    ['B', [COPY_DATA], 'busy'],
    ['C', [COPY_DONE], 'busy'],
    ['B', [COPY_DONE, COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test.each([
  ['client', 'C'],
  ['backend', 'B'],
] as const)('nonsense of the %s makes the state unknown for good', (_, from) => {
  play(aStarted(), [
    [from, [Buffer.from([0x16, 3, 1, 0, 5])], 'unknown'],
    ['C', [QUERY], 'unknown'],
    ['B', [READY], 'unknown'],
  ]);
});

test('it reports the messages of the backend', () => {
  const follower = aStarted();
  expect(follower.cancelKey()).toEqual({ processId: 1, secret: '\0'.repeat(4) });
  expect(follower.isInHotStandby()).toBe(false);
  expect(follower.isAtBoundaryToClient()).toBe(true);
  follower.fromBackend(errorOf(['SFATAL', 'VFATAL', 'C57P01', 'M']));
  expect(follower.fatal()).toBe('57P01');
  follower.fromClient(TERMINATE);
  expect(follower.isTerminating()).toBe(true);
});
