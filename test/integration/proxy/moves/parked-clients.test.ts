// The ways in which the wait of a parked client ends: it leaves, its time is over, a reload removes `moves`, the
// handover does not happen, or Pointsman ends. Nothing of the session stays (`lab.end` waits for the last timer).
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import type { RelayMode } from '../../../../src/model/policy.ts';
import { WaitingBytes } from '../../../../src/proxy/cancel/waiting-bytes.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { COMMAND_COMPLETE, QUERY, TERMINATE, aMessage, readyForQuery } from '../../../support/sockets/messages.ts';
import { aCancelOf, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { standstill } from '../../../support/waiting/standstill.ts';
import { until } from '../../../support/waiting/until.ts';

const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };
const RUN = { timeline: 1, startedAt: 'monday' };
const READY = readyForQuery('I');
const ANSWER = Buffer.concat([COMMAND_COMPLETE, READY]);
const PARK_MS = 30_000;

let clock: ManualClock;
let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let client: RawClient;
/** The client has read as much at the end of its login. */
let greeted: number;
let onDecideIfDue: () => void;

beforeEach(async () => {
  clock = new ManualClock();
  onDecideIfDue = () => {};
  [one, two] = [await startFakeBackend('movable'), await startFakeBackend('movable')];
});

afterEach(async () => {
  client.socket.destroy();
  await lab.end(one, two);
});

async function start(relay: RelayMode = 'auto'): Promise<void> {
  let bytes = 500;
  lab = await startProxyLab({
    clock,
    relay,
    moves: { mode: 'always', parkTimeoutMs: PARK_MS },
    // The same server with more and more WAL: it restarts in place.
    wal: () => {
      bytes += 1;
      return { samples: new Map([['pg-1', [{ at: clock.now(), run: RUN, bytes }]]]), ends: undefined };
    },
    onDecideIfDue: () => onDecideIfDue(),
    table: { write: { open: { 'pg-1': one.address } } },
  });
  client = await lab.connect('write');
  await until('the login', async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity === 'idle');
  await until('the greeting', () => client.received().includes(readyForQuery('I')));
  greeted = client.received().length;
}

function count(kind: string): number {
  return lab.events.filter((event) => event.kind === kind).length;
}

function said(): Buffer {
  return client.received().subarray(greeted);
}

function leave(standing: Standing): void {
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing } } } });
}

async function park(): Promise<void> {
  leave(HANDING_OVER);
  await until('the park', () => count('session_parked') === 1);
  await until('the end of the old connection', () => one.open() === 0);
}

function open(): void {
  lab.decide({ write: { open: { 'pg-2': two.address } } });
}

/** The state of the session is known, so that it is parked in the turn in which its server is found dead. */
async function idleForLong(): Promise<void> {
  await clock.advance(1_000);
  await until('the question', () => count('session_asked') === 1);
  await clock.advance(60_000);
}

/** Resolves when Pointsman has taken the request. */
async function cancel(): Promise<void> {
  const canceller = await connectRaw(lab.address('write'));
  canceller.socket.write(aCancelOf(42, Buffer.alloc(4, 7)));
  await until('the end of the request', () => canceller.hasEnded || canceller.isClosed);
  canceller.socket.destroy();
}

async function isTold(): Promise<void> {
  await until('the answer to the cancel', () => said().subarray(-READY.length).equals(READY));
  expect(errorFields(said())).toMatchObject({ C: '57014', M: 'canceling statement due to user request' });
  greeted = client.received().length;
}

async function waits(): Promise<void> {
  await until('the wait', async () => {
    const { sessions } = await lab.proxy.sessions({ limit: 1 });
    return sessions.some(({ moves }) => moves?.underway?.isWaiting === true);
  });
}

async function goesOn(): Promise<void> {
  open();
  client.socket.write(QUERY);
  await until('the answer', () => said().length > 0);
  expect([said(), count('session_moved')]).toEqual([ANSWER, 1]);
  const [all, connects] = [two.last().received(), one.clients() + two.clients()];
  expect([all.indexOf(QUERY), connects]).toEqual([all.length - QUERY.length, 2]);
}

