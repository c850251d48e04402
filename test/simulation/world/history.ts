// The events of a simulation, line by line. The same seed gives the same lines.
import { createHash } from 'node:crypto';

export interface History {
  readonly note: (line: string) => void;
  readonly lines: () => readonly string[];
  /** The same for the same lines. */
  readonly hash: () => string;
}

export function createHistory(now: () => number): History {
  const lines: string[] = [];
  return {
    note: (line) => void lines.push(`${now().toFixed(1).padStart(9)} ${line}`),
    lines: () => lines,
    hash: () => createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16),
  };
}
