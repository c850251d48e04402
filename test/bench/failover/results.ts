// The results of a whole run, and whether Pointsman kept its bars.
import { median } from '../../support/values/median.ts';
import type { FrozenFigures } from './frozen-manager.ts';
import { type Counts, NOTHING, sum } from './judgement.ts';
import type { RoleChangeFigures } from './role-change.ts';

type ByPeer<T> = ReadonlyMap<string, T>;

/** One entry per round. */
export interface Rounds {
  readonly switchovers: readonly ByPeer<RoleChangeFigures>[];
  readonly deaths: readonly ByPeer<RoleChangeFigures>[];
  readonly restarts: readonly ByPeer<RoleChangeFigures>[];
  readonly freezes: readonly ByPeer<FrozenFigures>[];
  readonly replacements: readonly ByPeer<FrozenFigures>[];
  /** The numbers of cancelled queries. */
  readonly cancels: ByPeer<number>;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly n: number;
}

/** The figures of one peer over all rounds. */
export interface Result {
  readonly peer: string;
  readonly switchoverMs: Spread;
  readonly deathMs: Spread;
  readonly restartMs: Spread;
  /** Counts of the restarts in place alone; `counts` excludes them. */
  readonly restartCounts: Counts;
  readonly counts: Counts;
  /** The part of `counts` from the rounds in which Patroni was frozen until the primary was replaced. */
  readonly replacementCounts: Counts;
  readonly sessions: number;
  readonly cutWhileHealthy: number;
  readonly sessionsReplaced: number;
  readonly leftBehind: number;
  readonly cancelsWorked: number;
}

export function resultOf(peer: string, rounds: Rounds): Result {
  const of = <T>(some: readonly ByPeer<T>[]): readonly T[] => some.flatMap((round) => round.get(peer) ?? []);
  const [switchovers, deaths] = [of(rounds.switchovers), of(rounds.deaths)];
  const restarts = of(rounds.restarts);
  const [freezes, replacements] = [of(rounds.freezes), of(rounds.replacements)];
  const counted = [...switchovers, ...deaths, ...freezes, ...replacements].map(({ counts }) => counts);
  const frozen = [...freezes, ...replacements];
  return {
    peer,
    switchoverMs: spread(switchovers.map(({ delayMs }) => delayMs)),
    deathMs: spread(deaths.map(({ delayMs }) => delayMs)),
    restartMs: spread(restarts.map(({ delayMs }) => delayMs)),
    restartCounts: restarts.map(({ counts }) => counts).reduce(sum, NOTHING),
    counts: counted.reduce(sum, NOTHING),
    replacementCounts: replacements.map(({ counts }) => counts).reduce(sum, NOTHING),
    sessions: total(frozen.map(({ sessions }) => sessions)),
    cutWhileHealthy: total(frozen.map(({ cutWhileHealthy }) => cutWhileHealthy)),
    sessionsReplaced: total(replacements.map(({ sessions }) => sessions)),
    leftBehind: total(replacements.map(({ leftBehind }) => leftBehind)),
    cancelsWorked: rounds.cancels.get(peer) ?? 0,
  };
}

const DELAY_BAR_MS = 100;

/** The missed bars as sentences; empty when all were kept. A scene that did not run is not judged. */
export function missedBars(result: Result, cancels: number): readonly string[] {
  const missed: string[] = [];
  const atMost = (what: string, value: number, bar: number): void => {
    if (value > bar) missed.push(`${what}: ${Math.round(value)}, the bar is ${bar}`);
  };
  atMost('median after a switchover, ms', result.switchoverMs.median, DELAY_BAR_MS);
  atMost('median after a host death, ms', result.deathMs.median, DELAY_BAR_MS);
  atMost('failed connects in restarts in place', result.restartCounts.failedConnects, 0);
  atMost('failed connects', result.counts.failedConnects, 0);
  atMost('read-only errors', result.counts.readOnlyErrors, 0);
  atMost('writes that reached a non-primary', result.counts.strayWrites, 0);
  atMost('sessions cut although their primary was healthy', result.cutWhileHealthy, 0);
  if (result.cancelsWorked < cancels) missed.push(`cancels that worked: ${result.cancelsWorked} of ${cancels}`);
  return missed;
}

function spread(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values), n: values.length };
}

function total(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
