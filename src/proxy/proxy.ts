// The TCP side as one thing: listeners, sessions, those who wait, and what a change of the routing table means for them. The
// only entrance to this room. Everything it does is told as events; it decides nothing about members.
import type { Socket } from 'node:net';
import type { Action } from '../core/actions.ts';
import type { PoolName } from '../core/policy.ts';
import { Admission } from './admission.ts';
import { dialTcp } from './dial.ts';
import { Evictions } from './evictions.ts';
import { Holding } from './holding.ts';
import { Listeners } from './listener.ts';
import type { ListenResult } from './listener.ts';
import type { ProxyOptions } from './options.ts';
import { Registry } from './registry.ts';
import type { PoolCounts } from './registry.ts';
import { Session } from './session.ts';
import type { Surroundings } from './session.ts';

export interface Proxy {
  /** Binds every listener or none. Call once. */
  listen(): Promise<ListenResult>;
  /** To be called in the step of the decision, when table() is the new one already. Evicts first, then lets go who waits. */
  tableChanged(actions: readonly Action[]): void;
  /** No new connections; those that are there stay. */
  stopAccepting(): void;
  /** Refuses who waits, lets sessions end by themselves, closes the rest after `deadlineMs`. Resolves when none is left. */
  drain(deadlineMs: number): Promise<void>;
  /** Ends everything in this step. */
  close(): void;
  /** Plain data, copied. */
  counts(): ReadonlyMap<PoolName, PoolCounts>;
}

export function createProxy(options: ProxyOptions): Proxy {
  const { clock, table, pools } = options;
  const names = pools.map(({ name }) => name);
  const policies = new Map(pools.map((pool) => [pool.name, pool]));
  const registry = new Registry(names);
  const holding = new Holding({ ...options, pools: names, policy: options.hold });
  const drainMs = (pool: PoolName): number => policies.get(pool)?.drainMs ?? 0;
  const evictions = new Evictions({ registry, table, clock, drainMs });
  for (const { pool } of options.listeners) {
    if (!policies.has(pool)) throw new Error(`a listener names the unknown pool "${pool}"`);
  }
  const turns = new Map<PoolName, number>();
  let isStopping = false;
  let lastId = 0;

  const around: Surroundings = {
    options,
    registry,
    holding,
    admission: new Admission(options.client.maxSessions),
    dial: options.dial ?? dialTcp,
    nextTurn: (pool) => {
      const turn = turns.get(pool) ?? 0;
      turns.set(pool, turn + 1);
      return turn;
    },
    isStopping: () => isStopping,
  };
  const onConnection = (pool: PoolName, client: Socket): void => {
    const policy = policies.get(pool);
    lastId += 1;
    if (policy !== undefined) new Session(lastId, policy, client, around).start();
  };
  const onFailure = (pool: PoolName, detail: string): void =>
    options.onEvent({ kind: 'listener-failed', pool, detail });
  const listeners = new Listeners({ policies: options.listeners, onConnection, onFailure });

  const closeAll = (): void => {
    isStopping = true;
    listeners.close();
    for (const session of registry.all()) session.close('shutdown');
    holding.stop();
    evictions.stop();
  };
  return {
    listen: () => listeners.listen(),
    tableChanged(actions) {
      evictions.apply(actions);
      holding.tableChanged();
    },
    stopAccepting: () => listeners.close(),
    drain(deadlineMs) {
      isStopping = true;
      for (const session of registry.all()) session.stopWaiting();
      return drained(registry, (run) => clock.schedule(deadlineMs, run)).then(closeAll);
    },
    close: closeAll,
    counts: () => registry.counts(),
  };
}

/** Resolves when the last session has ended, or when `schedule` calls. */
function drained(registry: Registry, schedule: (run: () => void) => () => void): Promise<void> {
  if (registry.size() === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = schedule(resolve);
    registry.whenEmpty(() => {
      cancel();
      resolve();
    });
  });
}
