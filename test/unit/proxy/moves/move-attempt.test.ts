// One attempt of a parked session at a server: which servers it takes, how it ends, and what is looked at once more
// when it has logged in. The server is a fake one on a simulated host.
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Coverage } from '../../../../src/core/coverage.ts';
import type { SeenPosition } from '../../../../src/core/caught-up.ts';
import type { ConnectRequest } from '../../../../src/proxy/connect/connect-backend.ts';
import type { Departure } from '../../../../src/proxy/moves/departure.ts';
import type { RepeatableLogin } from '../../../../src/proxy/moves/login-tap.ts';
import { MoveAttempt } from '../../../../src/proxy/moves/move-attempt.ts';
import type { MoveParts } from '../../../../src/proxy/moves/move-parts.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { simulatedGround } from '../../../support/labs/simulated-ground.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { aState } from '../../../support/values/carried-state.ts';

const ground = simulatedGround();
const VIA = aPool({ name: 'other' });
const TRUST: RepeatableLogin = { login: { method: 'trust' }, negotiated: undefined, serverMajor: 16 };
const SCRAM: RepeatableLogin = { ...TRUST, login: { method: 'scram_sha_256', transcript: new Uint8Array() } };
const NEVER: Coverage = { kind: 'uncovered', why: 'it has less WAL', mayCome: false };

let server: FakeBackend;
/** All that was told, in order. */
let told: unknown[];
let request: ConnectRequest | undefined;
let isOpen: (pool: string) => boolean;
let coverage: Coverage | undefined;

beforeEach(async () => {
  server = await ground.server();
  [told, request, isOpen, coverage] = [[], undefined, () => true, undefined];
});
afterEach(() => server.stop());

const target = () => ({ member: 'pg-2', address: server.address });

function start(departure: Partial<Departure> = {}, login = TRUST): MoveAttempt {
  const pool = aWritePool();
  const parts = {
    session: { pool: pool.name, end: (...end: unknown[]) => told.push(['end', ...end]) },
    record: { address: () => '10.0.0.9' },
    packet: aStartup(),
    mover: {
      clock: ground.clock,
      pool: () => pool,
      freshness: () => ({ seemsCaughtUp: (_: unknown, member: string) => member !== 'behind', bind: () => undefined }),
      coverageAt: () => coverage,
      isOpen: (name: string) => isOpen(name),
      turnedAway: (member: string) => told.push(['turned away', member]),
      verifiers: {
        find: ({ member }: { member: string }, role: string) =>
          Promise.resolve({ kind: 'refused', why: `${member} has no verifier of ${role}` }),
      },
      connect: (its: ConnectRequest) => {
        request = its;
        return () => told.push('connect aborted');
      },
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of them
  const attempt = new MoveAttempt(parts as unknown as MoveParts, {
    departure: { from: 'pg-1', cause: 'switchover', state: aState(), shown: undefined, ...departure },
    role: 'app',
    login,
    unnamed: () => undefined,
    hasFailed: false,
    onStep: (step) => told.push(step),
    onReached: () => told.push('reached'),
    onPause: (pauseMs, failure) => told.push(['pause', pauseMs, failure]),
  });
  attempt.start();
  return attempt;
}

/** Returns when all that a connection to the server brings about is over. */
async function connects(): Promise<Socket> {
  const { socket } = await ground.connect(server.address);
  request?.onConnected(target(), socket, undefined);
  await ground.pass(10);
  return socket;
}

const suits = (member: string): boolean | undefined => request?.suits?.({ ...target(), member });

test('a session that has shown nothing goes to any member, if no goal is set', () => {
  start();
  expect([suits('behind'), suits('pg-2')]).toEqual([true, true]);
});

test('a member has to suit the goal, and to have what the session has seen', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody looks into it
  const shown = {} as SeenPosition;
  start({ shown });
  expect([suits('behind'), suits('pg-2')]).toEqual([false, true]);
  start({ shown, goal: { next: () => ({ via: VIA, suits: ({ member }) => member !== 'pg-2' }) } });
  expect([suits('behind'), suits('pg-2'), suits('pg-3')]).toEqual([false, false, true]);
});

test('another route is waited for without a pause, and a server that is not there with one', () => {
  start();
  request?.onRouteAgain();
  request?.onUnreachable(70);
  expect(told).toEqual(['connecting', ['pause', 0, undefined], ['pause', 70, undefined]]);
});

test('the abort ends the connect', () => {
  start().abort();
  expect(told).toEqual(['connecting', 'connect aborted']);
});

test('a server that lacks for good what the session was told ends it', async () => {
  coverage = NEVER;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody looks into it
  start({ loss: {} as Departure['loss'] & {} });
  expect((await connects()).destroyed).toBe(true);
  expect(told).toEqual(['connecting', ['end', 'move_uncovered', 'it has less WAL']]);
});

test('one whose history may still come is asked again, and so the session is uncovered until then', async () => {
  coverage = { ...NEVER, mayCome: true };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody looks into it
  start({ loss: {} as Departure['loss'] & {} });
  await connects();
  expect(told).toEqual(['connecting', ['pause', 250, { why: 'it has less WAL', isUncovered: true }]]);
});

test('the verifier is that of its role at the server', async () => {
  start({}, SCRAM);
  await connects();
  const why = 'pg-2: pg-2 has no verifier of app';
  expect(told).toEqual(['connecting', 'logging_in', ['end', 'move_login', why]]);
});

test('a server that is full is probed, and lacks nothing as far as is known', async () => {
  server.behaviour = 'full';
  start();
  await connects();
  const why = 'pg-2: 53300 sorry, too many clients already';
  expect(told.slice(2)).toEqual([
    ['turned away', 'pg-2'],
    ['pause', 250, { why, isUncovered: false }],
  ]);
});

test('G3: a route that is gone when it has logged in: it says goodbye there, and waits for another one', async () => {
  isOpen = () => false;
  start();
  await connects();
  expect(told).toEqual(['connecting', 'logging_in', 'restoring', ['pause', 0, undefined]]);
  expect(server.last().hasEnded).toBe(true);
});

test('the route is that of the pool which it goes by', async () => {
  isOpen = (pool) => pool === VIA.name;
  start({ goal: { next: () => ({ via: VIA, suits: () => true }) } });
  await connects();
  expect(told.at(-1)).toBe('reached');
});

test('an overdue decision that ends it at that moment: it says goodbye there, and nothing more', async () => {
  isOpen = () => {
    attempt.abort();
    return true;
  };
  const attempt = start();
  await connects();
  expect(told).toEqual(['connecting', 'logging_in', 'restoring', 'connect aborted']);
  expect(server.last().hasEnded).toBe(true);
});
