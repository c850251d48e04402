// A branch that wakes up: its client waits, and only while it waits does the branch get connections.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BranchLookup } from '../../../../src/model/branch.ts';
import type { Dial, DialResult } from '../../../../src/proxy/server.ts';
import { dialTcp } from '../../../../src/proxy/connect/dial.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { aPacket, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { aBranch, foundAt } from '../../../support/values/branches.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const ASKS = { user: 'u', database: 'app@pr-1' };
const FORWARDED = aStartup({ user: 'u', database: 'app' });
const REFUSED: DialResult = { kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' };

let lab: ProxyLab;
let branch: FakeBackend;
let clock: ManualClock;
/** When each connect began. */
let dialledAt: number[];
/** How the next connects end; after them they reach the backend. */
let failures: DialResult[];
let answer: () => BranchLookup | Promise<BranchLookup>;

const dial: Dial = (address, limits, onResult) => {
  dialledAt.push(clock.now());
  const failure = failures.shift();
  return failure === undefined
    ? dialTcp(address, limits, onResult)
    : clock.schedule(0, () => {
        onResult(failure);
      });
};

beforeEach(async () => {
  branch = await startFakeBackend();
  clock = new ManualClock();
  dialledAt = [];
  failures = [];
  answer = () => foundAt(branch.address);
  lab = await startProxyLab({ clock, dial, locateBranch: () => answer() });
});

afterEach(() => lab.end(branch));

const states = () => lab.proxy.counts().get('branches')?.states;

/** Connects, and lets time pass until the first attempt has failed. */
async function aWaitingClient(): Promise<RawClient> {
  const client = await lab.connect('write', ASKS);
  await until('the first attempt', () => dialledAt.length > 0);
  await clock.advance(0);
  expect(states()).toMatchObject({ holding: 1 });
  return client;
}

function gaps(): readonly number[] {
  return dialledAt.slice(1).map((at, index) => at - (dialledAt[index] ?? 0));
}

/** Lets the attempts follow each other; the real sockets between them get their time. */
async function advanceUntil(what: string, isSo: () => boolean): Promise<void> {
  await until(what, async () => {
    if (isSo()) return true;
    await clock.advance(100);
    return false;
  });
}

/** A minute later there was no attempt more. */
async function isLeftAlone(): Promise<void> {
  const attempts = dialledAt.length;
  await clock.advance(60_000);
  expect(dialledAt.length).toBe(attempts);
  expect(clock.pending()).toBe(0);
}

const waits = () => lab.events.flatMap((event) => (event.kind === 'branch_wait_ended' ? [event] : []));

describe('attempts', () => {
  test('they follow each other after 200 ms, 400 ms and so on, until the branch takes the client in', async () => {
    failures = [REFUSED, REFUSED, { ...REFUSED, outcome: 'failed', isUnresolvable: true, detail: 'ENOTFOUND' }];
    const client = await aWaitingClient();
    await clock.advance(1_400);
    await until('the session', () => client.received().equals(FORWARDED));
    expect(gaps()).toEqual([200, 400, 800]);
    expect(branch.connections.length).toBe(1);
    const outcomes = lab.events.flatMap((event) => (event.kind === 'branch_dial_finished' ? [event.outcome] : []));
    expect(outcomes).toEqual(['refused', 'refused', 'unresolvable', 'connected']);
    expect(waits()).toMatchObject([{ outcome: 'connected', attempts: 4, waitedMs: 1_400 }]);
    expect(lab.triggers).toEqual([]);
    expect(lab.events.filter(({ kind }) => kind === 'branch_located').length).toBe(1);
  });

  test('the longest pause is 5 s, and the budget ends the wait', async () => {
    failures = Array.from({ length: 100 }, () => REFUSED);
    const client = await aWaitingClient();
    await clock.advance(60_000);
    expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
      C: '57P03',
      M: 'pointsman: branch "pr-1" is starting or unreachable after waiting 30 s (branch_unreachable)',
      D: 'connection refused; 10 attempts in 30 s',
    });
    expect(gaps()).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000]);
    expect(waits()).toMatchObject([{ outcome: 'unreachable', attempts: 10, waitedMs: 30_000 }]);
    client.socket.end();
    await until('the close', () => lab.reasons().length === 1);
    expect(lab.closed()).toMatchObject([{ reason: 'branch_unreachable', branch: { name: 'pr-1' } }]);
  });

  test.each(['stopping', 'gone'] as const)(
    'a server that is %s is tried again, and its client reads nothing',
    async (behaviour) => {
      branch.behaviour = behaviour;
      const client = await lab.connect('write', ASKS);
      await until('the first attempt', () => states()?.holding === 1);
      expect(client.received().length).toBe(0);
      branch.behaviour = 'echo';
      await clock.advance(200);
      await until('the session', () => client.received().equals(FORWARDED));
      expect(branch.connections.map((one) => one.received().equals(FORWARDED))).toEqual([true, true]);
    },
  );

  test('a silent server is given up after attempt_timeout', async () => {
    branch.behaviour = 'silent';
    const client = await lab.connect('write', ASKS);
    await until('the packet', () => branch.connections.length === 1 && branch.last().received().length > 0);
    await clock.advance(4_999);
    expect(states()).toMatchObject({ dialing: 1 });
    branch.behaviour = 'echo';
    await clock.advance(1);
    await until('the end of the first', () => branch.last().hasEnded);
    await clock.advance(200);
    await until('the session', () => client.received().equals(FORWARDED));
  });

  test('any other refusal of the server is for the client', async () => {
    branch.behaviour = 'full';
    const client = await lab.connect('write', ASKS);
    expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '53300' });
    expect(branch.connections.length).toBe(1);
  });

  test('each looks the branch up: it may have another backend by now, or be gone', async () => {
    failures = [REFUSED];
    answer = () => foundAt({ host: '127.0.0.1', port: 1 });
    const client = await aWaitingClient();
    answer = () => foundAt(branch.address);
    await clock.advance(200);
    await until('the session', () => client.received().equals(FORWARDED));
    failures = [REFUSED];
    const other = await lab.connect('write', ASKS);
    await until('its attempt', () => dialledAt.length === 3);
    answer = () => Promise.resolve({ kind: 'unknown' });
    await clock.advance(200);
    expect(await until('the error', () => errorFields(other.received()))).toMatchObject({ C: '3D000' });
  });

  test('bytes that the client sent behind its startup packet follow it, once', async () => {
    failures = [REFUSED];
    const client = await aWaitingClient();
    const more = aPacket(7, Buffer.alloc(10_000, 7));
    client.socket.write(more);
    await clock.advance(200);
    await until('the session', () => client.received().equals(Buffer.concat([FORWARDED, more])));
  });
});

