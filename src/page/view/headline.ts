// The state of the whole cluster in a few words.
import type { PoolStatusDocument, StatusDocument } from '../../admin/schema/status.ts';
import { countText } from './words.ts';

/** From one time to a later one, both ISO 8601. */
export function secondsAfter(time: string, later: string): number {
  return Math.max(0, Date.parse(later) - Date.parse(time)) / 1000;
}

/** For the browser's tab. */
export function titleOf({ cluster: { primary, scope } }: StatusDocument): string {
  return [primary?.member ?? 'no primary', scope, 'Pointsman'].filter((part) => part !== null).join(' · ');
}

/** For a screen reader, which says it when it changes: no number that moves by itself. */
export function announcement(status: StatusDocument): string {
  const { primary } = status.cluster;
  const routeless = status.pools.filter(({ route }) => route.kind !== 'open');
  return [
    primary === null ? 'No member is primary.' : `${primary.member} is the primary.`,
    ...routeless.map(({ name, why }) => `Pool ${name}: ${why}.`),
  ].join(' ');
}

/** In one sentence. */
const MOST_NAMED = 5;

export interface Notice {
  readonly level: 'warning' | 'danger';
  readonly text: string;
}

function handoverText({ operation, member, phase }: NonNullable<StatusDocument['cluster']['handover']>): string {
  return `A ${operation} takes the sessions of ${member} away: ${phase}.`;
}

function danger(text: string): Notice {
  return { level: 'danger', text };
}

function warning(text: string): Notice {
  return { level: 'warning', text };
}

/** All that needs attention, the worst first. */
export function noticesOf(status: StatusDocument): readonly Notice[] {
  const { cluster, members, pools, not_ready_because: unready } = status;
  const { failing = null } = status.branches ?? {};
  const paused = members.filter((member) => member.paused);
  const unlocked = members.filter((member) => member.cluster_unlocked);
  return [
    ...(unready === undefined ? [] : [danger(`Not ready: ${unready}.`)]),
    ...pools.filter(({ route }) => route.kind !== 'open').map(({ name, why }) => danger(`Pool ${name}: ${why}.`)),
    ...(cluster.refused_primaries ?? []).map(({ member, why, ends_by: ends }) =>
      danger(`${member} is refused as primary: it ${why}. This ends by: ${ends.join('; or ')}.`),
    ),
    ...(unlocked.length === 0 ? [] : [warning(`Nobody holds the leader lock, as ${namesOf(unlocked)} reports.`)]),
    ...(cluster.handover === undefined ? [] : [warning(handoverText(cluster.handover))]),
    ...(cluster.scheduled_switchover === null
      ? []
      : [warning(`A switchover away from ${cluster.scheduled_switchover.from} is scheduled.`)]),
    ...pools.flatMap(degraded),
    ...aboutSome(
      'No answer',
      members.filter(({ failing }) => failing !== undefined),
    ),
    ...aboutSome(
      'Drained by the operator',
      members.filter(({ drained }) => drained !== undefined),
    ),
    ...pools.flatMap(({ name }) => [
      ...aboutSome(
        `Over the lag limit of pool ${name}`,
        members.filter((member) => member.pools[name]?.cause === 'lagging'),
      ),
      ...aboutSome(
        `Not on the primary's timeline, so not in pool ${name}`,
        members.filter((member) => member.pools[name]?.cause === 'old_timeline'),
      ),
    ]),
    ...aboutSome('Not used, for the reason in the table', status.refused_members),
    ...aboutSome(
      'A restart is pending',
      members.filter((member) => member.pending_restart),
    ),
    ...(failing === null ? [] : [warning(`The list of branches cannot be read: ${failing.why}. ${listInUse(status)}`)]),
    ...(paused.length === 0 ? [] : [warning('The cluster is paused: it makes no failover by itself.')]),
    ...(cluster.contact_sources ?? []).flatMap(({ source, failing }) =>
      failing === undefined ? [] : [warning(`${source}: ${failing.why}.`)],
    ),
  ];
}

function listInUse({ branches }: StatusDocument): string {
  return branches?.age_seconds === null ? 'Clients that ask for a branch are refused.' : 'The last list stays in use.';
}

function degraded({ name, route, sessions }: PoolStatusDocument): readonly Notice[] {
  if (route.kind !== 'open') return [];
  const { fallback, lagging } = route;
  const lent = countText(sessions?.by_fallback ?? 0, 'session');
  return [
    ...(fallback === null ? [] : [warning(`Pool ${name} uses its fallback, pool ${fallback.pool}: ${lent}.`)]),
    ...(lagging === undefined ? [] : [warning(`Pool ${name}: every member is over the lag limit, and is used.`)]),
  ];
}

interface Named {
  readonly name: string;
}

function aboutSome(what: string, members: readonly Named[]): readonly Notice[] {
  return members.length === 0 ? [] : [warning(`${what}: ${namesOf(members)}.`)];
}

function namesOf(members: readonly Named[]): string {
  const names = members.slice(0, MOST_NAMED).map(({ name }) => name);
  const others = members.length - names.length;
  return `${names.join(', ')}${others === 0 ? '' : ` and ${others} more`}`;
}
