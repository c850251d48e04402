// All that needs attention: the card of the status page, and the list below `pointsman status` and `top`. Pure.
import { durationText } from '../core/describe.ts';
import { isPlanned } from '../core/routing-table.ts';
import type { MemberStatusDocument } from '../documents/member-document.ts';
import type { NoticeDocument, PoolStatusDocument, StatusDocument } from '../documents/status-document.ts';

type StatusFacts = Omit<StatusDocument, 'notices'>;

/** So many names are in one sentence. */
const MOST_NAMED = 5;
const MOST_REFUSED = 5;

/** The worst first. */
export function noticesOf(status: StatusFacts): readonly NoticeDocument[] {
  const { cluster, members, pools, not_ready_because: unready } = status;
  const unlocked = members.filter((member) => member.cluster_unlocked);
  return [
    ...(unready === undefined ? [] : [danger('not ready', `Not ready: ${unready}.`)]),
    ...pools.flatMap(withoutRoute),
    ...(cluster.refused_primaries ?? []).map(({ member, why, ends_by: ends }) =>
      danger('primary refused', `${member} is refused as primary: it ${why}. This ends by: ${ends.join('; or ')}.`, {
        command: 'pointsman accept',
      }),
    ),
    ...secondPrimaries(status),
    ...(unlocked.length === 0
      ? []
      : [warning('no leader', `Nobody holds the leader lock. Reported by: ${namesOf(unlocked)}.`)]),
    ...handover(status),
    ...scheduled(status),
    ...pools.flatMap(degraded),
    ...pools.flatMap(refusing),
    ...pools.flatMap(lateReads),
    ...members.flatMap(unencrypted),
    ...aboutMembers(status),
    ...refused(status),
    ...branchList(status),
    ...(members.some((member) => member.paused)
      ? [warning('paused', 'Cluster paused: automatic failover is off.', { command: 'pointsman cluster resume' })]
      : []),
    ...(cluster.contact_sources ?? []).flatMap(({ source, failing }) =>
      failing === undefined ? [] : [warning('contact points', `${source}: ${failing.why}.`)],
    ),
  ];
}

type More = Pick<NoticeDocument, 'pool' | 'command'>;

function danger(about: string, text: string, more: More = {}): NoticeDocument {
  return { level: 'danger', about, text, ...more };
}

function warning(about: string, text: string, more: More = {}): NoticeDocument {
  return { level: 'warning', about, text, ...more };
}

function withoutRoute({ name, route, why }: PoolStatusDocument): readonly NoticeDocument[] {
  if (route.kind === 'open') return [];
  const text = `Pool ${name}: ${why}.`;
  return [isPlanned(route) ? warning('held', text, { pool: name }) : danger('no route', text, { pool: name })];
}

/** A member that answers as the primary beside the one that is used. */
function secondPrimaries({ cluster, members }: StatusFacts): readonly NoticeDocument[] {
  const known = new Set((cluster.refused_primaries ?? []).map(({ member }) => member));
  const { primary } = cluster;
  if (primary === null) return [];
  return members
    .filter(({ name, role_text: role }) => role === 'primary' && name !== primary.member && !known.has(name))
    .map(({ name, timeline }) =>
      danger('two primaries', `${name} says that it is the primary, too, on timeline ${timeline ?? 'unknown'}.`),
    );
}

