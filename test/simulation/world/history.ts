// The events of a simulation, line by line. The same seed gives the same lines.
import { createHash } from 'node:crypto';

export interface History {
  /** A text that is dear is made when the lines are wanted. */
  readonly note: (line: string | (() => string)) => void;
  readonly lines: () => readonly string[];
  /** The same for the same lines. */
  readonly hash: () => string;
}

export function createHistory(now: () => number): History {
  const notes: { readonly at: number; readonly line: string | (() => string) }[] = [];
  const lines = (): readonly string[] =>
    notes.map(({ at, line }) => `${at.toFixed(1).padStart(9)} ${typeof line === 'string' ? line : line()}`);
  return {
    note: (line) => void notes.push({ at: now(), line }),
    lines,
    hash: () => createHash('sha256').update(lines().join('\n')).digest('hex').slice(0, 16),
  };
}
