// The source of a scrape, with nothing of interest in it. A test replaces the parts that it is about.
import { NO_CLIENTS } from '../../../src/reports/counts.ts';
import type { PoolCounts } from '../../../src/reports/counts.ts';
import type { Instant } from '../../../src/model/instant.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { StatusSource } from '../../../src/telemetry/status-metrics.ts';
import { aPolicy, aSnapshot } from './builders.ts';
import { DecidedHistory } from './decided-history.ts';

export const NO_COUNTS: PoolCounts = {
  states: { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 },
  members: new Map(),
  fallbackSessions: 0,
  laggingSessions: 0,
  accepted: 0,
  started: 0,
  closed: 0,
  toBackendBytes: 0,
  toClientBytes: 0,
};

/** The clocks show `now`, and 1970 began at 0. */
export function aStatusSource(own: Partial<StatusSource> = {}): StatusSource {
  return {
    ...decidedAt(aPolicy(), 0),
    counts: () => new Map(),
    clients: () => NO_CLIENTS,
    limits: () => ({ sessions: 1000, handshakes: undefined, heldClients: 100, eventStreams: 16 }),
    eventStreams: () => 0,
    refusals: () => [],
    certificate: () => undefined,
    workers: () => [],
    configLoadedAt: () => 0,
    hasMoves: () => false,
    branches: () => undefined,
    droppedLogLines: () => 0,
    ...own,
  };
}

type Decided = Pick<StatusSource, 'now' | 'wallClock' | 'pools' | 'routingTable' | 'snapshot' | 'history'>;

/** The table and the snapshot after the observations. */
export function decidedAt(policy: RoutingPolicy, now: Instant, ...seen: readonly Observation[]): Decided {
  const snapshot = aSnapshot(policy, ...seen);
  const table = decideRoutes(policy, snapshot, now);
  return {
    now: () => now,
    wallClock: () => now,
    pools: () => policy.pools,
    routingTable: () => table,
    snapshot: () => snapshot,
    history: new DecidedHistory(policy).take(snapshot, table).history,
  };
}
