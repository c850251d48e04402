// The readers of a session, in one order for both directions, and the client that is held back.
import { beforeEach, expect, test } from 'vitest';
import type { Conversation, Tap } from '../../../../src/proxy/relay/conversation.ts';
import { ANSWER, ConversationLab, SERVER, TWO_QUERIES, WAITING_READ } from '../../../support/labs/conversation-lab.ts';
import { COMMAND_COMPLETE, QUERY, readyForQuery, SYNC } from '../../../support/sockets/messages.ts';

let lab: ConversationLab;
let conversation: Conversation;
let order: string[];

beforeEach(() => {
  lab = new ConversationLab();
  ({ conversation, order } = lab);
});

test('both directions have one order, and a tap that is removed reads no more', () => {
  const first = lab.tap('first');
  const second = lab.tap('second');
  lab.logIn(first, second);
  conversation.fromClient(QUERY);
  expect(conversation.fromBackend(ANSWER)).toBe(true);
  conversation.tappedBy([second]);
  conversation.fromClient(QUERY);
  const [query, answer] = [QUERY.length, ANSWER.length];
  const both = [`first < ${query}`, `second < ${query}`, `first > ${answer}`, `second > ${answer}`];
  expect(order).toEqual([...both, `second < ${query}`]);
});

test('bytes that a tap keeps reach neither the taps behind it nor the client, until they pass', () => {
  let kept: Uint8Array | undefined;
  const keeper = lab.tap('keeper', (chunk) => {
    const passing = kept && Buffer.concat([kept, chunk]);
    kept = chunk;
    return passing;
  });
  lab.logIn(keeper, lab.tap('behind'));
  lab.relays();
  kept = undefined;
  const told = (): readonly string[] => order.filter((line) => line.startsWith('client'));
  expect([conversation.fromBackend(COMMAND_COMPLETE), told()]).toEqual([false, []]);
  expect([conversation.fromBackend(readyForQuery('I')), told()]).toEqual([
    false,
    [`client by relay: ${ANSWER.length}`],
  ]);
  expect(order.at(-2)).toBe(`behind > ${ANSWER.length}`);
});

test('a client is held back only where somebody waits for a pause, and goes on behind the answer', async () => {
  lab.logIn(lab.tap('tap'));
  const gate = conversation.gate(() => undefined, SERVER);
  expect([conversation.fromClient(TWO_QUERIES), gate()]).toEqual([undefined, undefined]);
  for (const bytes of [ANSWER, ANSWER]) conversation.fromBackend(bytes);
  lab.idleListeners.add(() => order.push('idle'));
  expect(conversation.fromClient(TWO_QUERIES)).toBe(QUERY.length);
  const wait = gate();
  conversation.fromBackend(ANSWER);
  conversation.passedToClient();
  await wait;
  expect([order.at(-1), gate()]).toEqual(['idle', undefined]);
});

test('the client waits for the pool first, then for a pause, then for each tap in its order', async () => {
  const waits = new Map<string, Promise<void>>();
  const waiting = (name: string): Tap => ({ ...lab.tap(name), wait: () => waits.get(name) });
  lab.logIn(waiting('first'), lab.tap('never waits'), waiting('second'));
  const gate = conversation.gate(() => waits.get('pool'), SERVER);
  expect(gate()).toBeUndefined();
  waits.set('second', Promise.resolve());
  expect(gate()).toBe(waits.get('second'));
  waits.set('first', Promise.resolve());
  expect(gate()).toBe(waits.get('first'));
  lab.idleListeners.add(() => {});
  conversation.fromClient(TWO_QUERIES);
  const pause = gate();
  expect([pause instanceof Promise, [...waits.values()].includes(pause ?? Promise.resolve())]).toEqual([true, false]);
  waits.set('pool', Promise.resolve());
  expect(gate()).toBe(waits.get('pool'));
  waits.delete('pool');
  conversation.goOn();
  await pause;
  expect(gate()).toBe(waits.get('first'));
});

test('requests go on where nobody waits for a pause any more, and none waits twice', async () => {
  lab.logIn(lab.tap('tap'));
  conversation.goOn();
  const gate = conversation.gate(() => undefined, SERVER);
  lab.idleListeners.add(() => {});
  expect(conversation.fromClient(TWO_QUERIES)).toBe(QUERY.length);
  const wait = gate();
  expect([conversation.fromClient(QUERY), gate()]).toEqual([0, wait]);
  conversation.fromBackend(COMMAND_COMPLETE);
  conversation.passedToClient();
  expect(gate()).toBe(wait);
  conversation.goOn();
  await wait;
  expect(gate()).toBeUndefined();
});

test('a drain that waits for a pause is told where one is, behind the bytes of the server', () => {
  lab.logIn();
  lab.idleListeners.add(() => order.push('idle'));
  conversation.fromClient(QUERY);
  conversation.fromBackend(COMMAND_COMPLETE);
  conversation.passedToClient();
  expect(order).toEqual([]);
  conversation.fromBackend(readyForQuery('I'));
  conversation.passedToClient();
  expect(order).toEqual(['idle']);
});