async function goesOnAfterwards(): Promise<void> {
  client.socket.write(QUERY);
  await until('the answer', () => said().length > 0);
  expect([said(), count('session_moved')]).toEqual([ANSWER, 1]);
  expect(two.last().received().indexOf(QUERY.subarray(0, 8))).toBe(two.last().received().length - QUERY.length);
}

/** The statement may not have been read when the first request comes. */
async function cancelUntilTold(): Promise<void> {
  for (let round = 0; round < 100 && said().length === 0; round += 1) await cancel();
  await isTold();
}

describe.each<RelayMode>(['auto', 'streams'])('a client that leaves, relay: %s', (relay) => {
  beforeEach(() => start(relay));

  test.each([
    ['half-closes', 'client_closed', (): unknown => client.socket.end()],
    ['says goodbye', 'client_closed', (): unknown => client.socket.write(TERMINATE)],
    ['is reset', 'client_reset', (): unknown => client.socket.resetAndDestroy()],
  ])('while it is parked: it %s', async (_, reason, go) => {
    await park();
    go();
    await until('the end', () => lab.reasons().length === 1);
    open();
    await clock.advance(1_000);
    expect([lab.reasons(), two.clients(), said().length]).toEqual([[reason], 0, 0]);
  });

  test('in the same turn as the park', async () => {
    await idleForLong();
    client.socket.end();
    leave(DEAD);
    expect(count('session_parked')).toBe(1);
    await until('the end', () => lab.reasons().length === 1);
    open();
    await clock.advance(1_000);
    expect([lab.reasons(), two.clients(), said().length]).toEqual([['client_closed'], 0, 0]);
  });

  test('in the same turn as the park, behind a statement: it still reads the answer', async () => {
    await idleForLong();
    onDecideIfDue = () => {
      onDecideIfDue = () => {};
      leave(DEAD);
    };
    client.socket.end(QUERY);
    await until('the park', () => count('session_parked') === 1);
    expect(lab.reasons()).toEqual([]);
    lab.decide({ write: { open: { 'pg-1': one.address } } });
    await until('the end', () => lab.reasons().length === 1);
    await until('the last byte', () => client.hasEnded);
    expect([lab.reasons(), count('session_moved')]).toEqual([['client_closed'], 1]);
    expect(said()).toEqual(ANSWER);
    // Its bytes came once, and the half-close behind them.
    expect(one.connections[0]?.received().includes(QUERY)).toBe(false);
    expect([one.last().received().subarray(-QUERY.length), one.last().hasEnded]).toEqual([QUERY, true]);
  });

  test('behind a statement while it is parked: it still reads the answer', async () => {
    await park();
    client.socket.end(QUERY);
    await until('the wait', async () => {
      const { sessions } = await lab.proxy.sessions({ limit: 1 });
      return sessions[0]?.moves?.underway?.isWaiting === true;
    });
    open();
    await until('the end', () => lab.reasons().length === 1);
    await until('the last byte', () => client.hasEnded);
    expect([lab.reasons(), count('session_moved')]).toEqual([['client_closed'], 1]);
    expect(said()).toEqual(ANSWER);
  });
});

