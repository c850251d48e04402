// The turns of sessions that move: only an attempt that reached a server counts as a login, pools take turns, no role
// keeps the others waiting, and a pause lasts while the route is the same.
import { expect, test } from 'vitest';
import type { MovesPolicy } from '../../../../src/model/moves.ts';
import type { BackendConnector, ConnectRequest } from '../../../../src/proxy/connect/connect-backend.ts';
import { Mover } from '../../../../src/proxy/moves/mover.ts';
import type { Passenger } from '../../../../src/proxy/moves/mover.ts';
import type { Traveller } from '../../../../src/proxy/moves/turns.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const ADDRESS = { host: '10.0.0.1', port: 5432 };
const POLICY: MovesPolicy = {
  mode: 'planned',
  roles: ['*'],
  verifiers: undefined,
  md5: false,
  waitMs: 10_000,
  concurrent: 8,
  perSecond: 1,
  questions: 16,
  parkTimeoutMs: 30_000,
  maxStateBytes: 65_536,
  settings: [],
  onStays: 'drain',
};

const ASSIGNMENT = { member: 'pg-1', address: ADDRESS, isFallback: false, isLagging: false };

type Attempt = (request: ConnectRequest) => void;

class Lab {
  readonly clock = new ManualClock();
  readonly mover: Mover;
  /** The names of the sessions whose turn came. */
  readonly turns: string[] = [];
  readonly #pools = [aWritePool(), aPool()];
  /** Sessions of the write pool may move there. */
  primary = 'pg-1';

  constructor(attempt: Attempt, policy: Partial<MovesPolicy> = {}) {
    const connect: BackendConnector['connect'] = (request) => this.clock.schedule(0, () => attempt(request));
    const registry = new SessionRegistry();
    registry.learn(this.#pools.map(({ name }) => name));
    this.mover = new Mover({
      clock: this.clock,
      policy: () => ({ ...POLICY, ...policy }),
      pools: () => this.#pools,
      pool: (name) => this.#pools.find((pool) => pool.name === name),
      table: () => aTableOf({ write: { open: { [this.primary]: ADDRESS } }, read: { open: { 'pg-1': ADDRESS } } }),
      decideIfDue() {},
      onEvent() {},
      onTrigger() {},
      freshen: () => undefined,
      registry,
      dial: () => () => {},
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mover only connects
      connector: { connect } as BackendConnector,
      connectAttempts: () => 3,
    });
  }

  add(name: string, { pool = 'write', role = 'app', isWaiting = false } = {}): Traveller {
    const session: Traveller = {
      pool,
      role,
      isWaiting: () => isWaiting,
      travel: () => {
        this.turns.push(name);
        this.mover.connect({
          session: 1,
          clientAddress: '10.0.0.9',
          pool: aWritePool({ name: pool }),
          onAssigned() {},
          onConnected() {},
          onRouteAgain() {},
          onUnreachable: (pauseMs) => {
            this.over(session);
            this.clock.schedule(pauseMs, () => this.#queue(session, true));
          },
        });
      },
    };
    this.#queue(session, false);
    return session;
  }

  #queue(session: Traveller, isRepeated: boolean): void {
    this.mover.turns.add(session, isRepeated);
    this.mover.turns.pump();
  }

  over(session: Traveller): void {
    this.mover.turns.over(session);
    this.mover.turns.pump();
  }
}

test('an attempt for which no server suits costs the others nothing', async () => {
  const lab = new Lab(({ onUnreachable }) => onUnreachable(250));
  for (const name of ['a', 'b', 'c']) lab.add(name);
  await lab.clock.advance(100);
  expect(lab.turns.toSorted()).toEqual(['a', 'b', 'c']);
  lab.mover.stop();
});

test('an attempt that reached a server counts, whatever came of it', async () => {
  const lab = new Lab(({ onAssigned, onUnreachable }) => {
    onAssigned(ASSIGNMENT);
    onUnreachable(250);
  });
  for (const name of ['a', 'b', 'c']) lab.add(name);
  await lab.clock.advance(900);
  expect(lab.turns).toEqual(['a']);
  lab.mover.stop();
});

test('the pools take turns', async () => {
  const lab = new Lab(({ onAssigned }) => onAssigned(ASSIGNMENT));
  lab.add('first');
  for (const pool of ['write', 'read']) for (const at of [1, 2]) lab.add(`${pool} ${at}`, { pool });
  await lab.clock.advance(4_000);
  expect(lab.turns).toEqual(['first', 'write 2', 'read 2', 'write 1', 'read 1']);
  lab.mover.stop();
});

test('a role whose logins take long leaves the next turns to the others, also where its clients wait', async () => {
  const lab = new Lab(({ onAssigned }) => onAssigned(ASSIGNMENT), { concurrent: 4, perSecond: 1_000 });
  const add = (at: number): Traveller => lab.add(`slow ${at}`, { role: 'slow', isWaiting: true });
  const slow = [1, 2, 3, 4].map(add);
  await lab.clock.advance(100);
  for (const at of [5, 6]) add(at);
  for (const at of [1, 2]) lab.add(`quick ${at}`, { role: 'quick' });
  for (const session of slow.slice(0, 2)) lab.over(session);
  expect(lab.turns.slice(4)).toEqual(['quick 2', 'quick 1']);
  lab.mover.stop();
});

test('where all roles have as many logins under way, a client that waits comes first', () => {
  const lab = new Lab(({ onAssigned }) => onAssigned(ASSIGNMENT), { concurrent: 1, perSecond: 1_000 });
  const first = lab.add('first');
  lab.add('quiet', { role: 'other' });
  lab.add('waits', { role: 'third', isWaiting: true });
  lab.over(first);
  expect(lab.turns).toEqual(['first', 'waits']);
  lab.mover.stop();
});

test('a role whose logins fail at once leaves every other turn to the others', async () => {
  const lab = new Lab(
    ({ onAssigned, onUnreachable }) => {
      onAssigned(ASSIGNMENT);
      onUnreachable(1);
    },
    { perSecond: 10 },
  );
  for (const at of [1, 2, 3, 4]) lab.add(`failing ${at}`, { role: 'failing', isWaiting: true });
  await lab.clock.advance(1_000);
  const before = lab.turns.length;
  for (const at of [1, 2]) lab.add(`quick ${at}`, { role: 'quick' });
  await lab.clock.advance(500);
  expect(lab.turns.slice(before).filter((name) => name.startsWith('quick'))).toHaveLength(2);
  lab.mover.stop();
});

test('pauses last while tables come with the same route, and end with another route', () => {
  const lab = new Lab(() => {});
  let retried = 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mover only has it retry
  lab.mover.departs({ pool: 'write', retry: () => (retried += 1) } as unknown as Passenger);
  for (let at = 0; at < 20; at += 1) lab.mover.tableChanged();
  expect(retried).toBe(0);
  lab.primary = 'pg-2';
  lab.mover.tableChanged();
  expect(retried).toBe(1);
  lab.mover.stop();
});
