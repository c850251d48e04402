// The state of the whole cluster in a few words.
import type { PoolStatusDocument, StatusDocument } from '../../admin/schema/status.ts';
import { countText } from './words.ts';

/** The members that exclusive pools route to. Undefined: there is none. */
export function primaryText({ pools }: StatusDocument): string | undefined {
  const names = pools.flatMap(({ exclusive, route }) =>
    exclusive && route.kind === 'open' ? route.members.map(({ name }) => name) : [],
  );
  return names.length === 0 ? undefined : [...new Set(names)].join(', ');
}

/** For a screen reader, which says it when it changes: no number that moves by itself. */
export function announcement(status: StatusDocument): string {
  const primary = primaryText(status);
  const routeless = status.pools.filter(({ route }) => route.kind !== 'open');
  return [
    primary === undefined ? 'No member is primary.' : `${primary} is the primary.`,
    ...routeless.map(({ name, why }) => `Pool ${name}: ${why}.`),
  ].join(' ');
}

export interface Notice {
  readonly level: 'warning' | 'danger';
  readonly text: string;
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
  const paused = members.filter((member) => member.paused);
  const unlocked = members.filter((member) => member.cluster_unlocked);
  const restart = members.filter((member) => member.pending_restart);
  return [
    ...(unready === undefined ? [] : [danger(`Not ready: ${unready}.`)]),
    ...pools.filter(({ route }) => route.kind !== 'open').map(({ name, why }) => danger(`Pool ${name}: ${why}.`)),
    ...(cluster.refused_primaries ?? []).map(({ member, why, ends_by: ends }) =>
      danger(`${member} is refused as primary: it ${why}. This ends by: ${ends.join('; or ')}.`),
    ),
    ...(unlocked.length === 0 ? [] : [warning(`Nobody holds the leader lock, as ${namesOf(unlocked)} reports.`)]),
    ...(cluster.handover === undefined
      ? []
      : [warning(`A switchover takes the sessions of ${cluster.handover.member} away: ${cluster.handover.phase}.`)]),
    ...(cluster.scheduled_switchover === null
      ? []
      : [warning(`A switchover away from ${cluster.scheduled_switchover.from} is scheduled.`)]),
    ...pools.flatMap(degraded),
    ...(paused.length === 0 ? [] : [warning('The cluster is paused: it makes no failover by itself.')]),
    ...(restart.length === 0 ? [] : [warning(`A restart is pending: ${namesOf(restart)}.`)]),
    ...(cluster.contact_sources ?? []).flatMap(({ source, failing }) =>
      failing === undefined ? [] : [warning(`${source}: ${failing.why}.`)],
    ),
  ];
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

function namesOf(members: StatusDocument['members']): string {
  return members.map(({ name }) => name).join(', ');
}
