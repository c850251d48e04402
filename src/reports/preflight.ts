// The sessions of a member before a planned change: how many of them can move, and why the others cannot.
import { PIN_REASONS, type PinReason } from '../model/moves.ts';
import { sumOf } from '../model/sums.ts';

/** A process counts a session as unknown that has not answered by then. Milliseconds. */
export const PREFLIGHT_MS = 3_000;

export interface Preflight {
  readonly movable: number;
  /** The sessions that cannot move, by reason. Absent: none. */
  readonly stays: Readonly<Partial<Record<PinReason, number>>>;
  /** Nobody knows yet: in a transaction now, not asked in time, or in a worker that did not answer. */
  readonly unknown: number;
}

/** The sum over several processes. */
export function sumOfPreflights(all: readonly Preflight[]): Preflight {
  const stays = PIN_REASONS.map((reason) => [reason, sumOf(all, (one) => one.stays[reason] ?? 0)] as const);
  return {
    movable: sumOf(all, ({ movable }) => movable),
    stays: Object.fromEntries(stays.filter(([, count]) => count > 0)),
    unknown: sumOf(all, ({ unknown }) => unknown),
  };
}
