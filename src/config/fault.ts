// What is wrong with a configuration, and how it is shown to the operator: one line each. A Fault says which keys it is
// about; source/place.ts makes it a Problem, which says where in the file or the environment they were written.

export type Path = readonly (string | number)[];

export interface Fault {
  readonly severity: 'error' | 'warning';
  /**
   * Every path that led to it, so that nothing is said about a value that is reported as wrong already. The first that
   * was written down is where it is shown.
   */
  readonly paths: readonly [Path, ...Path[]];
  readonly part: 'key' | 'value';
  /** What is wrong and what would be right, in one sentence. */
  readonly message: string;
}

export function error(message: string, ...paths: [Path, ...Path[]]): Fault {
  return { severity: 'error', paths, part: 'value', message };
}

export function warning(message: string, ...paths: [Path, ...Path[]]): Fault {
  return { severity: 'warning', paths, part: 'value', message };
}

/** A key that should not be there, or has the wrong name. */
export function wrongKey(message: string, path: Path): Fault {
  return { severity: 'error', paths: [path], part: 'key', message };
}

/** Where a value was written. `line` and `column` start at 1. */
export type Origin =
  | { readonly kind: 'file'; readonly file: string; readonly line?: number; readonly column?: number }
  | { readonly kind: 'environment'; readonly variable: string }
  /** Written nowhere: something is missing, and there is no file. */
  | { readonly kind: 'nowhere' };

export interface Problem {
  readonly origin: Origin;
  /** `listeners[0].address`; empty when it is about the source as a whole. */
  readonly path: string;
  readonly message: string;
}

/** `probe.interval`, `listeners[0].address` */
export function formatPath(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${part}`)).join('');
}

function formatOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'file':
      return [origin.file, origin.line, origin.column].filter((part) => part !== undefined).join(':');
    case 'environment':
      return `environment ${origin.variable}`;
    case 'nowhere':
      return 'configuration';
  }
}

/** One line per problem: `pointsman.yaml:3:13: probe.interval: 5 has no unit: write 5s or 5ms`. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems
    .map(({ origin, path, message }) => [formatOrigin(origin), path, message].filter((part) => part !== '').join(': '))
    .join('\n');
}
