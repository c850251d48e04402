// The consequences of an operation, in sentences, from the status that is on screen. Pure.
import type { PlanOfPrimary } from '../../documents/switchover-document.ts';
import type { PoolStatusDocument, StatusDocument } from '../../documents/status-document.ts';
import { countText, durationText } from '../view/words.ts';

type ConsequenceFacts = Pick<StatusDocument, 'pools' | 'limits'>;

export function drainConsequences(member: string, status: ConsequenceFacts): readonly string[] {
  const serving = status.pools.filter((pool) => openMembers(pool).includes(member));
  const own = serving.flatMap((pool) =>
    pool.exclusive ? drainOfPrimary(member, pool, status) : [drainOfReplica(member, pool, status)],
  );
  return [
    ...(own.length === 0 ? [`${member} serves no pool now. It will stay out of all pools.`] : own),
    `${member} stays out until it is resumed or this Pointsman restarts. Every other Pointsman still uses it.`,
  ];
}

function drainOfPrimary(member: string, pool: PoolStatusDocument, { limits }: ConsequenceFacts): readonly string[] {
  const sessions = sessionsIn(pool, member);
  const who = sessions === 0 ? 'new clients' : countText(sessions, 'client');
  const limit = durationText(limits.client_wait_seconds * 1000);
  return [
    `${member} is the primary: ${who} will wait in pool ${pool.name}, each for ${limit} at most.`,
    ...(sessions === 0 ? [] : [sessionsOfPrimary(member, pool, limits.park_seconds)]),
    'A drain makes no other member the primary. Switch over does.',
  ];
}

function sessionsOfPrimary(member: string, pool: PoolStatusDocument, parkSeconds: number | null): string {
  if (pool.on_drain !== 'move') return `Pool ${pool.name}: ${leavingText(pool, sessionsIn(pool, member))}.`;
  const unless = `unless ${member} is resumed or another member is the primary by then`;
  const parked = `Sessions that can move are parked${atMost(parkSeconds)}. Then they end, ${unless}.`;
  return `${parked} The others end between two transactions.`;
}

function drainOfReplica(member: string, pool: PoolStatusDocument, { limits }: ConsequenceFacts): string {
  const sessions = sessionsIn(pool, member);
  const others = openMembers(pool).filter((name) => name !== member);
  const next = others.length === 0 ? 'No other member serves it now.' : `New sessions go to ${others.join(', ')}.`;
  if (sessions === 0) return `Pool ${pool.name}: ${next}`;
  const who = `${countText(sessions, 'session')} ${sessions === 1 ? 'is' : 'are'}`;
  const leave =
    pool.on_drain === 'move' && others.length === 0
      ? `${who} parked until another member serves the pool${atMost(limits.park_seconds, ',')}`
      : leavingText(pool, sessions);
  return `Pool ${pool.name}: ${leave}. ${next}`;
}

function leavingText({ on_drain: mode }: PoolStatusDocument, sessions: number): string {
  const [end, stay, move] = sessions === 1 ? ['ends', 'stays', 'moves'] : ['end', 'stay', 'move'];
  const who = countText(sessions, 'session');
  switch (mode) {
    case 'close':
      return `${who} ${end} at once`;
    case 'keep':
      return `${who} ${stay} on it`;
    case 'move':
      return `${who} ${move} to another member. Sessions that cannot move end between two transactions`;
    case 'drain':
    case 'drain_idle':
      return `${who} ${end} between two transactions`;
  }
}

/** ` for 30 s at most`. Empty if no limit is known. */
function atMost(seconds: number | null, comma = ''): string {
  return seconds === null ? '' : `${comma} for ${durationText(seconds * 1000)} at most`;
}

export function resumeConsequences(member: string, status: ConsequenceFacts): readonly string[] {
  const pools = status.pools.map(({ name }) => name).join(', ');
  return [`${member} takes sessions again, in each of the pools ${pools} where it is eligible.`];
}