test('a session without taps is held back for its transactions, and never for a pause', () => {
  let passes = true;
  conversation = lab.with({ transactions: lab.transactionGate(() => passes) });
  lab.logIn();
  lab.idleListeners.add(() => {});
  expect(conversation.fromClient(TWO_QUERIES)).toBeUndefined();
  passes = false;
  expect(conversation.fromClient(TWO_QUERIES)).toBe(0);
});

test('the gate of the transactions holds back what may begin one, unless all may pass', () => {
  let passes = false;
  conversation = lab.with({ transactions: lab.transactionGate(() => passes) });
  const wait = Promise.resolve();
  const gate = conversation.gate(() => wait, SERVER);
  expect([gate(), order.splice(0)]).toEqual([wait, ['starts at 127.0.0.1']]);
  lab.logIn(lab.tap('tap'));
  expect(conversation.fromClient(TWO_QUERIES)).toBe(0);
  expect(order.splice(0)).toEqual(['holds', 'tap < 0']);
  passes = true;
  expect(conversation.fromClient(TWO_QUERIES)).toBeUndefined();
  expect(order.splice(0)).toEqual([`tap < ${TWO_QUERIES.length}`]);
  passes = false;
  for (const bytes of [ANSWER, ANSWER]) conversation.fromBackend(bytes);
  order.splice(0);
  // It begins nothing.
  expect(conversation.fromClient(SYNC)).toBe(SYNC.length);
  expect(order.splice(0)).toEqual([`tap < ${SYNC.length}`]);
  conversation.passedToClient();
  expect([order, conversation.waitingRead()]).toEqual([['passed'], WAITING_READ]);
});

test('a request waits for its transaction where no answer is due before it, else for that answer', () => {
  let passes = true;
  conversation = lab.with({ transactions: lab.transactionGate(() => passes) });
  lab.logIn(lab.tap('tap'));
  const gate = conversation.gate(() => undefined, SERVER);
  lab.idleListeners.add(() => {});
  order.splice(0);
  expect(conversation.fromClient(TWO_QUERIES)).toBe(QUERY.length);
  passes = false;
  expect(conversation.fromClient(QUERY)).toBe(0);
  expect([gate() === undefined, order.includes('holds')]).toEqual([false, false]);
  conversation.fromBackend(ANSWER);
  conversation.passedToClient();
  expect(gate()).toBeUndefined();
  expect(conversation.fromClient(QUERY)).toBe(0);
  expect([gate(), order.includes('holds')]).toEqual([undefined, true]);
});

test('the gate of the transactions knows by which relay the session goes, and that it has left', () => {
  conversation = lab.with({ transactions: lab.transactionGate() });
  expect(conversation.isWhole()).toBe(false);
  lab.relays();
  expect(conversation.isWhole()).toBe(true);
  lab.relay.isWhole = false;
  expect(conversation.isWhole()).toBe(false);
  conversation.parks();
  expect([conversation.isWhole(), order]).toEqual([false, ['relays', 'leaves']]);
});

test('a session without a server tells its client itself, and its server nothing', () => {
  lab.logIn();
  conversation.passToClient(ANSWER);
  conversation.tellServer(QUERY);
  lab.relays();
  conversation.passToClient(ANSWER);
  conversation.tellServer(QUERY);
  conversation.parks();
  conversation.passToClient(ANSWER);
  const answer = ANSWER.length;
  expect(order).toEqual([
    `client: ${answer}`,
    `client by relay: ${answer}`,
    `server by relay: ${QUERY.length}`,
    `client: ${answer}`,
  ]);
});

test('the login reads the server first, and may keep its words from the client', () => {
  let isPassing = false;
  conversation.onLogin = (chunk) => {
    order.push(`login: ${chunk.length}`);
    return isPassing;
  };
  expect(conversation.fromBackend(ANSWER)).toBe(false);
  isPassing = true;
  expect(conversation.fromBackend(ANSWER)).toBe(true);
  expect([order, conversation.activity()]).toEqual([
    [`login: ${ANSWER.length}`, `login: ${ANSWER.length}`],
    'starting',
  ]);
});

test('what a client is told while it has no server counts at its last relay, before it is sent', () => {
  const lab = new ConversationLab();
  lab.logIn();
  const poolTraffic = { toBackendBytes: 0, toClientBytes: 0 };
  lab.conversation.countsIn(poolTraffic);
  lab.relays();
  lab.conversation.passToClient(ANSWER);
  // The relay counts for itself.
  expect(poolTraffic.toClientBytes).toBe(0);
  lab.conversation.parks();
  lab.conversation.passToClient(ANSWER);
  expect(poolTraffic.toClientBytes).toBe(ANSWER.length);
  expect(lab.order).toEqual([expect.stringContaining('client by relay'), expect.stringContaining('client')]);
});
