// Gauges and totals that are read at the scrape, all from one routing table and one set of counts, so that they agree
// with each other and with the routing (G21).
import { Counter, Gauge } from './prometheus.ts';
import type { Registry } from 'prom-client';
import type { PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { PoolDecision, Route, RoutingTable } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import type { RefusalKind } from '../core/snapshot.ts';
import { createWorkerMetrics } from './worker-metrics.ts';

/** Where the values of a scrape come from. Each is called once per scrape. */
export interface StatusSource {
  readonly now: () => Instant;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  readonly routingTable: () => RoutingTable;
  readonly counts: () => ReadonlyMap<PoolName, PoolCounts>;
  /** The start of the newest probe that the member answered. */
  readonly lastAnswerAt: (member: MemberName) => Instant | undefined;
  /** The member answered its newest probe, as a member of this cluster. */
  readonly isUp: (member: MemberName) => boolean;
  /** The cluster's name; undefined while it is not known. */
  readonly scope: () => string | undefined;
  /** Why primaries are refused, while there is no other primary. */
  readonly refusals?: () => readonly RefusalKind[];
  /** By the operator. */
  readonly isDrained: (member: MemberName) => boolean;
  /** Presented to clients; undefined in passthrough mode. */
  readonly certificate: () => Certificate | undefined;
  /** Worker processes; empty if this process serves clients itself. */
  readonly workers?: () => readonly WorkerStatus[];
  /** Log lines lost since the start. */
  readonly droppedLogLines?: (() => number) | undefined;
}

interface Certificate {
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** False while its files cannot be used. */
  readonly isCurrent: boolean;
}

const ROUTES: readonly Route['kind'][] = ['open', 'hold', 'closed'];
const STANDINGS: readonly Standing['kind'][] = ['open', 'keep', 'leave'];

/** Returns a function that updates every value and returns the known members. */
export function createStatusMetrics(registry: Registry, source: StatusSource): () => ReadonlySet<MemberName> {
  const registers = [registry];
  const routing = routingMetrics(registers);
  const refused = refusedGauge(registers);
  const sessions = sessionMetrics(registers);
  const tls = tlsMetrics(registers);
  const setWorkers = createWorkerMetrics(registers);
  const droppedLogLines = new Counter({
    name: 'pointsman_log_dropped_lines_total',
    help: 'Log lines lost, because the reader was too slow or had ended, or the disk was full.',
    registers,
  });
  return () => {
    const table = source.routingTable();
    const members = new Set([...table.pools.values()].flatMap((decision) => [...decision.standings.keys()]));
    for (const gauge of Object.values(routing)) gauge.reset();
    routing.complete.set(table.complete ? 1 : 0);
    routing.members.set(members.size);
    routing.cluster.set({ scope: source.scope() ?? '' }, 1);
    const refusals = source.refusals?.() ?? [];
    for (const reason of REFUSAL_KINDS) refused.set({ reason }, refusals.includes(reason) ? 1 : 0);
    for (const [pool, decision] of table.pools) setDecision(routing, pool, decision);
    for (const member of members) {
      const at = source.lastAnswerAt(member);
      routing.up.set({ member }, source.isUp(member) ? 1 : 0);
      routing.drained.set({ member }, source.isDrained(member) ? 1 : 0);
      if (at !== undefined) routing.lastAnswer.set({ member }, unixSeconds(source, at));
      routing.unverified.set({ member }, isVouched(table, member) ? 1 : 0);
    }
    for (const total of [sessions.accepted, sessions.bytes]) total.reset();
    sessions.onMember.reset();
    for (const [pool, counts] of source.counts()) setCounts(sessions, pool, counts);
    setCertificate(tls, source.certificate());
    setWorkers(source.workers?.() ?? []);
    droppedLogLines.reset();
    droppedLogLines.inc(source.droppedLogLines?.() ?? 0);
    return members;
  };
}

/** Unix time of an instant. */
export function unixSeconds({ now, wallClock }: Pick<StatusSource, 'now' | 'wallClock'>, at: Instant): number {
  return Math.round(wallClock() - (now() - at)) / 1000;
}

function setCertificate({ expiry, isCurrent }: TlsMetrics, certificate: Certificate | undefined): void {
  for (const gauge of [expiry, isCurrent]) gauge.reset();
  if (certificate === undefined) return;
  const { file } = certificate;
  expiry.set({ file }, certificate.expiresAt / 1000);
  isCurrent.set({ file }, certificate.isCurrent ? 1 : 0);
}

/** In use because another member confirms it. */
function isVouched({ pools }: RoutingTable, member: MemberName): boolean {
  return [...pools.values()].some(({ standings }) => standings.get(member)?.why.code === 'vouched');
}

function setDecision(metrics: RoutingMetrics, pool: PoolName, { route, standings }: PoolDecision): void {
  for (const kind of ROUTES) metrics.route.set({ pool, kind }, route.kind === kind ? 1 : 0);
  const isLent = route.kind === 'open' && route.fallback !== undefined;
  metrics.fallback.set({ pool }, isLent ? 1 : 0);
  metrics.lagging.set({ pool }, route.kind === 'open' && route.lagging !== undefined ? 1 : 0);
  metrics.targets.set({ pool }, route.kind === 'open' ? route.targets.length : 0);
  for (const [member, { kind }] of standings) {
    for (const standing of STANDINGS) metrics.standing.set({ pool, member, standing }, kind === standing ? 1 : 0);
  }
}

function setCounts(metrics: SessionMetrics, pool: PoolName, counts: PoolCounts): void {
  for (const [state, count] of Object.entries(counts.states)) metrics.sessions.set({ pool, state }, count);
  for (const [member, count] of counts.members) metrics.onMember.set({ pool, member }, count);
  metrics.holds.set({ pool }, counts.states.holding);
  metrics.lent.set({ pool }, counts.fallbackSessions);
  metrics.accepted.inc({ pool }, counts.accepted);
  metrics.bytes.inc({ pool, direction: 'to_backend' }, counts.toBackendBytes);
  metrics.bytes.inc({ pool, direction: 'to_client' }, counts.toClientBytes);
}

type Registers = Registry[];
type RoutingMetrics = ReturnType<typeof routingMetrics>;
type SessionMetrics = ReturnType<typeof sessionMetrics>;
type TlsMetrics = ReturnType<typeof tlsMetrics>;

/** Absent in passthrough mode. */
function tlsMetrics(registers: Registers) {
  const labelNames = ['file'] as const;
  return {
    expiry: new Gauge({
      name: 'pointsman_tls_certificate_expiry_timestamp_seconds',
      help: 'Expiry of the TLS certificate presented to clients (Unix time); absent in passthrough mode.',
      labelNames,
      registers,
    }),
    isCurrent: new Gauge({
      name: 'pointsman_tls_certificate_current',
      help: '1 if the TLS certificate in use is that of its files, 0 if the files cannot be used.',
      labelNames,
      registers,
    }),
  };
}

function routingMetrics(registers: Registers) {
  return {
    ...memberMetrics(registers),
    cluster: new Gauge({
      name: 'pointsman_cluster_info',
      help: 'Always 1. The scope label names the cluster; it is empty while the name is unknown.',
      labelNames: ['scope'] as const,
      registers,
    }),
    members: new Gauge({ name: 'pointsman_members', help: 'Known members, in any state.', registers }),
    complete: new Gauge({
      name: 'pointsman_first_round_complete',
      help: '1 after the first round of probes is complete; nothing is routed before.',
      registers,
    }),
    route: new Gauge({
      name: 'pointsman_pool_route',
      help: 'Route of the pool (1 for the current one): open, hold (clients wait) or closed (clients are refused).',
      labelNames: ['pool', 'kind'] as const,
      registers,
    }),
    fallback: new Gauge({
      name: 'pointsman_pool_fallback_active',
      help: '1 while the pool uses the members of its fallback pool.',
      labelNames: ['pool'] as const,
      registers,
    }),
    lagging: new Gauge({
      name: 'pointsman_pool_lagging_active',
      help: '1 while every member of the pool is over the lag limit and those with the smallest lag are used.',
      labelNames: ['pool'] as const,
      registers,
    }),
    targets: new Gauge({
      name: 'pointsman_pool_open_members',
      help: 'Members that receive new sessions of the pool, fallback included.',
      labelNames: ['pool'] as const,
      registers,
    }),
  };
}

function memberMetrics(registers: Registers) {
  return {
    standing: new Gauge({
      name: 'pointsman_member_standing',
      help: 'State of a member in a pool (1 for the current): open (eligible), keep (sessions stay), leave (excluded).',
      labelNames: ['pool', 'member', 'standing'] as const,
      registers,
    }),
    up: new Gauge({
      name: 'pointsman_member_up',
      help: '1 if the management API of the member answered the last probe, 0 otherwise.',
      labelNames: ['member'] as const,
      registers,
    }),
    lastAnswer: new Gauge({
      name: 'pointsman_member_last_answer_timestamp_seconds',
      help: 'Start of the last probe that the member answered (Unix time); absent before its first answer.',
      labelNames: ['member'] as const,
      registers,
    }),
    drained: new Gauge({
      name: 'pointsman_member_drained',
      help: '1 while the operator has drained the member: it receives no new sessions.',
      labelNames: ['member'] as const,
      registers,
    }),
    unverified: new Gauge({
      name: 'pointsman_member_unverified',
      help: '1 while a member is used because another member confirms it, since its own API does not respond.',
      labelNames: ['member'] as const,
      registers,
    }),
  };
}

function refusedGauge(registers: Registers) {
  return new Gauge({
    name: 'pointsman_primary_refused',
    help: '1 while a member that claims to be primary is refused and no other primary is known, by reason.',
    labelNames: ['reason'] as const,
    registers,
  });
}

function sessionMetrics(registers: Registers) {
  const labelNames = ['pool'] as const;
  return {
    sessions: new Gauge({
      name: 'pointsman_sessions',
      help: 'Current client connections, by state.',
      labelNames: ['pool', 'state'] as const,
      registers,
    }),
    onMember: new Gauge({
      name: 'pointsman_member_sessions',
      help: 'Current client connections that are connected or connecting to a member.',
      labelNames: ['pool', 'member'] as const,
      registers,
    }),
    holds: new Gauge({
      name: 'pointsman_holds',
      help: 'Clients that currently wait for an eligible member.',
      labelNames,
      registers,
    }),
    lent: new Gauge({
      name: 'pointsman_pool_fallback_sessions',
      help: 'Current client connections that use the fallback.',
      labelNames,
      registers,
    }),
    accepted: new Counter({
      name: 'pointsman_clients_accepted_total',
      help: 'Client connections accepted, by pool of the listener. Over all pools: closed plus current ones.',
      labelNames,
      registers,
    }),
    bytes: new Counter({
      name: 'pointsman_relayed_bytes_total',
      help: 'Bytes relayed between clients and members.',
      labelNames: ['pool', 'direction'] as const,
      registers,
    }),
  };
}