export function refreshConsequences({ members }: Pick<StatusDocument, 'members'>): readonly string[] {
  return [`Pointsman reads the list of members and probes all ${members.length} members at once. No session ends.`];
}

export function switchoverConsequences(plan: PlanOfPrimary, status: ConsequenceFacts): readonly string[] {
  const { from, to, sessions_on_primary: sessions, unreadable_sessions_on_primary: unreadable } = plan;
  const pools = status.pools.filter(({ exclusive }) => exclusive).map(({ name }) => name);
  if (plan.fleet !== null) {
    return [
      `The cluster schedules it, ${durationText(plan.fleet.ahead_ms)} ahead. Each Pointsman reads the schedule.`,
      `From ${durationText(plan.fleet.hold_before_ms)} before that time new clients of pool ${pools.join(', ')} wait.`,
      ...(from === null || sessions === null ? [] : [fleetSessionsText(plan, from, sessions)]),
      'How many sessions every other Pointsman has is not known here.',
      to === null ? 'The cluster chooses the next primary.' : `${to} becomes the primary.`,
    ];
  }
  return [
    ...(from === null || sessions === null ? [] : sessionsText(plan, from, sessions)),
    ...(unreadable === null || unreadable === 0
      ? []
      : [`${unreadableText(unreadable)} and will be cut after ${durationText(plan.transaction_timeout_ms)}.`]),
    `New clients of pool ${pools.join(', ')} wait for ${durationText(plan.longest_hold_ms)} at most.`,
    to === null ? 'The cluster chooses the next primary.' : `${to} becomes the primary.`,
  ];
}

function fleetSessionsText({ moves }: PlanOfPrimary, from: string, sessions: number): string {
  const ending = moves === null ? 'all' : `${movingText(moves.movable, sessions)}. The rest`;
  return `Here, of ${countText(sessions, 'session')} on ${from}, ${ending} end when it stops.`;
}

function sessionsText({ moves, ...plan }: PlanOfPrimary, from: string, sessions: number): readonly string[] {
  if (sessions === 0) return [`${from} is the primary: new clients will wait.`];
  const end = `between two transactions, or after ${durationText(plan.transaction_timeout_ms)}.`;
  if (moves === null) {
    return [`${from} is the primary: ${countText(sessions, 'client')} will wait.`, `Sessions on it end ${end}`];
  }
  const { movable, stays, unknown } = moves;
  const staying = Object.values(stays).reduce((sum, count) => sum + count, 0);
  const [stay, they] = staying === 1 ? ['stays', 'It ends'] : ['stay', 'They end'];
  return [
    `Of ${countText(sessions, 'session')} on ${from}, ${movingText(movable, sessions)}.`,
    ...(staying === 0 ? [] : [`${staying} ${stay}: ${plan.stays_text ?? ''}. ${they} ${end}`]),
    ...(unknown === 0 ? [] : [unknownText(unknown)]),
  ];
}

function movingText(movable: number, sessions: number): string {
  if (movable === 0) return 'none moves for certain';
  if (movable === 1) return '1 moves: its client keeps its connection and notices a pause';
  return `${movable === sessions ? 'all' : movable} move: their clients keep their connections and notice a pause`;
}

function unknownText(sessions: number): string {
  const they = sessions === 1 ? 'it is asked when it is idle' : 'they are asked when they are idle';
  return `${countText(sessions, 'session')} could not be asked yet: ${they}.`;
}

function unreadableText(sessions: number): string {
  return `${countText(sessions, 'session')} cannot be read (TLS with the server)`;
}

function openMembers({ route }: PoolStatusDocument): readonly string[] {
  return route.kind === 'open' ? route.members.map(({ name }) => name) : [];
}

function sessionsIn({ sessions }: PoolStatusDocument, member: string): number {
  return sessions?.by_member[member] ?? 0;
}