function handover({ cluster }: StatusFacts): readonly NoticeDocument[] {
  if (cluster.handover === undefined) return [];
  const { operation, member, phase } = cluster.handover;
  const what = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}`;
  const doing = phase === 'drain' ? `draining ${member}` : `new clients of ${member} wait`;
  return [warning(operation, `${what} in progress: ${doing}.`)];
}

function scheduled({ cluster: { scheduled_switchover: switchover } }: StatusFacts): readonly NoticeDocument[] {
  if (switchover === null) return [];
  const when = durationText(switchover.in_seconds * 1000);
  return [warning('switchover', `A switchover away from ${switchover.from} is scheduled in ${when}.`)];
}

function degraded({ name, route, sessions }: PoolStatusDocument): readonly NoticeDocument[] {
  if (route.kind !== 'open') return [];
  const { fallback, lagging } = route;
  const lent = sessions?.by_fallback ?? 0;
  const count = lent === 1 ? '1 session' : `${lent} sessions`;
  return [
    ...(fallback === null
      ? []
      : [warning('fallback', `Pool ${name} uses its fallback, pool ${fallback.pool}: ${count}.`, { pool: name })]),
    ...(lagging === undefined
      ? []
      : [warning('lag', `Pool ${name}: every member is over the lag limit, and is used.`, { pool: name })]),
  ];
}

/** A member that is eligible nowhere is tried by nobody, so its last failure is old. */
function unencrypted({ name, pools, tls }: MemberStatusDocument): readonly NoticeDocument[] {
  const isEligible = Object.values(pools).some(({ standing }) => standing === 'open');
  if (tls?.failing === undefined || !isEligible) return [];
  const { why, count, for_seconds: seconds } = tls.failing;
  return [warning('tls', `TLS with ${name} fails: ${why} (${timesText(count, seconds)}).`)];
}

function timesText(count: number, seconds: number): string {
  return `${count} in ${durationText(Math.max(1, Math.round(seconds)) * 1000)}`;
}

/** `pg-3 refuses logins of pool write: 53300, too many connections (101 in 12 s).` */
function refusing({ name, sessions }: PoolStatusDocument): readonly NoticeDocument[] {
  return Object.entries(sessions?.refused_logins ?? {}).map(([member, { text, count, for_seconds: seconds }]) => {
    const times = timesText(count, seconds);
    return warning('logins refused', `${member} refuses logins of pool ${name}: ${text} (${times}).`, { pool: name });
  });
}

/** `340 reads of pool read were late on pg-3 in the last minute: 300 moved, 40 refused.` */
function lateReads({ name, causal_reads: reads }: PoolStatusDocument): readonly NoticeDocument[] {
  if (reads === undefined || reads.last_minute.late === 0) return [];
  const { late, late_on: on, results } = reads.last_minute;
  const members = namesOf(Object.keys(on).map((member) => ({ name: member })));
  const fates = [
    ...(results.moved === 0 ? [] : [`${results.moved} moved`]),
    ...(results.error === 0 ? [] : [`${results.error} refused`]),
    ...(results.stale === 0 ? [] : [`${results.stale} ran all the same`]),
  ];
  const were = late === 1 ? '1 read' : `${late} reads`;
  const text = `${were} of pool ${name} ${late === 1 ? 'was' : 'were'} late on ${members} in the last minute`;
  return [warning('late reads', `${text}: ${fates.join(', ')}.`, { pool: name })];
}

function aboutMembers({ cluster, members, pools }: StatusFacts): readonly NoticeDocument[] {
  return [
    ...aboutSome(
      'no answer',
      'No answer',
      members.filter(({ failing }) => failing !== undefined),
    ),
    ...cluster.drained.map((name) => {
      const more = members.some((member) => member.name === name) ? '' : ', which is no member now';
      return warning('drained', `Drained by the operator: ${name}${more}.`, {
        command: `pointsman resume ${name}`,
      });
    }),
    ...pools.flatMap(({ name }) => [
      ...aboutSome(
        'lag',
        `Over the lag limit of pool ${name}`,
        members.filter((member) => member.pools[name]?.cause === 'lagging'),
        { pool: name },
      ),
      ...aboutSome(
        'staleness',
        `Data older than max_staleness of pool ${name}`,
        members.filter((member) => member.pools[name]?.cause === 'stale'),
        { pool: name },
      ),
      ...aboutSome(
        'old timeline',
        `Not on the primary's timeline, so not in pool ${name}`,
        members.filter((member) => member.pools[name]?.cause === 'old_timeline'),
        { pool: name },
      ),
    ]),
    ...aboutSome(
      'pending restart',
      'A restart is pending',
      members.filter((member) => member.pending_restart),
      { command: 'pointsman cluster restart --role any --pending' },
    ),
  ];
}

function refused({ refused_members: all }: StatusFacts): readonly NoticeDocument[] {
  const left = all.length - MOST_REFUSED;
  return [
    ...all.slice(0, MOST_REFUSED).map(({ name, why }) => warning('not used', `${name} is not used: ${why}.`)),
    ...(left > 0 ? [warning('not used', `${left} more ${left === 1 ? 'is' : 'are'} not used.`)] : []),
  ];
}

function branchList({ branches }: StatusFacts): readonly NoticeDocument[] {
  if (!branches?.failing) return [];
  const rest =
    branches.age_seconds === null ? 'Clients that ask for a branch are refused.' : 'The last list stays in use.';
  return [warning('branch list', `The list of branches cannot be read: ${branches.failing.why}. ${rest}`)];
}

interface NamedItem {
  readonly name: string;
}

function aboutSome(
  about: string,
  what: string,
  members: readonly NamedItem[],
  more: More = {},
): readonly NoticeDocument[] {
  return members.length === 0 ? [] : [warning(about, `${what}: ${namesOf(members)}.`, more)];
}

function namesOf(members: readonly NamedItem[]): string {
  const names = members.slice(0, MOST_NAMED).map(({ name }) => name);
  const others = members.length - names.length;
  return `${names.join(', ')}${others === 0 ? '' : ` and ${others} more`}`;
}
