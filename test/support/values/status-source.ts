// The source of a scrape, with nothing of interest in it. A test replaces the parts that it is about.
import { NO_CLIENTS } from '../../../src/reports/counts.ts';
import type { PoolCounts } from '../../../src/reports/counts.ts';
import type { Instant } from '../../../src/model/instant.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { MetricsOptions } from '../../../src/telemetry/metrics.ts';
import type { Scrape } from '../../../src/telemetry/scrape.ts';
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

/** The parts of a scrape, each read at the scrape. */
export type ScrapeParts = { readonly [Name in Exclude<keyof Scrape, 'history'>]: () => Scrape[Name] } & Pick<
  Scrape,
  'history'
>;

/** The clocks show `now`, and 1970 began at 0. */
export function aStatusSource(own: Partial<ScrapeParts> = {}): Pick<MetricsOptions, 'now' | 'scrape'> {
  const parts: ScrapeParts = {
    ...decidedAt(aPolicy(), 0),
    counts: () => new Map(),
    clients: () => NO_CLIENTS,
    limits: () => ({ sessions: 1000, handshakes: undefined, heldClients: 100, eventStreams: 16 }),
    eventStreams: () => 0,
    refusals: () => [],
    certificate: () => undefined,
    memberPair: () => undefined,
    handshakes: () => new Map(),
    workers: () => [],
    configLoadedAt: () => 0,
    hasMoves: () => false,
    hasQuestions: () => false,
    branches: () => undefined,
    droppedLogLines: () => 0,
    ...own,
  };
  return {
    now: parts.now,
    scrape: () => ({
      history: parts.history,
      now: parts.now(),
      wallClock: parts.wallClock(),
      table: parts.table(),
      snapshot: parts.snapshot(),
      counts: parts.counts(),
      clients: parts.clients(),
      pools: parts.pools(),
      limits: parts.limits(),
      eventStreams: parts.eventStreams(),
      refusals: parts.refusals(),
      certificate: parts.certificate(),
      memberPair: parts.memberPair(),
      handshakes: parts.handshakes(),
      workers: parts.workers(),
      configLoadedAt: parts.configLoadedAt(),
      hasMoves: parts.hasMoves(),
      hasQuestions: parts.hasQuestions(),
      branches: parts.branches(),
      droppedLogLines: parts.droppedLogLines(),
    }),
  };
}

type Decided = Pick<ScrapeParts, 'now' | 'wallClock' | 'pools' | 'table' | 'snapshot' | 'history'>;

/** The table and the snapshot after the observations. */
export function decidedAt(policy: RoutingPolicy, now: Instant, ...seen: readonly Observation[]): Decided {
  const snapshot = aSnapshot(policy, ...seen);
  const table = decideRoutes(policy, snapshot, now);
  return {
    now: () => now,
    wallClock: () => now,
    pools: () => policy.pools,
    table: () => table,
    snapshot: () => snapshot,
    history: new DecidedHistory(policy).take(snapshot, table).history,
  };
}
