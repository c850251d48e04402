// The state of a session: how long its client settles, where its cancel request goes, and which words it can be told.
import { beforeEach, expect, test } from 'vitest';
import type { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import { ANSWER, ConversationLab } from '../../../support/labs/conversation-lab.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, PARSE, QUERY, readyForQuery } from '../../../support/sockets/messages.ts';

let lab: ConversationLab;
let conversation: Conversation;
let order: string[];

beforeEach(() => {
  lab = new ConversationLab();
  ({ conversation, order } = lab);
});

test('G9: a client whose login is under way is told why its session ends, between two messages', () => {
  const told = () => conversation.farewell('evicted_demoted', 'pg-1 is a replica', { pool: 'write' })?.message;
  expect(told()).toBeDefined();
  conversation.fromBackend(AUTHENTICATION_OK);
  expect([conversation.activity(), told()]).toEqual(['starting', expect.anything()]);
  conversation.fromBackend(readyForQuery('I').subarray(0, 3));
  expect(told()).toBeUndefined();
  conversation.fromBackend(readyForQuery('I').subarray(3));
  conversation.fromClient(QUERY);
  expect([conversation.activity(), told()]).toEqual(['busy', undefined]);
});

test('a cancel request of a parked client goes to the one that has parked it', () => {
  lab.logIn();
  conversation.parks(() => order.push('cancelled'));
  conversation.fromClient(QUERY);
  expect([conversation.takesCancel(), order.splice(0)]).toEqual([true, ['cancelled']]);
  lab.relays();
  expect([conversation.takesCancel(), order]).toEqual([false, []]);
});

test('a cancel request takes out a statement that waits; one at the server is none of it', () => {
  conversation = lab.with({ transactions: lab.transactionGate() });
  lab.logIn({ fromServer: (chunk) => chunk });
  expect(conversation.takesCancel()).toBe(false);
  lab.relays();
  order.splice(0);
  expect(conversation.takesCancel()).toBe(false);
  lab.relay.waiting = 1;
  expect([conversation.takesCancel(), order]).toEqual([true, ['cancelled']]);
  lab.relay.waiting = 1;
  conversation.fromClient(QUERY);
  expect([conversation.takesCancel(), lab.relay.waiting]).toEqual([false, 1]);
});

test('a cancel request for a statement that waits needs no gate of transactions', () => {
  lab.logIn();
  lab.relays();
  lab.relay.waiting = 1;
  expect(conversation.takesCancel()).toBe(true);
});

test('a cancel request does not end a question of ours', () => {
  let isAsking = true;
  lab.logIn(lab.tap('tap'), { ...lab.tap('asks'), isAsking: () => isAsking });
  lab.relays();
  expect(conversation.takesCancel()).toBe(true);
  isAsking = false;
  expect(conversation.takesCancel()).toBe(false);
});

test('a client has half a second for its first statement, and again for one that it has prepared', async () => {
  lab.logIn();
  conversation.settles();
  await lab.clock.advance(100);
  expect(conversation.settlesInMs()).toBe(400);
  lab.traffic.toBackendBytes = 10;
  expect(conversation.settlesInMs()).toBe(0);
  expect(conversation.endBatch()).toBe(false);
  conversation.fromClient(PARSE);
  lab.traffic.toBackendBytes = 20;
  expect(conversation.settlesInMs()).toBe(0);
  conversation.fromBackend(Buffer.from('1\0\0\0\x04'));
  expect(conversation.settlesInMs()).toBe(500);
  await lab.clock.advance(600);
  expect(conversation.settlesInMs()).toBe(0);
  expect([conversation.endBatch(), conversation.settlesInMs()]).toEqual([true, 500]);
  expect(conversation.endBatch()).toBe(false);
});

test('a session that cannot be read is passed on as it is, and its client is never told', () => {
  conversation = lab.with({ isReadable: false });
  lab.idleListeners.add(() => order.push('idle'));
  expect([conversation.follower(), conversation.waitingRead()]).toEqual([undefined, undefined]);
  expect([conversation.fromClient(QUERY), conversation.fromBackend(ANSWER)]).toEqual([undefined, true]);
  conversation.passedToClient();
  conversation.passToClient(ANSWER);
  expect(order).toEqual([`client: ${ANSWER.length}`]);
  expect([conversation.isIdle(), conversation.activity(), conversation.settlesInMs()]).toEqual([false, undefined, 0]);
  expect([conversation.endBatch(), conversation.takesCancel()]).toEqual([false, false]);
  const told = { pool: 'write', canTell: true };
  expect(conversation.farewell('killed_by_operator', undefined, told)).toBeUndefined();
});

test('a stream that is no stream of PostgreSQL is not known any more', () => {
  lab.logIn();
  expect([conversation.activity(), conversation.follower()?.activity()]).toEqual(['idle', 'idle']);
  conversation.fromClient(Buffer.from('Q\0\0\0\0'));
  expect([conversation.activity(), conversation.follower()?.activity()]).toEqual([undefined, 'unknown']);
});

test('G9: the last message has the pool, the reason and the state, where the client waits for an answer of it', () => {
  lab.logIn();
  const aged = conversation.farewell('too_old', 'an hour', { pool: 'write' });
  expect(aged).toMatchObject({ reason: 'too_old', detail: 'an hour', client: lab.client });
  const text = Buffer.from(aged?.message ?? []).toString();
  expect([text.includes('session age of pool "write" reached'), text.includes('an hour')]).toEqual([true, true]);
  const served = conversation.farewell('too_old', undefined, { pool: 'write', isServed: true });
  expect(served).toMatchObject({ reason: 'too_old', message: undefined });
  expect(conversation.farewell('client_closed', undefined, { pool: 'write' })).toBeUndefined();
  lab.client.writable = false;
  expect(conversation.farewell('too_old', undefined, { pool: 'write' })).toBeUndefined();
});

test('G9: within a statement only an end by the operator is told, and between two messages alone', () => {
  lab.logIn();
  conversation.fromClient(QUERY);
  const message = (reason: 'killed_by_operator' | 'too_old', canTell?: boolean) =>
    conversation.farewell(reason, undefined, { pool: 'write', canTell })?.message;
  expect([message('too_old'), message('too_old', true) === undefined]).toEqual([undefined, false]);
  expect(message('killed_by_operator', false)).toBeUndefined();
  expect(Buffer.from(message('killed_by_operator') ?? []).toString()).toContain('Check whether it took effect');
  conversation.fromBackend(COMMAND_COMPLETE.subarray(0, 3));
  expect(message('killed_by_operator')).toBeUndefined();
});
