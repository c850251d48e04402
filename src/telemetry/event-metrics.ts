// Counters and histograms that grow with each event. Label values are bounded: pools of the configuration, closed
// lists, and members, whose series are removed when they leave the cluster. A new metric of an event is defined in the
// group it belongs to and counted in a row of `counters`; deploy/metrics.md lists all.
import type { Registry } from 'prom-client';
import { CLOSE_REASONS } from '../model/close-reason.ts';
import { HOLD_OUTCOMES, handle } from '../reports/events.ts';
import type { CancelKeyKnowledge, EventHandlers, EventOf, ReportedEvent } from '../reports/events.ts';
import { countOperations } from './operation-metrics.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import { refusalLabel } from '../core/refusal-words.ts';
import { REFUSAL_KINDS, type Acceptance } from '../core/snapshot.ts';
import { familiesIn, type Families } from './families.ts';
import { createRefusalMetrics, type RefusalMetrics } from './refusal-metrics.ts';
import { NETWORK_BUCKETS, createTimedOutcomes } from './timed-outcomes.ts';

const CANCEL_KEYS: readonly CancelKeyKnowledge[] = ['known', 'unknown'];
const DISCOVERY_OUTCOMES = ['found', 'failed'];
const ACCEPTED_BY: readonly Acceptance['by'][] = ['agreement', 'operator'];
const REFRESH_OUTCOMES = ['probed', 'merged'];
const HOLD_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const SESSION_BUCKETS = [0.01, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600];

export interface EventMetrics {
  readonly count: (event: ReportedEvent) => void;
  /** Creates the series of new pools. */
  readonly learn: (pools: readonly PoolName[]) => void;
  /** Drops the series of members that are not in `known`. */
  readonly retain: (known: ReadonlySet<MemberName>) => void;
  /** Time of the last successful discovery; undefined before the first. */
  readonly discoveredAt: () => Instant | undefined;
}

export interface EventMetricsOptions {
  readonly registry: Registry;
  readonly now: () => Instant;
}

export function createEventMetrics({ registry, now }: EventMetricsOptions): EventMetrics {
  const families = familiesIn(registry);
  const [pool, { probes, dials, refusals }] = [poolMetrics(families), contactMetrics(families)];
  const [cluster, members] = [clusterMetrics(families), retaining(refusals, probes, dials)];
  const discoveries = discoveryRecord(cluster, now);
  const [reloads, countOperation] = [reloadMetrics(families), countOperations(families)];
  for (const [outcome, counter] of cluster.initial) counter.inc({ outcome }, 0);
  const counters: EventHandlers = {
    ...ofPools(pool),
    login_refused: ({ member, sqlState }) => refusals.record(member, refusalLabel(sqlState)),
    relay_chosen: ({ isOn }) => cluster.relayDirect.set(isOn ? 1 : 0),
    probe_finished: ({ member, outcome, durationMs }) => probes.record(member, outcome, durationMs),
    dial_finished: ({ member, outcome, durationMs }) => dials.record(member, outcome, durationMs),
    discovery_finished: ({ detail, durationMs }) => discoveries.record(detail === undefined, durationMs),
    members_changed: members.changed,
    primary_accepted: ({ refusal, by }) => cluster.accepted.inc({ reason: refusal, by }),
    refresh_requested: ({ isMerged }) => cluster.refreshes.inc({ outcome: isMerged ? 'merged' : 'probed' }),
    urgent_probing: ({ on }) => cluster.urgent.set(on ? 1 : 0),
    config_reloaded: () => reloads.record(true),
    config_reload_failed: () => reloads.record(false),
    operation_ended: countOperation,
  };
  return {
    count: (event) => handle(counters, event),
    learn: learning(pool),
    retain: members.retain,
    discoveredAt: discoveries.lastFoundAt,
  };
}

function ofPools(metrics: PoolMetrics): EventHandlers {
  return {
    session_closed: ({ pool, reason, durationMs }) => {
      metrics.closed.inc({ pool, reason });
      metrics.sessionSeconds.observe({ pool }, durationMs / 1000);
    },
    hold_ended: ({ pool, outcome, waitedMs }) => {
      metrics.holds.inc({ pool, outcome });
      metrics.holdSeconds.observe({ pool }, waitedMs / 1000);
    },
    cancel_forwarded: ({ pool, key }) => metrics.cancels.inc({ pool, key }),
    listener_failed: ({ pool }) => metrics.listenerFailures.inc({ pool }),
    route_changed: ({ pool }) => metrics.routeChanges.inc({ pool }),
  };
}

function discoveryRecord({ discoveries, discoverySeconds }: ReturnType<typeof clusterMetrics>, now: () => Instant) {
  let foundAt: Instant | undefined;
  return {
    lastFoundAt: () => foundAt,
    record: (isFound: boolean, durationMs: number): void => {
      if (isFound) foundAt = now();
      discoveries.inc({ outcome: isFound ? 'found' : 'failed' });
      discoverySeconds.observe(durationMs / 1000);
    },
  };
}

interface SeriesKeeper extends Pick<EventMetrics, 'retain'> {
  readonly changed: (event: EventOf<'members_changed'>) => void;
}

