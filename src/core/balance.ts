// Which of a route's members takes the next session. Pure: load, chance and turn are arguments.
import type { MemberName } from './member.ts';
import type { Balance } from './policy.ts';
import type { Target } from './routing-table.ts';

export interface PickInputs {
  /** Live and dialing sessions of this pool on a member. */
  readonly sessionsOn: (member: MemberName) => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Counts picks of this pool, for round-robin. */
  readonly turn: number;
}

/** Picks among at least one target. `least-sessions` breaks ties by chance, so that equal proxies do not agree. */
export function pickTarget(balance: Balance, targets: readonly [Target, ...Target[]], inputs: PickInputs): Target {
  switch (balance) {
    case 'round-robin':
      return targets[inputs.turn % targets.length] ?? targets[0];
    case 'random':
      return oneOf(targets, inputs.random);
    case 'least-sessions':
      return oneOf(leastLoaded(targets, inputs.sessionsOn), inputs.random);
  }
}

function oneOf(targets: readonly [Target, ...Target[]], random: () => number): Target {
  return targets[Math.floor(random() * targets.length)] ?? targets[0];
}

function leastLoaded(
  targets: readonly [Target, ...Target[]],
  sessionsOn: (member: MemberName) => number,
): [Target, ...Target[]] {
  let best: [Target, ...Target[]] = [targets[0]];
  let least = sessionsOn(targets[0].member);
  for (const target of targets.slice(1)) {
    const load = sessionsOn(target.member);
    if (load < least) best = [target];
    else if (load === least) best.push(target);
    least = Math.min(least, load);
  }
  return best;
}
