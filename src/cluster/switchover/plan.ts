// The plan of a switchover that holds clients: the primary, the members that may follow it, and every reason not to
// begin. Patroni checks much of this too, but only after clients wait already. Pure.
import { durationText } from '../../core/describe.ts';
import { primaryPositions, recentLags } from '../../core/lag.ts';
import { LIST_INTERVAL_MS, OVERDUE_MS } from '../../core/operator-override.ts';
import { isAnswering, isDead, type Snapshot } from '../../core/snapshot.ts';
import { openPrimary } from '../../core/primary-pools.ts';
import type { RoutingTable } from '../../core/routing-table.ts';
import { sizeText } from '../../model/check.ts';
import type { MemberName } from '../../model/member.ts';
import type { MovesPolicy } from '../../model/moves.ts';
import type { HoldPolicy, RoutingPolicy, SwitchoverPolicy } from '../../model/policy.ts';
import { unknownText } from '../../model/printable.ts';
import type { CandidateDocument, PlanDocument } from '../../documents/switchover-document.ts';
import type { ClusterControl, ControlReading } from '../control.ts';
import type { ClusterConfiguration, ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';

export interface HeldSwitchoverRequest {
  /** Undefined: the cluster chooses. */
  readonly to: MemberName | undefined;
  /** How long running transactions may take. Milliseconds. */
  readonly transactionMs: number;
  /** Each Pointsman of the cluster takes part. Undefined: as configured. */
  readonly fleet?: boolean | undefined;
}

/** The knowledge of this Pointsman. */
export interface OwnKnowledge {
  readonly policy: Omit<RoutingPolicy, 'hold'> & {
    readonly hold: HoldPolicy & SwitchoverPolicy;
    readonly moves?: MovesPolicy | undefined;
    readonly fleet?: boolean;
  };
  readonly table: RoutingTable;
  readonly snapshot: Snapshot;
}

/** The reports of the members. */
export interface ClusterKnowledge {
  readonly report: ControlReading<ClusterReport>;
  readonly config: ControlReading<ClusterConfiguration>;
}

/** Never rejects. */
export async function readCluster(control: Pick<ClusterControl, 'report' | 'config'>): Promise<ClusterKnowledge> {
  const [report, config] = await Promise.all([control.report(), control.config()]);
  return { report, config };
}

/** From the request to the proof of the next primary: Patroni needs about 6 s, this leaves room. Milliseconds. */
export const SWITCH_MS = 10_000;
/** The hold ends this long before the first clients would time out: they connect again meanwhile. Milliseconds. */
const RELEASE_MS = 2_000;
/** The hold never lasts longer than this beyond the time for transactions. Milliseconds. */
const MOST_SWITCH_MS = 60_000;

/** Patroni's default of `maximum_lag_on_failover`. Bytes. */
const DEFAULT_MAX_LAG = 1024 * 1024;

/** `running`: Patroni before 3.0.4 does not tell whether a replica streams. */
const STREAMING: readonly (string | null)[] = ['streaming', 'running'];
const SYNCHRONOUS = ['sync_standby', 'quorum_standby'];

export function isOfFleet({ fleet }: HeldSwitchoverRequest, { policy }: OwnKnowledge): boolean {
  return fleet ?? policy.fleet ?? false;
}

/** Each Pointsman has read the list of members by then, also one whose first read fails. Milliseconds. */
export function scheduledAheadMs({ policy: { hold } }: OwnKnowledge): number {
  return 2 * LIST_INTERVAL_MS.longest + hold.beforeSwitchoverMs;
}

export function planSwitchover(
  request: HeldSwitchoverRequest,
  own: OwnKnowledge,
  { report, config }: ClusterKnowledge,
): PlanDocument {
  const from = openPrimary(own);
  const { hold } = own.policy;
  const rules = rulesOf(config);
  const cluster = report.kind === 'read' ? report.value : undefined;
  const candidates = cluster === undefined ? [] : candidatesOf(cluster, own.snapshot, rules);
  const isFleet = isOfFleet(request, own);
  const mostMs = isFleet ? hold.beforeSwitchoverMs + OVERDUE_MS : request.transactionMs + MOST_SWITCH_MS;
  const longestMs = Math.max(0, Math.min(hold.clientTimeoutMs - RELEASE_MS, mostMs));
  return {
    from: from ?? null,
    to: request.to ?? null,
    candidates,
    transaction_timeout_ms: request.transactionMs,
    longest_hold_ms: longestMs,
    fleet: isFleet ? { ahead_ms: scheduledAheadMs(own), hold_before_ms: hold.beforeSwitchoverMs } : null,
    problems: [
      ...(from === undefined ? ['no primary is proven now: a switchover needs one that takes clients'] : []),
      ...(report.kind === 'unreadable' ? [`the cluster cannot be read: ${report.why}`] : []),
      ...(cluster === undefined ? [] : clusterProblems(cluster, from, request)),
      ...(cluster === undefined ? [] : candidateProblems(candidates, cluster, request)),
      ...(isFleet ? fleetProblems(hold, cluster) : timeProblems(request, hold)),
    ],
    warnings: [
      ...(config.kind === 'read' ? [] : [`the configuration of the cluster is unknown: ${config.why}`]),
      ...(own.policy.moves?.onStays === 'abort' ? [abortText(request, isFleet)] : []),
    ],
  };
}

function abortText({ transactionMs }: HeldSwitchoverRequest, isFleet: boolean): string {
  const when = isFleet ? 'shortly before the time of the switchover' : `after ${durationText(transactionMs)}`;
  const what = `a transaction that is open ${when} is rolled back`;
  return `${what}, and its client reads SQLSTATE 40001 (moves.on_stays: abort)`;
}

function clusterProblems(
  { leader, paused, scheduled_switchover: scheduled }: ClusterReport,
  from: MemberName | undefined,
  { to }: HeldSwitchoverRequest,
): readonly string[] {
  return [
    ...(from === undefined || leader === from
      ? []
      : [`the members name ${leader ?? 'no member'} as the leader, but clients go to ${from}`]),
    ...(scheduled === null ? [] : [`a switchover is scheduled for ${scheduled.at}: cancel it first`]),
    ...(paused && to === undefined
      ? ['the cluster is paused: name the next primary, or resume the cluster first']
      : []),
  ];
}

function candidateProblems(
  candidates: readonly CandidateDocument[],
  { leader, members }: ClusterReport,
  { to }: HeldSwitchoverRequest,
): readonly string[] {
  if (to === undefined) {
    if (candidates.some(({ eligible }) => eligible)) return [];
    const each = candidates.map(({ name, why }) => `${name} (${why ?? ''})`).join(', ');
    return [`no member can follow the primary: ${each === '' ? 'there is no other member' : each}`];
  }
  if (to === leader) return [`${to} is the primary already`];
  const known = candidates.find(({ name }) => name === to);
  const names = members.map(({ name }) => name);
  if (known === undefined) return [unknownText('member', to, names)];
  return known.eligible ? [] : [`${to} cannot follow the primary: ${known.why ?? ''}`];
}

/** Clients that waited first must not time out because of the switchover. */
function timeProblems({ transactionMs }: HeldSwitchoverRequest, { clientTimeoutMs }: HoldPolicy): readonly string[] {
  const neededMs = transactionMs + SWITCH_MS;
  if (neededMs <= clientTimeoutMs) return [];
  const roomMs = clientTimeoutMs - SWITCH_MS;
  const [limit, needed] = [durationText(clientTimeoutMs), durationText(neededMs)];
  const remedy =
    roomMs > 0
      ? `use --transaction-timeout ${Math.floor(roomMs / 1000)}s, or raise hold.client_timeout`
      : `raise hold.client_timeout above ${durationText(SWITCH_MS)}`;
  return [`clients wait for ${limit} at most (hold.client_timeout), and the switchover can take ${needed}: ${remedy}`];
}

/** Patroni schedules nothing in a cluster that is paused. */
function fleetProblems(
  { beforeSwitchoverMs: before, clientTimeoutMs }: HoldPolicy & SwitchoverPolicy,
  cluster: ClusterReport | undefined,
): readonly string[] {
  const neededMs = before + SWITCH_MS;
  const [limit, needed] = [durationText(clientTimeoutMs), durationText(neededMs)];
  return [
    ...(cluster?.paused === true ? ['the cluster is paused, and schedules no switchover: resume it first'] : []),
    ...(before === 0 ? ['hold.before_switchover is 0: no client would wait for a scheduled switchover'] : []),
    ...(neededMs > clientTimeoutMs
      ? [`clients wait for ${limit} at most (hold.client_timeout), and the switchover can take ${needed}: raise it`]
      : []),
  ];
}

interface Rules {
  readonly maxLagBytes: number;
  readonly isSynchronous: boolean;
}

function rulesOf(config: ControlReading<ClusterConfiguration>): Rules {
  const { maximum_lag_on_failover: lag, synchronous_mode: mode } = config.kind === 'read' ? config.value : {};
  const maxLagBytes = typeof lag === 'number' || typeof lag === 'string' ? Number(lag) : DEFAULT_MAX_LAG;
  return {
    maxLagBytes: Number.isFinite(maxLagBytes) ? maxLagBytes : DEFAULT_MAX_LAG,
    isSynchronous: mode === true || mode === 'on' || mode === 'true' || mode === 'quorum',
  };
}

function candidatesOf(cluster: ClusterReport, snapshot: Snapshot, rules: Rules): readonly CandidateDocument[] {
  const members = cluster.members.map((member) => ({
    ...member,
    timeline: newestTimeline(member, snapshot),
    lag_bytes: smallestLag(member, snapshot),
    tags: { ...member.tags, ...Object.fromEntries(snapshot.members.get(member.name)?.status?.tags ?? []) },
  }));
  const leader = members.find(({ name }) => name === cluster.leader);
  return members
    .filter((member) => member !== leader)
    .map((member) => {
      const why = whyNotEligible(member, leader, rules) ?? whyNotServed(member.name, snapshot);
      const { name, role, state, timeline, lag_bytes } = member;
      return { name, role, state, timeline, lag_bytes, eligible: why === undefined, why: why ?? null };
    });
}

/** The document may be some seconds older than the member's own answer, for its tags as well. Timelines only grow. */
function newestTimeline({ name, timeline }: MemberReport, { members }: Snapshot): number | null {
  const own = members.get(name)?.status?.timeline;
  return own === undefined ? timeline : Math.max(own, timeline ?? own);
}

/**
 * Bytes. The document has positions that are up to loop_wait old, each of another moment: what the primary writes
 * between two of them looks like lag. Patroni, too, compares a member with an older position of the leader.
 */
function smallestLag({ name, lag_bytes: told }: MemberReport, snapshot: Snapshot): number | null {
  const record = snapshot.members.get(name);
  if (told === null || record === undefined || !isAnswering(record)) return told;
  const [own = told] = recentLags(primaryPositions(snapshot), record, 1);
  return Math.min(own, told);
}

function whyNotEligible(
  { role, state, tags, timeline, lag_bytes: lag }: MemberReport,
  leader: MemberReport | undefined,
  { maxLagBytes, isSynchronous }: Rules,
): string | undefined {
  if (!STREAMING.includes(state)) return `its state is ${state ?? 'unknown'}, not streaming`;
  if (tags['nofailover'] === 'true') return 'it is tagged nofailover';
  if (tags['failover_priority'] === '0') return 'its failover_priority is 0';
  if (isSynchronous && !SYNCHRONOUS.includes(role)) return 'synchronous mode is on, and it is not synchronous';
  const leaderTimeline = leader?.timeline ?? null;
  if (timeline !== null && leaderTimeline !== null && timeline !== leaderTimeline) {
    return `it is on timeline ${timeline}, the primary is on ${leaderTimeline}`;
  }
  if (lag === null) return 'its lag is unknown';
  if (lag > maxLagBytes) return `its lag is ${sizeText(lag)}, the limit is ${sizeText(maxLagBytes)}`;
  return undefined;
}

/** The next primary has to take clients from here. */
function whyNotServed(name: MemberName, { members, drained }: Snapshot): string | undefined {
  if (drained.has(name)) return 'it is drained here: resume it first';
  const record = members.get(name);
  if (record === undefined) return 'this Pointsman does not use it: see refused_members in /status';
  if (record.member.postgres === undefined) return 'the address of its PostgreSQL is unknown';
  return isDead(record) ? 'its API and its PostgreSQL refuse connections' : undefined;
}