/** Removes the series of a member when it leaves, because a scrape may never come. */
function retaining(refusals: RefusalMetrics, ...timed: readonly Pick<EventMetrics, 'retain'>[]): SeriesKeeper {
  const members = new Set<MemberName>();
  const retain: EventMetrics['retain'] = (known) => [refusals, ...timed].forEach((one) => one.retain(known));
  const changed = ({ added, removed }: EventOf<'members_changed'>): void => {
    refusals.learn(added);
    for (const name of added) members.add(name);
    for (const name of removed) members.delete(name);
    retain(members);
  };
  return { retain, changed };
}

type PoolMetrics = ReturnType<typeof poolMetrics>;

function poolMetrics({ counter, histogram }: Families) {
  const labels = ['pool'] as const;
  return {
    closed: counter('pointsman_sessions_closed_total', 'Client connections closed, by reason.', ['pool', 'reason']),
    sessionSeconds: histogram(
      'pointsman_session_duration_seconds',
      'Lifetime of client connections, from accept to close.',
      SESSION_BUCKETS,
      labels,
    ),
    holds: counter('pointsman_holds_ended_total', 'Clients that waited for an eligible member, by outcome.', [
      'pool',
      'outcome',
    ]),
    holdSeconds: histogram(
      'pointsman_hold_duration_seconds',
      'Time that clients waited for an eligible member, whatever the outcome.',
      HOLD_BUCKETS,
      labels,
    ),
    cancels: counter(
      'pointsman_cancels_forwarded_total',
      'Cancel requests forwarded: known keys to the member of the session, unknown ones to all members.',
      ['pool', 'key'],
    ),
    listenerFailures: counter('pointsman_listener_failures_total', 'Errors of listening sockets.', labels),
    routeChanges: counter(
      'pointsman_pool_route_changes_total',
      'Changes of the route of a pool: other members, hold, or closed.',
      labels,
    ),
  };
}

function learning(metrics: PoolMetrics): EventMetrics['learn'] {
  const known = new Set<PoolName>();
  return (pools) => {
    for (const pool of pools) {
      if (!known.has(pool)) initialise(metrics, pool);
      known.add(pool);
    }
  };
}

/** Every series starts at 0, so that its first increase is visible. */
function initialise(metrics: PoolMetrics, pool: PoolName): void {
  for (const reason of Object.keys(CLOSE_REASONS)) metrics.closed.inc({ pool, reason }, 0);
  for (const outcome of HOLD_OUTCOMES) metrics.holds.inc({ pool, outcome }, 0);
  metrics.sessionSeconds.zero({ pool });
  metrics.holdSeconds.zero({ pool });
  for (const key of CANCEL_KEYS) metrics.cancels.inc({ pool, key }, 0);
  for (const counter of [metrics.listenerFailures, metrics.routeChanges]) counter.inc({ pool }, 0);
}

function reloadMetrics({ counter, gauge }: Families): { readonly record: (isApplied: boolean) => void } {
  const total = counter(
    'pointsman_config_reloads_total',
    'Configuration reloads, by outcome (failed: nothing changed).',
    ['outcome'],
  );
  const successful = gauge(
    'pointsman_config_last_reload_successful',
    '1 if the last configuration reload succeeded, 0 if it failed.',
  );
  for (const outcome of ['applied', 'failed']) total.inc({ outcome }, 0);
  successful.set(1);
  return {
    record: (isApplied) => {
      total.inc({ outcome: isApplied ? 'applied' : 'failed' });
      successful.set(isApplied ? 1 : 0);
    },
  };
}

function contactMetrics(families: Families) {
  return {
    refusals: createRefusalMetrics(families),
    probes: createTimedOutcomes(families, {
      name: 'probe',
      counted: 'Health probes of a member, by outcome: yes and no are answers, other values are failures.',
      timed: 'Duration of health probes of a member, answered or not.',
    }),
    dials: createTimedOutcomes(families, {
      name: 'dial',
      counted:
        'TCP connects to the PostgreSQL port of a member for a client, by outcome (outraced: another was faster).',
      timed: 'Duration of TCP connects to the PostgreSQL port of a member, successful or not.',
    }),
  };
}

function clusterMetrics({ counter, gauge, histogram }: Families) {
  const discoveries = counter('pointsman_discoveries_total', 'Reads of the member list, by outcome.', ['outcome']);
  const refreshes = counter(
    'pointsman_refreshes_total',
    'Requests to probe all members now (merged: within a second of another one).',
    ['outcome'],
  );
  const accepted = counter(
    'pointsman_primary_acceptances_total',
    'Refused primaries that were accepted, by reason of the refusal and by the side that accepted.',
    ['reason', 'by'],
  );
  for (const reason of REFUSAL_KINDS) for (const by of ACCEPTED_BY) accepted.inc({ reason, by }, 0);
  return {
    discoveries,
    refreshes,
    /** Series that exist from the start. */
    initial: [
      ...DISCOVERY_OUTCOMES.map((outcome) => [outcome, discoveries] as const),
      ...REFRESH_OUTCOMES.map((outcome) => [outcome, refreshes] as const),
    ],
    discoverySeconds: histogram(
      'pointsman_discovery_duration_seconds',
      'Duration of a read of the member list, all sources included.',
      [...NETWORK_BUCKETS, 10],
    ),
    accepted,
    relayDirect: gauge(
      'pointsman_relay_direct',
      '1 while sessions use the direct relay, 0 while they use Node streams.',
    ),
    urgent: gauge('pointsman_urgent_probing', '1 while all members are probed at the urgent interval.'),
  };
}
