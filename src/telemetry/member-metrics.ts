// The report of each member, and its standing here. Series of a member that left are gone at the next scrape, and so is
// a label set that is no longer true.
import { primaryPositions, recentLags } from '../core/lag.ts';
import { isAnswering, type MemberRecord, type Snapshot } from '../core/snapshot.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import type { Instant } from '../model/instant.ts';
import { REFUSAL_REASONS, type MemberName, type MemberRefusal } from '../model/member.ts';
import type { Families } from './families.ts';

const STANDINGS: readonly Standing['kind'][] = ['open', 'keep', 'leave'];
/** A document may list more strangers than anybody wants to read. */
const MOST_REFUSED_NAMED = 100;
/** Longer names are cut. */
const MOST_NAME_CHARACTERS = 63;

/** Patroni's states of PostgreSQL. Any other text is `other`. */
const STATES: ReadonlySet<string> = new Set([
  'initializing_new_cluster',
  'initdb_failed',
  'running_custom_bootstrap_script',
  'starting_after_custom_bootstrap',
  'custom_bootstrap_failed',
  'creating_replica',
  'running',
  'streaming',
  'in_archive_recovery',
  'starting',
  'start_failed',
  'restarting',
  'restart_failed',
  'stopping',
  'stopped',
  'stop_failed',
  'crashed',
  'unknown',
]);

export interface MemberMetricsOptions {
  readonly table: RoutingTable;
  readonly snapshot: Snapshot;
  readonly unixSeconds: (at: Instant) => number;
}

/** Returns a function that updates the values and returns the known members. */
export function createMemberMetrics(families: Families): (options: MemberMetricsOptions) => ReadonlySet<MemberName> {
  const gauges = memberGauges(families);
  const count = families.gauge('pointsman_members', 'Known members, in any state.');
  const setRefused = createRefusedMetrics(families);
  return ({ table, snapshot, unixSeconds }) => {
    const names = new Set([...table.pools.values()].flatMap(({ standings }) => [...standings.keys()]));
    const primary = primaryPositions(snapshot);
    for (const gauge of Object.values(gauges)) gauge.reset();
    count.set(names.size);
    setRefused(snapshot.refused);
    for (const [pool, { standings }] of table.pools) {
      for (const [member, { kind }] of standings) {
        for (const standing of STANDINGS) gauges.standing.set({ pool, member, standing }, kind === standing ? 1 : 0);
      }
    }
    for (const member of names) {
      const record = snapshot.members.get(member);
      const drainedAt = snapshot.drained.get(member);
      gauges.up.set({ member }, isAnswering(record) ? 1 : 0);
      gauges.info.set({ member, ...factsOf(record) }, 1);
      gauges.drained.set({ member }, drainedAt === undefined ? 0 : 1);
      if (drainedAt !== undefined) gauges.drainedAt.set({ member }, unixSeconds(drainedAt));
      gauges.vouched.set({ member }, isVouched(table, member) ? 1 : 0);
      if (record?.answeredAt !== undefined) gauges.lastAnswer.set({ member }, unixSeconds(record.answeredAt));
      const lag = record !== undefined && isAnswering(record) ? recentLags(primary, record, 1)[0] : undefined;
      if (lag !== undefined) gauges.lag.set({ member }, lag);
    }
    return names;
  };
}

interface MemberLabels {
  readonly role: string;
  readonly state: string;
  readonly timeline: string;
}

/** An old report is no fact: a member that died as the primary must not be shown as one. */
function factsOf(record: MemberRecord | undefined): MemberLabels {
  const status = isAnswering(record) ? record?.status : undefined;
  return {
    role: status?.role ?? 'unknown',
    state: stateOf(status?.state ?? 'unknown'),
    timeline: status?.timeline === undefined ? 'unknown' : String(status.timeline),
  };
}

function stateOf(text: string): string {
  const state = text.trim().toLowerCase().replaceAll(' ', '_');
  return STATES.has(state) ? state : 'other';
}

/** In use because another member confirms it. */
function isVouched({ pools }: RoutingTable, member: MemberName): boolean {
  return [...pools.values()].some(({ standings }) => standings.get(member)?.why.code === 'vouched');
}

function createRefusedMetrics({ gauge }: Families): (refused: readonly MemberRefusal[]) => void {
  const total = gauge('pointsman_members_refused', 'Members of the member list that are not used, by reason.', [
    'reason',
  ]);
  const each = gauge(
    'pointsman_member_refused',
    'Always 1: a member of the member list that is not used, and the reason.',
    ['member', 'reason'],
  );
  return (refused) => {
    for (const reason of REFUSAL_REASONS) {
      total.set({ reason }, refused.filter((one) => one.reason === reason).length);
    }
    each.reset();
    for (const { name, reason } of refused.slice(0, MOST_REFUSED_NAMED)) {
      each.set({ member: name.slice(0, MOST_NAME_CHARACTERS), reason }, 1);
    }
  };
}

function memberGauges({ gauge }: Families) {
  return {
    standing: gauge(
      'pointsman_member_standing',
      'State of a member in a pool (1 for the current): open (eligible), keep (sessions stay), leave (excluded).',
      ['pool', 'member', 'standing'],
    ),
    up: gauge('pointsman_member_up', '1 if the management API of the member answered the last probe, 0 otherwise.', [
      'member',
    ]),
    info: gauge(
      'pointsman_member_info',
      'Always 1. The labels are the newest report; unknown while the member does not answer.',
      ['member', 'role', 'state', 'timeline'],
    ),
    lag: gauge(
      'pointsman_member_replication_lag_bytes',
      'WAL that the replica has not replayed, by its last answer and that of the primary; absent while unknown.',
      ['member'],
    ),
    lastAnswer: gauge(
      'pointsman_member_last_answer_timestamp_seconds',
      'Start of the last probe that the member answered (Unix time); absent before its first answer.',
      ['member'],
    ),
    drained: gauge(
      'pointsman_member_drained',
      '1 while the operator has drained the member: it receives no new sessions.',
      ['member'],
    ),
    drainedAt: gauge(
      'pointsman_member_drained_timestamp_seconds',
      'Time at which the operator drained the member (Unix time); absent while it is not drained.',
      ['member'],
    ),
    vouched: gauge(
      'pointsman_member_vouched',
      '1 while a member is used because another member confirms it, since its own API does not respond.',
      ['member'],
    ),
  };
}
