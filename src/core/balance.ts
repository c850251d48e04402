// Picks the target that takes the next session. Load, weight, chance and the memory of round-robin are arguments.
// Weights are relative to the other targets and above 0. A target that missed a probe, or is in another zone, is picked
// last.
import type { MemberName } from '../model/member.ts';
import type { Balance } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';
import type { Target } from './routing-table.ts';

/** The memory of round-robin: what each target is owed, in units of weight. The sum is 0. */
export type Credits = ReadonlyMap<MemberName, number>;

export interface PickOptions {
  /** This pool's sessions on a member, connecting ones included. */
  readonly sessionsOn: (member: MemberName) => number;
  readonly weightOf: (target: Target) => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** From the pool's last pick. Empty at first. */
  readonly credits: Credits;
  /** Without the port. */
  readonly clientAddress: string;
}

export interface Pick {
  readonly target: Target;
  readonly credits: Credits;
}

type Targets = readonly [Target, ...Target[]];

export function pickTarget(balance: Balance, targets: Targets, options: PickOptions): Pick {
  const candidates = without(without(targets, 'isSuspect'), 'isFar');
  switch (balance) {
    case 'round_robin':
      return inTurn(candidates, options);
    case 'random':
      return { target: byChance(candidates, options), credits: options.credits };
    case 'least_sessions':
      return { target: leastLoaded(candidates, options), credits: options.credits };
    case 'latency':
      return { target: lessLoadedOfTwo(candidates, options), credits: options.credits };
    case 'client_address':
      return { target: byAddress(candidates, options.clientAddress), credits: options.credits };
  }
}

/**
 * Slow start: the share of its weight for a member that opened `openForMs` ago. It grows in proportion to the time, and
 * is never 0, so that members that all start slowly share among themselves too.
 */
export function rampedShare(openForMs: number, slowStartMs: number): number {
  return openForMs >= slowStartMs ? 1 : Math.max(0.01, openForMs / slowStartMs);
}

/** The targets without the mark, or all of them when each has it. */
function without(targets: Targets, mark: 'isSuspect' | 'isFar'): Targets {
  const [first, ...rest] = targets.filter((target) => target[mark] !== true);
  return first === undefined ? targets : [first, ...rest];
}

/** Smooth weighted round-robin, as in nginx: weights 3, 1 and 1 give a b a c a. */
function inTurn(targets: Targets, { weightOf, credits: before }: PickOptions): Pick {
  const credits = new Map(
    targets.map((target) => [target.member, (before.get(target.member) ?? 0) + weightOf(target)]),
  );
  let picked = targets[0];
  for (const target of targets) {
    if ((credits.get(target.member) ?? 0) > (credits.get(picked.member) ?? 0)) picked = target;
  }
  credits.set(picked.member, (credits.get(picked.member) ?? 0) - sumOf(targets, weightOf));
  return { target: picked, credits };
}

function byChance(targets: Targets, { weightOf, random }: PickOptions): Target {
  if (targets.length === 1) return targets[0];
  let left = random() * sumOf(targets, weightOf);
  for (const target of targets) {
    left -= weightOf(target);
    if (left < 0) return target;
  }
  return targets[0];
}

/**
 * The lowest load for its weight. Chance decides a tie, so that several proxies do not all pick the same member. All
 * targets are compared: the power of two choices pays only with hundreds of members, or with loads that are known late.
 */
function leastLoaded(targets: Targets, options: PickOptions): Target {
  const loadOf = (target: Target): number => options.sessionsOn(target.member) / options.weightOf(target);
  const least = Math.min(...targets.map(loadOf));
  const [first = targets[0], ...rest] = targets.filter((target) => loadOf(target) === least);
  return byChance([first, ...rest], options);
}

/**
 * Two are drawn by weight, and the one with less load for its weight is picked, the new session included: so a small
 * weight, of a slow member, tells also where nobody has a session. Times are known late: with the best of all, every
 * proxy would pick the same member until it is slow.
 */
function lessLoadedOfTwo(targets: Targets, options: PickOptions): Target {
  const one = byChance(targets, options);
  const [first, ...rest] = targets.filter((target) => target !== one);
  if (first === undefined) return one;
  const other = byChance([first, ...rest], options);
  const loadOf = (target: Target): number => (options.sessionsOn(target.member) + 1) / options.weightOf(target);
  return loadOf(other) < loadOf(one) ? other : one;
}

/**
 * Rendezvous hashing: all processes with the same targets pick the same one, and a member that comes or goes moves only
 * its own addresses. Slow start is ignored: it differs between processes and would move addresses all the time.
 */
function byAddress(targets: Targets, clientAddress: string): Target {
  let picked = targets[0];
  let highest = -Infinity;
  for (const target of targets) {
    const score = Math.log(fractionOf(`${target.member} ${clientAddress}`)) / (target.weight ?? 1);
    if (score > highest) [picked, highest] = [target, score];
  }
  return picked;
}

/** FNV-1a with the finalizer of MurmurHash3. In (0, 1). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}
