// Which of a route's members takes the next session. Pure: load, weight, chance and what round-robin remembers are
// arguments. Weights are parts beside the others' and above 0. A member that missed a probe, or is far, is picked only
// when no other member is left.
import type { MemberName } from '../model/member.ts';
import type { Balance } from '../model/policy.ts';
import type { Target } from './routing-table.ts';

/** What each member is owed, in units of weight: they sum up to 0. Members that are not there are not in it. */
export type Credits = ReadonlyMap<MemberName, number>;

export interface PickInputs {
  /** Live and dialing sessions of this pool on a member. */
  readonly sessionsOn: (member: MemberName) => number;
  readonly weightOf: (target: Target) => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Those of the pool's last pick; empty at first. */
  readonly credits: Credits;
  /** Of the client, without its port. */
  readonly clientAddress: string;
}

export interface Pick {
  readonly target: Target;
  readonly credits: Credits;
}

type Targets = readonly [Target, ...Target[]];

/** Picks among at least one target. */
export function pickTarget(balance: Balance, targets: Targets, inputs: PickInputs): Pick {
  const candidates = without(without(targets, 'isSuspect'), 'isFar');
  switch (balance) {
    case 'round_robin':
      return inTurn(candidates, inputs);
    case 'random':
      return { target: byChance(candidates, inputs), credits: inputs.credits };
    case 'least_sessions':
      return { target: leastLoaded(candidates, inputs), credits: inputs.credits };
    case 'client_address':
      return { target: byAddress(candidates, inputs.clientAddress), credits: inputs.credits };
  }
}

/**
 * The part of its weight that a member has which opened `openForMs` ago: in proportion to the time, up to the whole. Never
 * nothing, so that newcomers among themselves share too.
 */
export function rampedShare(openForMs: number, slowStartMs: number): number {
  return openForMs >= slowStartMs ? 1 : Math.max(0.01, openForMs / slowStartMs);
}

/** The targets that are not marked so, or all of them when each is. */
function without(targets: Targets, mark: 'isSuspect' | 'isFar'): Targets {
  const [first, ...rest] = targets.filter((target) => target[mark] !== true);
  return first === undefined ? targets : [first, ...rest];
}

/** Smooth: each is credited its weight, the richest pays for all. A member of weight 3 beside two of 1: a b a c a. */
function inTurn(targets: Targets, { weightOf, credits: before }: PickInputs): Pick {
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

function byChance(targets: Targets, { weightOf, random }: PickInputs): Target {
  if (targets.length === 1) return targets[0];
  let left = random() * sumOf(targets, weightOf);
  for (const target of targets) {
    left -= weightOf(target);
    if (left < 0) return target;
  }
  return targets[0];
}

/**
 * Load counts for its weight, and chance decides a tie: it keeps equal proxies from agreeing, and gives each its part of a pool that
 * has next to nothing to do. All are looked at: to compare only two drawn by chance (the power of two choices) pays with hundreds of
 * members, or where loads are known late. Ours are few and known exactly, and of members that tie either draw is the same chance.
 */
function leastLoaded(targets: Targets, inputs: PickInputs): Target {
  if (targets.length === 1) return targets[0];
  const loadOf = (target: Target): number => inputs.sessionsOn(target.member) / inputs.weightOf(target);
  const least = Math.min(...targets.map(loadOf));
  const [first = targets[0], ...rest] = targets.filter((target) => loadOf(target) === least);
  return byChance([first, ...rest], inputs);
}

/**
 * Rendezvous hashing: every process that sees the same targets picks the same one, and a member that comes or goes
 * moves only the addresses that it gains or had. The slow start of a member is left out: it differs between processes,
 * and would move addresses all the time.
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

/** FNV-1a with the finalizer of MurmurHash3, as a number in (0, 1). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}

function sumOf(targets: Targets, weightOf: PickInputs['weightOf']): number {
  return targets.reduce((sum, target) => sum + weightOf(target), 0);
}
