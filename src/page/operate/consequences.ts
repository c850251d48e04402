// The consequences of an operation, in sentences, from the status that is on screen. Pure.
import type { PlanOfPrimary } from '../../admin/schema/switchover.ts';
import type { PoolStatusDocument, StatusDocument } from '../../admin/schema/status.ts';
import { countOf, durationText } from '../view/words.ts';

type Known = Pick<StatusDocument, 'pools' | 'limits'>;

/** The open member of the first exclusive pool that has one. */
export function primaryOf({ pools }: Known): string | undefined {
  return pools.filter(({ exclusive }) => exclusive).flatMap(openMembers)[0];
}

export function drainConsequences(member: string, status: Known): readonly string[] {
  const serving = status.pools.filter((pool) => openMembers(pool).includes(member));
  const own = serving.map((pool) => {
    const clients = sessionsIn(pool, member);
    if (pool.exclusive) {
      const who = clients === 0 ? 'new clients' : countOf(clients, 'client');
      const limit = durationText(status.limits.client_wait_seconds * 1000);
      return `${member} is the primary: ${who} will wait in pool ${pool.name}, each for ${limit} at most.`;
    }
    const others = openMembers(pool).filter((name) => name !== member);
    const ended = clients === 0 ? '' : `${countOf(clients, 'session')} will end between two transactions. `;
    return others.length === 0
      ? `Pool ${pool.name}: ${ended}No other member serves it now.`
      : `Pool ${pool.name}: ${ended}New sessions go to ${others.join(', ')}.`;
  });
  return [
    ...(own.length === 0 ? [`${member} serves no pool now. It will stay out of all pools.`] : own),
    `${member} stays out until it is resumed or this Pointsman restarts. Every other Pointsman still uses it.`,
  ];
}

export function resumeConsequences(member: string, status: Known): readonly string[] {
  const pools = status.pools.map(({ name }) => name).join(', ');
  return [`${member} takes sessions again, in each of the pools ${pools} where it is eligible.`];
}

export function refreshConsequences({ members }: Pick<StatusDocument, 'members'>): readonly string[] {
  return [`Pointsman reads the list of members and probes all ${members.length} members at once. No session ends.`];
}

export function switchoverConsequences(plan: PlanOfPrimary, status: Known): readonly string[] {
  const { from, to, sessions_on_primary: sessions, unreadable_sessions_on_primary: unreadable } = plan;
  const transactions = durationText(plan.transaction_timeout_ms);
  const pools = status.pools.filter(({ exclusive }) => exclusive).map(({ name }) => name);
  const clients = countOf(sessions ?? 0, 'client');
  return [
    ...(from === null || sessions === null
      ? []
      : [
          `${from} is the primary: ${sessions === 0 ? 'new clients' : clients} will wait.`,
          ...(sessions === 0 ? [] : [`Sessions on it end between two transactions, or after ${transactions}.`]),
        ]),
    ...(unreadable === null || unreadable === 0
      ? []
      : [`${unreadableText(unreadable)} and will be cut after ${transactions}.`]),
    `New clients of pool ${pools.join(', ')} wait for ${durationText(plan.longest_hold_ms)} at most.`,
    to === null ? 'The cluster chooses the next primary.' : `${to} becomes the primary.`,
  ];
}

function unreadableText(sessions: number): string {
  return `${countOf(sessions, 'session')} cannot be read (TLS with the server)`;
}

function openMembers({ route }: PoolStatusDocument): readonly string[] {
  return route.kind === 'open' ? route.members.map(({ name }) => name) : [];
}

function sessionsIn({ sessions }: PoolStatusDocument, member: string): number {
  return sessions?.by_member[member] ?? 0;
}
