// Mutants that survive for a reason. One is named by its file, the code that it replaces, and its own code.

export interface Survivor {
  readonly file: string;
  readonly code: string;
  readonly mutant: string;
  readonly why: string;
}

export const SURVIVORS: readonly Survivor[] = [
  {
    file: 'src/core/lag.ts',
    code: "kind === 'location' && timeline !== undefined",
    mutant: "kind === 'location' || timeline !== undefined",
    why: 'no position but a location has a timeline',
  },
  {
    file: 'src/core/lag.ts',
    code: "kind === 'location'",
    mutant: 'true',
    why: 'no position but a location has a timeline',
  },
  {
    file: 'src/core/lag.ts',
    code: 'first.at > (newest[0]?.at ?? -Infinity)',
    mutant: 'first.at >= (newest[0]?.at ?? -Infinity)',
    why: 'of two answers of one instant either is as good',
  },
];
