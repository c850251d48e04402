// Sessions, clients that wait, and how clients began; each limited number beside its limit.
import { BRANCHES_POOL } from '../model/branch.ts';
import { FIRST_PACKETS, STARTUPS, type ClientCounts, type PoolCounts } from '../reports/counts.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { Families } from './families.ts';

/** Without moves they have no series. */
const MOVE_STATES = ['parked', 'moving'];

/** The limits in effect. Undefined: there is none. */
export interface LimitsInEffect {
  /** Over all processes; what open files allow included. */
  readonly sessions: number;
  readonly handshakes: number | undefined;
  readonly heldClients: number;
  readonly eventStreams: number;
}

export interface SessionMetricsOptions {
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
  readonly clients: ClientCounts;
  readonly eventStreams: number;
  readonly limits: LimitsInEffect;
  readonly pools: readonly Pick<PoolPolicy, 'name' | 'fallback' | 'maxLaggingSessions' | 'whenAllLagging'>[];
  readonly now: Instant;
  /** Sessions may move. */
  readonly hasMoves: boolean;
}

/** Returns a function that updates the values. */
export function createSessionMetrics(families: Families): (options: SessionMetricsOptions) => void {
  const pools = poolFamilies(families);
  const setClients = createClientMetrics(families);
  return (options) => {
    for (const total of [pools.accepted, pools.started, pools.bytes]) total.reset();
    for (const gauge of [pools.sessions, pools.onMember, pools.fallbackLimit, pools.laggingLimit]) gauge.reset();
    for (const [pool, counts] of options.counts) {
      if (options.hasMoves) for (const state of MOVE_STATES) pools.sessions.set({ pool, state }, 0);
      setCounts(pools, pool, counts);
      // A client that waits for a branch waits for no member: nobody is called because a preview sleeps.
      const isOfBranches = pool === BRANCHES_POOL && options.pools.every(({ name }) => name !== pool);
      if (!isOfBranches) setWaits(pools, pool, counts, options.now);
    }
    for (const { name: pool, fallback, whenAllLagging, maxLaggingSessions } of options.pools) {
      if (fallback !== undefined) pools.fallbackLimit.set({ pool }, fallback.maxSessions);
      if (whenAllLagging === 'least_lagging') pools.laggingLimit.set({ pool }, maxLaggingSessions);
    }
    setClients(options);
  };
}

function createClientMetrics({ gauge, counter }: Families): (options: SessionMetricsOptions) => void {
  const limits = {
    sessions: gauge(
      'pointsman_sessions_limit',
      'Limit of client connections over all pools: client.max_sessions, or what open files allow if that is less.',
    ),
    heldClients: gauge(
      'pointsman_held_clients_limit',
      'Limit of clients that wait, over all pools (hold.max_sessions).',
    ),
    eventStreams: gauge('pointsman_event_streams_limit', 'Limit of open streams of GET /events.'),
  };
  const handshakes = gauge('pointsman_handshakes', 'Clients that have not sent a complete startup message yet.');
  const handshakesLimit = gauge(
    'pointsman_handshakes_limit',
    'Limit of clients in their handshake (client.max_handshakes); absent if there is none.',
  );
  const eventStreams = gauge('pointsman_event_streams', 'Open streams of GET /events.');
  const firstPackets = counter(
    'pointsman_client_first_packets_total',
    'First packets of client connections, by kind.',
    ['packet'],
  );
  const startups = counter(
    'pointsman_client_startups_total',
    'Startups of sessions, by encryption: plain, terminated (by Pointsman) or passthrough (by the member, unread).',
    ['encryption', 'tls_version', 'protocol'],
  );
  return (options) => {
    const { clients } = options;
    limits.sessions.set(options.limits.sessions);
    limits.heldClients.set(options.limits.heldClients);
    limits.eventStreams.set(options.limits.eventStreams);
    if (options.limits.handshakes === undefined) handshakesLimit.remove();
    else handshakesLimit.set(options.limits.handshakes);
    handshakes.set(clients.handshakes);
    eventStreams.set(options.eventStreams);
    for (const total of [firstPackets, startups]) total.reset();
    FIRST_PACKETS.forEach((packet, index) => firstPackets.inc({ packet }, clients.firstPackets[index]));
    STARTUPS.forEach(({ encryption, tlsVersion, protocol }, index) =>
      startups.inc({ encryption, tls_version: tlsVersion, protocol }, clients.startups[index]),
    );
  };
}

type PoolFamilies = ReturnType<typeof poolFamilies>;

function setCounts(metrics: PoolFamilies, pool: PoolName, counts: PoolCounts): void {
  for (const [state, count] of Object.entries(counts.states)) metrics.sessions.set({ pool, state }, count);
  for (const [member, count] of counts.members) metrics.onMember.set({ pool, member }, count);
  metrics.accepted.inc({ pool }, counts.accepted);
  metrics.started.inc({ pool }, counts.started);
  metrics.bytes.inc({ pool, direction: 'to_backend' }, counts.toBackendBytes);
  metrics.bytes.inc({ pool, direction: 'to_client' }, counts.toClientBytes);
}

function setWaits(metrics: PoolFamilies, pool: PoolName, counts: PoolCounts, now: Instant): void {
  metrics.held.set({ pool }, counts.states.holding);
  metrics.oldest.set({ pool }, counts.heldSince === undefined ? 0 : Math.max(0, now - counts.heldSince) / 1000);
  metrics.fallback.set({ pool }, counts.fallbackSessions);
  metrics.lagging.set({ pool }, counts.laggingSessions);
}

function poolFamilies({ gauge, counter }: Families) {
  const labels = ['pool'] as const;
  return {
    sessions: gauge('pointsman_sessions', 'Current client connections, by state.', ['pool', 'state']),
    onMember: gauge(
      'pointsman_member_sessions',
      'Current client connections that are connected or connecting to a member.',
      ['pool', 'member'],
    ),
    held: gauge('pointsman_held_clients', 'Clients that currently wait for an eligible member.', labels),
    oldest: gauge(
      'pointsman_held_clients_oldest_wait_seconds',
      'Time that the longest waiting client has waited so far, its earlier waits included; 0 while no client waits.',
      labels,
    ),
    fallback: gauge('pointsman_pool_fallback_sessions', 'Current client connections that use the fallback.', labels),
    fallbackLimit: gauge(
      'pointsman_pool_fallback_sessions_limit',
      'Limit of sessions that use the fallback; absent without one.',
      labels,
    ),
    lagging: gauge(
      'pointsman_pool_lagging_sessions',
      'Current client connections that began while every member of the pool was over the lag limit.',
      labels,
    ),
    laggingLimit: gauge(
      'pointsman_pool_lagging_sessions_limit',
      'Limit of sessions that begin while every member lags; absent unless when_all_lagging is least_lagging.',
      labels,
    ),
    accepted: counter(
      'pointsman_listener_accepted_total',
      'Client connections accepted, by pool of the listener. Over all pools: closed plus current ones.',
      labels,
    ),
    started: counter(
      'pointsman_sessions_started_total',
      'Sessions by the pool that they use, counted once it is certain. Minus closed: current ones after the handshake.',
      labels,
    ),
    bytes: counter('pointsman_relayed_bytes_total', 'Bytes relayed between clients and members.', [
      'pool',
      'direction',
    ]),
  };
}
