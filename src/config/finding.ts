// What a rule between values found. It names every path it looked at, so that nothing is said about a value that is
// already reported as wrong.
import type { Path } from './problem.ts';

export interface Finding {
  readonly severity: 'error' | 'warning';
  /** The first that was written down is where the problem is shown. */
  readonly involves: readonly [Path, ...Path[]];
  readonly message: string;
}

export function error(message: string, ...involves: [Path, ...Path[]]): Finding {
  return { severity: 'error', involves, message };
}

export function warning(message: string, ...involves: [Path, ...Path[]]): Finding {
  return { severity: 'warning', involves, message };
}
