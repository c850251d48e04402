// The answer to a parked client that cancels, to the byte. The next server gets the statements that are left, once and
// in their order.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend, type FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab, type ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { COMMAND_COMPLETE, aMessage, readyForQuery } from '../../../support/sockets/messages.ts';
import { aCancelOf, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw, type RawClient } from '../../../support/sockets/raw-client.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const READY = readyForQuery('I');
const SYNC = aMessage('S');
const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));
const series = (text: string): Buffer => Buffer.concat([...openSeries(text), SYNC]);
const openSeries = (text: string): readonly Buffer[] => [
  aMessage('P', Buffer.from(`\0${text}\0\0\0`)),
  aMessage('B', Buffer.alloc(8)),
  aMessage('D', Buffer.from('P\0')),
  aMessage('E', Buffer.alloc(5)),
];
const COPY_DATA = Buffer.concat([aMessage('d', Buffer.from('1\n')), aMessage('c')]);
const CALL = aMessage('F', Buffer.alloc(14));
/** The next server's, to the last statement. */
const LAST = query('last');
const ANSWER = Buffer.concat([COMMAND_COMPLETE, READY]);
/** E and Z, as the tests write them down. */
const CANCELED = 'EZ';

let clock: ManualClock;
let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let client: RawClient;
let greeted: number;

beforeEach(async () => {
  clock = new ManualClock();
  [one, two] = [await startFakeBackend('movable'), await startFakeBackend('movable')];
  lab = await startProxyLab({ clock, moves: {}, table: { write: { open: { 'pg-1': one.address } } } });
  client = await lab.connect('write');
  await until('the login', async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity === 'idle');
  await until('the greeting', () => client.received().includes(READY));
  greeted = client.received().length;
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: HANDING_OVER } } } });
  await until('the park', () => lab.events.some(({ kind }) => kind === 'session_parked'));
});

afterEach(async () => {
  client.socket.destroy();
  await lab.end(one, two);
});

function said(): Buffer {
  return client.received().subarray(greeted);
}

/** The types of its messages. Each error must be the answer to a cancel request. */
function kinds(bytes: Buffer): string {
  let types = '';
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    if (type === 'E') {
      expect(errorFields(bytes.subarray(at))).toMatchObject({
        S: 'ERROR',
        C: '57014',
        M: 'canceling statement due to user request',
        D: 'No server has seen the statement: it waited in Pointsman.',
      });
    }
    types += type;
  }
  return types;
}

async function sends(...messages: readonly Buffer[]): Promise<void> {
  const bytes = Buffer.concat(messages);
  client.socket.write(bytes);
  await until('the wait', async () => {
    const { sessions } = await lab.proxy.sessions({ limit: 1 });
    return sessions[0]?.moves?.underway?.isWaiting === true;
  });
}

/** Resolves when Pointsman has taken the request. */
async function cancel(): Promise<void> {
  const canceller = await connectRaw(lab.address('write'));
  canceller.socket.write(aCancelOf(42, Buffer.alloc(4, 7)));
  await until('the end of the request', () => canceller.hasEnded || canceller.isClosed);
  canceller.socket.destroy();
}

async function isTold(expected: string): Promise<void> {
  await until(`the messages ${expected}`, () => kinds(said()) === expected);
}

function open(): void {
  lab.decide({ write: { open: { 'pg-2': two.address } } });
}

/** The session goes on, with these messages and no other of its client. */
async function goesOnWith(...left: readonly Buffer[]): Promise<void> {
  open();
  client.socket.write(LAST);
  await until('the last answer', () => said().subarray(-ANSWER.length).equals(ANSWER) && two.clients() > 0);
  const expected = Buffer.concat([...left, LAST]);
  await until('its messages', () => two.last().received().includes(LAST));
  const all = two.last().received();
  // All before it is Pointsman's own: login, state and a Sync.
  expect([all.subarray(-expected.length), all.indexOf(expected)]).toEqual([expected, all.length - expected.length]);
  expect(all.subarray(0, -expected.length).subarray(-SYNC.length)).toEqual(SYNC);
  for (const text of ['taken', 'away']) {
    expect(
      [one, two].some((server) => server.connections.some((connection) => connection.received().includes(text))),
    ).toBe(false);
  }
}

test.each([
  ['a simple query', [query('taken')], CANCELED, []],
  ['a function call', [CALL], CANCELED, []],
  ['the extended protocol', [series('taken')], CANCELED, []],
  ['a pipeline with one Sync: the error skips all of it', [...openSeries('taken'), series('away')], CANCELED, []],
  ['several Syncs: those behind the first go on', [series('taken'), series('next')], CANCELED, [series('next')]],
  ['several statements', [query('taken'), query('next'), CALL], CANCELED, [query('next'), CALL]],
  ['a COPY with its data', [query('copy taken from stdin'), COPY_DATA], CANCELED, [COPY_DATA]],
  ['a COPY by the extended protocol', [series('copy taken from stdin'), COPY_DATA, SYNC], CANCELED, [COPY_DATA, SYNC]],
  ['a statement behind a Sync', [SYNC, query('taken')], `Z${CANCELED}`, []],
  ['a statement behind a Flush', [aMessage('H'), query('taken')], CANCELED, []],
])('cancelled once: %s', async (_, messages, told, left) => {
  await sends(...messages);
  await cancel();
  await isTold(told);
  await goesOnWith(...left);
});

test.each([
  ['two statements: each request takes one', [query('taken'), query('away'), query('next')], 'EZEZ', [query('next')]],
  ['one statement: nothing else is hit', [series('taken')], CANCELED, []],
  ['a COPY with its data, and a statement', [query('copy taken from stdin'), COPY_DATA, query('away')], 'EZEZ', []],
  ['two pipelines', [series('taken'), series('away'), series('next')], 'EZEZ', [series('next')]],
])('cancelled twice: %s', async (_, messages, told, left) => {
  await sends(...messages);
  await cancel();
  await cancel();
  await isTold(told);
  await goesOnWith(...left);
});

test('the extended protocol without its Sync: silence until it comes, and all before it is dropped', async () => {
  await sends(...openSeries('taken'));
  await cancel();
  await isTold('E');
  client.socket.write(Buffer.concat(openSeries('away')));
  await cancel();
  await isTold('E');
  client.socket.write(SYNC);
  await isTold(CANCELED);
  await goesOnWith();
});

test('a request in the turn of the release finds the statement at one place: it is cancelled, or it runs', async () => {
  await sends(query('last'));
  const canceller = await connectRaw(lab.address('write'));
  canceller.socket.write(aCancelOf(42, Buffer.alloc(4, 7)));
  open();
  await until('what becomes of it', () => kinds(said()).endsWith('Z'));
  await until('the end of the request', () => canceller.hasEnded || canceller.isClosed || two.clients() > 1);
  canceller.socket.destroy();
  await until('the move', () => lab.events.some(({ kind }) => kind === 'session_moved'));
  const hasRun = two.connections[0]?.received().includes(LAST) === true;
  expect([hasRun, kinds(said())]).toEqual([hasRun, hasRun ? 'CZ' : CANCELED]);
});
