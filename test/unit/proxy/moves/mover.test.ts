// The rate of logins: only an attempt that reached a server counts, and the pools take turns.
import { expect, test } from 'vitest';
import type { MovesPolicy } from '../../../../src/model/moves.ts';
import type { BackendConnector, ConnectRequest } from '../../../../src/proxy/connect/connect-backend.ts';
import type { Traveller } from '../../../../src/proxy/moves/movable.ts';
import { Mover } from '../../../../src/proxy/moves/mover.ts';
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
  parkTimeoutMs: 30_000,
  maxStateBytes: 65_536,
  settings: [],
  onStays: 'drain',
};

type Attempt = (request: ConnectRequest) => void;

class Lab {
  readonly clock = new ManualClock();
  readonly mover: Mover;
  /** The names of the sessions whose turn came. */
  readonly turns: string[] = [];
  readonly #pools = [aWritePool(), aPool()];

  constructor(attempt: Attempt) {
    const connect: BackendConnector['connect'] = (request) => this.clock.schedule(0, () => attempt(request));
    const registry = new SessionRegistry();
    registry.learn(this.#pools.map(({ name }) => name));
    const open = { open: { 'pg-1': ADDRESS } };
    this.mover = new Mover({
      clock: this.clock,
      policy: () => POLICY,
      pools: () => this.#pools,
      pool: (name) => this.#pools.find((pool) => pool.name === name),
      table: () => aTableOf({ write: open, read: open }),
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

  add(name: string, pool = 'write'): void {
    const session: Traveller = {
      pool,
      isWaiting: () => false,
      travel: () => {
        this.turns.push(name);
        this.mover.connect({
          session: 1,
          clientAddress: '10.0.0.9',
          pool: aWritePool({ name: pool }),
          onAssigned() {},
          onConnected() {},
          onRouteAgain: () => this.mover.turns.add(session, 0),
          onUnreachable: (pauseMs) => this.mover.turns.add(session, pauseMs),
        });
      },
    };
    this.mover.turns.add(session, 0);
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
    onAssigned({ member: 'pg-1', address: ADDRESS, isFallback: false, isLagging: false });
    onUnreachable(250);
  });
  for (const name of ['a', 'b', 'c']) lab.add(name);
  await lab.clock.advance(900);
  expect(lab.turns).toEqual(['a']);
  lab.mover.stop();
});

test('the pools take turns', async () => {
  const lab = new Lab(({ onAssigned }) =>
    onAssigned({ member: 'pg-1', address: ADDRESS, isFallback: false, isLagging: false }),
  );
  lab.add('first');
  for (const pool of ['write', 'read']) for (const at of [1, 2]) lab.add(`${pool} ${at}`, pool);
  await lab.clock.advance(4_000);
  expect(lab.turns).toEqual(['first', 'write 2', 'read 2', 'write 1', 'read 1']);
  lab.mover.stop();
});