describe('G23: no client, no connection', () => {
  beforeEach(() => {
    failures = Array.from({ length: 100 }, () => REFUSED);
  });

  test('the client leaves while it waits for the next attempt', async () => {
    const client = await aWaitingClient();
    client.socket.destroy();
    await until('the close', () => lab.reasons().length === 1);
    expect(lab.reasons()).toEqual(['client_gave_up']);
    expect(waits()).toMatchObject([{ outcome: 'gave_up', attempts: 1 }]);
    await isLeftAlone();
  });

  test('the client leaves during an attempt', async () => {
    failures = [];
    branch.behaviour = 'silent';
    const client = await lab.connect('write', ASKS);
    await until('the packet', () => branch.connections.length === 1);
    client.socket.destroy();
    await until('the end', () => branch.last().hasEnded);
    expect(lab.reasons()).toEqual(['client_gave_up']);
    await isLeftAlone();
  });

  test('the client leaves while it waits for the list', async () => {
    const list = Promise.withResolvers<BranchLookup>();
    answer = () => list.promise;
    const client = await lab.connect('write', ASKS);
    await until('the wait', () => states()?.holding === 1);
    client.socket.destroy();
    await until('the close', () => lab.reasons().length === 1);
    list.resolve(foundAt(branch.address));
    await isLeftAlone();
    expect(dialledAt).toEqual([]);
    expect(waits()).toEqual([]);
  });

  test('an operator ends the wait', async () => {
    const client = await aWaitingClient();
    const { sessions } = await lab.proxy.sessions({ limit: 1 });
    expect(sessions).toMatchObject([{ state: 'holding', branch: { id: aBranch().id, name: 'pr-1' } }]);
    await lab.proxy.kill(sessions[0]?.id ?? 0);
    expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '57P01' });
    client.socket.end();
    await until('the close', () => lab.reasons().length === 1);
    await isLeftAlone();
  });

  test('the shutdown ends the wait at once', async () => {
    const client = await aWaitingClient();
    const drained = lab.proxy.drain(10_000);
    expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '57P03' });
    client.socket.end();
    await advanceUntil('the close', () => lab.reasons().length === 1);
    await drained;
    expect(lab.reasons()).toEqual(['shutdown']);
    await isLeftAlone();
  });

  test('the shutdown lets an attempt end, and then begins no other', async () => {
    failures = [];
    branch.behaviour = 'silent';
    const client = await lab.connect('write', ASKS);
    await until('the packet', () => branch.connections.length === 1);
    const drained = lab.proxy.drain(10_000);
    await clock.advance(5_000);
    expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '57P03' });
    client.socket.end();
    await until('the close', () => lab.reasons().length === 1);
    await drained;
    expect(dialledAt.length).toBe(1);
  });

  test('an idle proxy connects to no branch', async () => {
    await isLeftAlone();
    expect(branch.connections.length).toBe(0);
  });
});

describe('limits', () => {
  test('clients that wait for a branch take no place from those that wait for a pool', async () => {
    failures = Array.from({ length: 100 }, () => REFUSED);
    await aWaitingClient();
    expect(lab.proxy.tally().held).toBe(0);
    await lab.connect('write', { user: 'u', database: 'app' });
    await until('the hold', () => lab.proxy.tally().held === 1);
  });

  test('the limit on sessions refuses a client before any lookup', async () => {
    lab.proxy.close();
    let lookups = 0;
    const locateBranch = (): BranchLookup => {
      lookups += 1;
      return { kind: 'unknown' };
    };
    lab = await startProxyLab({ clock, locateBranch, client: { maxSessions: 0 } });
    const client = await connectRaw(lab.address('write'));
    client.socket.write(aStartup(ASKS));
    expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '53300' });
    expect(lookups).toBe(0);
  });
});
