// The report of each member, and its standing here. Series of a member that left are gone at the next scrape.
import { primaryPositions, recentLags } from '../core/lag.ts';
import { isAnswering, type MemberRecord } from '../core/snapshot.ts';
import { stalenessMs } from '../core/staleness.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import { REFUSAL_REASONS, type MemberName } from '../model/member.ts';
import { flag, scraped, scrapedNumber, unixSeconds, type Scrape, type ScrapedMetric } from './scrape.ts';

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

export const MEMBER_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_member_standing',
    'State of a member in a pool (1 for the current): open (eligible), keep (sessions stay), leave (excluded).',
    ['pool', 'member', 'standing'],
    ({ table }) =>
      [...table.pools].flatMap(([pool, { standings }]) =>
        [...standings].flatMap(([member, { kind }]) =>
          STANDINGS.map((standing) => [{ pool, member, standing }, flag(kind === standing)] as const),
        ),
      ),
  ),
  ofMembers(
    'pointsman_member_up',
    '1 if the management API of the member answered the last probe, 0 otherwise.',
    (record) => flag(isAnswering(record)),
  ),
  scraped(
    'pointsman_member_info',
    'Always 1. The labels are the newest report; unknown while the member does not answer.',
    ['member', 'role', 'state', 'timeline'],
    ({ table, snapshot }) =>
      [...membersOf(table)].map((member) => [{ member, ...factsOf(snapshot.members.get(member)) }, 1]),
  ),
  ofMembers(
    'pointsman_member_replication_lag_bytes',
    'WAL that the replica has not replayed, by its last answer and that of the primary; absent while unknown.',
    (record, _, { snapshot }) =>
      record && isAnswering(record) ? recentLags(primaryPositions(snapshot), record, 1)[0] : undefined,
  ),
  ofMembers(
    'pointsman_member_staleness_seconds',
    'Age of the oldest WAL position of the primary that the replica has not replayed; absent while unknown.',
    (record, _, { snapshot }) => {
      const ms = record && isAnswering(record) ? stalenessMs(snapshot, record) : undefined;
      return ms === undefined ? undefined : ms / 1000;
    },
  ),
  ofMembers(
    'pointsman_member_last_answer_timestamp_seconds',
    'Start of the last probe that the member answered (Unix time); absent before its first answer.',
    (record, _, scrape) => unixSeconds(scrape, record?.answeredAt),
  ),
  ofMembers(
    'pointsman_member_drained',
    '1 while the operator has drained the member: it receives no new sessions.',
    (_, member, { snapshot }) => flag(snapshot.drained.has(member)),
  ),
  ofMembers(
    'pointsman_member_drained_timestamp_seconds',
    'Time at which the operator drained the member (Unix time); absent while it is not drained.',
    (_, member, scrape) => unixSeconds(scrape, scrape.snapshot.drained.get(member)),
  ),
  ofMembers(
    'pointsman_member_vouched',
    '1 while a member is used because another member confirms it, since its own API does not respond.',
    (_, member, { table: { pools } }) =>
      flag([...pools.values()].some(({ standings }) => standings.get(member)?.why.code === 'vouched')),
  ),
  scraped(
    'pointsman_member_tls_certificate_expiry_timestamp_seconds',
    'Expiry of the certificate that the member showed in the last verified TLS handshake (Unix time).',
    ['member'],
    ({ handshakes }) =>
      [...handshakes].map(([member, { expiresAt }]) => [
        { member },
        expiresAt === undefined ? undefined : expiresAt / 1000,
      ]),
  ),
  scrapedNumber('pointsman_members', 'Known members, in any state.', ({ table }) => membersOf(table).size),
  scraped(
    'pointsman_members_refused',
    'Members of the member list that are not used, by reason.',
    ['reason'],
    ({ snapshot: { refused } }) =>
      REFUSAL_REASONS.map((reason) => [{ reason }, refused.filter((one) => one.reason === reason).length]),
  ),
  scraped(
    'pointsman_member_refused',
    'Always 1: a member of the member list that is not used, and the reason.',
    ['member', 'reason'],
    ({ snapshot: { refused } }) =>
      refused
        .slice(0, MOST_REFUSED_NAMED)
        .map(({ name, reason }) => [{ member: name.slice(0, MOST_NAME_CHARACTERS), reason }, 1]),
  ),
];

/** Those that the table knows. */
export function membersOf({ pools }: RoutingTable): ReadonlySet<MemberName> {
  return new Set([...pools.values()].flatMap(({ standings }) => [...standings.keys()]));
}

/** A gauge with a value for each member. */
function ofMembers(
  name: string,
  help: string,
  read: (record: MemberRecord | undefined, member: MemberName, scrape: Scrape) => number | undefined,
): ScrapedMetric {
  return scraped(name, help, ['member'], (scrape) =>
    [...membersOf(scrape.table)].map((member) => [
      { member },
      read(scrape.snapshot.members.get(member), member, scrape),
    ]),
  );
}

/** An old report is no fact: a member that died as the primary must not be shown as one. */
function factsOf(record: MemberRecord | undefined): Readonly<Record<'role' | 'state' | 'timeline', string>> {
  const status = isAnswering(record) ? record?.status : undefined;
  const { role = 'unknown', state = 'unknown', timeline = 'unknown' } = status ?? {};
  return { role, state: stateOf(state), timeline: String(timeline) };
}

function stateOf(text: string): string {
  const state = text.trim().toLowerCase().replaceAll(' ', '_');
  return STATES.has(state) ? state : 'other';
}