describe.each<RelayMode>(['auto', 'streams'])('a client that cancels its statement, relay: %s', (relay) => {
  /** More than is read ahead, and than the buffers of the kernel take at once. */
  const LARGE = aMessage('Q', Buffer.alloc(3_000_000, 0x20));

  beforeEach(() => start(relay));

  test.each([
    ['a statement', QUERY],
    ['a statement of which a part is not read', LARGE],
  ])('while it is parked: %s', async (_, statement) => {
    await park();
    client.socket.write(statement);
    await waits();
    await cancel();
    await isTold();
    await goesOn();
  });

  test('while it is parked: the rest of the statement comes behind the login at the next server', async () => {
    await park();
    client.socket.write(QUERY.subarray(0, 8));
    await waits();
    await cancel();
    open();
    await until('the login', () => two.clients() === 1);
    await until('the end of that connection', () => two.open() === 0);
    // No other login before the rest comes.
    await clock.advance(5_000);
    const [session] = (await lab.proxy.sessions({ limit: 1 })).sessions;
    expect(session).toMatchObject({
      state: 'parked',
      moves: { underway: { why: 'the rest of a cancelled statement has not come' } },
    });
    client.socket.write(QUERY.subarray(8));
    await isTold();
    await goesOnAfterwards();
    expect(two.clients()).toBe(2);
  });

  test('while its server is asked: nothing of it reaches a server', async () => {
    one.last().socket.pause();
    const moved = lab.proxy.move(1);
    client.socket.write(LARGE);
    await cancelUntilTold();
    one.last().socket.resume();
    expect(await moved).toMatchObject({ kind: 'moved' });
    client.socket.write(QUERY);
    await until('the answer', () => said().length > 0);
    expect(said()).toEqual(ANSWER);
    expect(one.connections.every((connection) => !connection.received().includes(LARGE.subarray(0, 1_000)))).toBe(true);
  });

  test('a request while its server is asked, and nothing waits, does not reach the question', async () => {
    one.last().socket.pause();
    const before = one.clients();
    const moved = lab.proxy.move(1);
    await cancel();
    one.last().socket.resume();
    expect([(await moved).kind, one.clients()]).toEqual(['moved', before + 1]);
  });

  test('after a move to a server without keys: the request goes there, and not to the old server', async () => {
    await park();
    two.behaviour = 'keyless';
    open();
    await until('the move', () => count('session_moved') === 1);
    const canceller = await connectRaw(lab.address('write'));
    canceller.socket.write(aCancelOf(42, Buffer.alloc(4, 7)));
    await until('the request', () => two.clients() === 2);
    canceller.socket.destroy();
    expect(one.clients()).toBe(1);
  });
});

describe('a client that has closed its connection behind a statement', () => {
  test.each([
    ['a short one', QUERY],
    ['one of which a part is not read', aMessage('Q', Buffer.alloc(300_000, 0x20))],
    ['and has said goodbye', Buffer.concat([QUERY, TERMINATE])],
  ])('%s: it is not begun', async (_, statement) => {
    await start();
    await park();
    await new Promise<void>((resolve) => client.socket.write(statement, () => resolve()));
    client.socket.destroy();
    await until('the end', async () => {
      await clock.advance(50);
      return lab.reasons().length === 1;
    });
    open();
    await clock.advance(1_000);
    expect([lab.reasons(), two.clients()]).toEqual([['client_reset'], 0]);
  });
});

test('little of a long statement is read ahead, and all of it goes on', async () => {
  await start();
  await park();
  const reads = vi.spyOn(WaitingBytes.prototype, 'add');
  onTestFinished(() => {
    reads.mockRestore();
  });
  const statement = aMessage('Q', Buffer.alloc(1_000_000, 0x20));
  client.socket.write(statement);
  const ahead = await standstill(() => reads.mock.calls.reduce((sum, [{ length }]) => sum + length, 0));
  expect(ahead).toBeLessThan(20_000);
  open();
  await until('the answer', () => said().toString('latin1').endsWith(ANSWER.toString('latin1')));
  expect(two.last().received().includes(statement)).toBe(true);
});

test('its time is over: it reads why', async () => {
  await start();
  await park();
  await clock.advance(PARK_MS);
  await until('the last byte', () => client.hasEnded);
  expect(errorFields(said())).toMatchObject({ C: '57P01', M: expect.stringContaining('(move_timeout)') });
  expect(lab.closed().map(({ reason }) => reason)).toEqual([]);
  client.socket.end();
  await until('the event', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['move_timeout']);
});

test('a reload removes `moves`: it goes on all the same', async () => {
  await start();
  await park();
  await lab.reload();
  client.socket.write(QUERY);
  open();
  await until('the answer', () => said().length > 0);
  expect([said(), count('session_moved')]).toEqual([ANSWER, 1]);
});

test('the handover does not happen: it goes on where it was', async () => {
  await start();
  await park();
  client.socket.write(QUERY);
  lab.decide({ write: { open: { 'pg-1': one.address } } });
  await until('the answer', () => said().length > 0);
  expect([said(), one.clients(), lab.reasons()]).toEqual([ANSWER, 2, []]);
});

test('Pointsman ends: it reads so at once', async () => {
  await start();
  // The time that a client has for its first statement.
  await clock.advance(500);
  await park();
  const drained = lab.proxy.drain(10_000);
  await until('the last byte', () => client.hasEnded);
  expect(errorFields(said())).toMatchObject({ C: '57P01', M: expect.stringContaining('(shutdown)') });
  client.socket.end();
  await until('the event', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['shutdown']);
  await drained;
});
