// The effect of a drain on the clients of its member, in words. Pure.
import { countText, durationText } from '../../core/describe.ts';
import { sessionsIn } from '../status/cells.ts';
import type { Status, StatusPool } from '../status/read-status.ts';

type PoolsAndLimits = Pick<Status, 'pools' | 'limits'>;

/** For a member that alone can serve a pool now: its clients have nowhere to go. Undefined: another one can. */
export function drainWarning(member: string, { pools, limits }: PoolsAndLimits): string | undefined {
  const alone = pools.filter((pool) => isAlone(pool, member));
  if (alone.length === 0) return undefined;
  const clients = sessionsOn(member, alone);
  const who = clients === 0 ? 'new clients' : countText(clients, 'client');
  const warning = `${member} is the primary: ${who} will wait`;
  const parked = alone.filter(({ on_drain: mode }) => mode === 'move');
  const seconds = limits?.park_seconds;
  if (sessionsOn(member, parked) === 0 || seconds === null || seconds === undefined) return warning;
  const limit = `${durationText(seconds * 1000)} (moves.park_timeout)`;
  const unless = `unless ${member} is resumed or another member is the primary by then`;
  return `${warning}. Sessions that can move are parked, and end after ${limit} ${unless}. A drain is no switchover`;
}

/** One line for each way in which sessions of the member end, move or stay. */
export function remainText(member: string, { pools }: Pick<Status, 'pools'>): string {
  const serving = pools.filter((pool) => sessionsIn(pool, member) > 0);
  if (serving.length === 0) return 'it has no sessions';
  const texts = new Map<string, StatusPool[]>();
  for (const pool of serving) {
    const kind = `${pool.on_drain} ${isAlone(pool, member)}`;
    texts.set(kind, [...(texts.get(kind) ?? []), pool]);
  }
  return [...texts.values()].map((alike) => alikeText(alike, member)).join('\n');
}

/** The text about pools in which the same happens to the sessions. */
function alikeText(pools: readonly StatusPool[], member: string): string {
  const count = sessionsOn(member, pools);
  const [first] = pools;
  const mode = first?.on_drain;
  const verb = (one: string, many: string): string => (count === 1 ? one : many);
  const who = countText(count, 'session');
  const end = `${verb('ends', 'end')} between two transactions`;
  const by = `(on_leave.operator: ${mode})`;
  switch (mode) {
    case 'close':
      return `${who} ${verb('ends', 'end')} at once ${by}`;
    case 'keep':
      return `${who} ${verb('stays', 'stay')} on it ${by}`;
    case 'drain':
    case 'drain_idle':
      return `${who} ${end} ${by}`;
    case 'move':
      return first !== undefined && isAlone(first, member)
        ? `${who} ${verb('is', 'are')} parked, or ${end} if ${verb('it', 'they')} cannot move ${by}`
        : `${who} ${verb('moves', 'move')} to another member, or ${end} if ${verb('it', 'they')} cannot ${by}`;
    case undefined:
    default:
      return `${who} ${verb('leaves', 'leave')} it by on_leave.operator`;
  }
}

/** On the member, in these pools. */
export function sessionsOn(member: string, pools: readonly StatusPool[]): number {
  return pools.reduce((sum, pool) => sum + sessionsIn(pool, member), 0);
}

/** It serves the pool, which has one member at most. */
function isAlone({ exclusive, route }: StatusPool, member: string): boolean {
  return exclusive === true && route.kind === 'open' && route.members.some(({ name }) => name === member);
}
