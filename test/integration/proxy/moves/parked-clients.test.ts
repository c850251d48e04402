// The ways in which the wait of a parked client ends: it leaves, its time is over, a reload removes `moves`, the
// handover does not happen, or Pointsman ends. Nothing of the session stays (`lab.end` waits for the last timer).
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import type { RelayMode } from '../../../../src/model/policy.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { COMMAND_COMPLETE, QUERY, TERMINATE, readyForQuery } from '../../../support/sockets/messages.ts';
import { errorFields } from '../../../support/sockets/packets.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };
const RUN = { timeline: 1, startedAt: 'monday' };
const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
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
