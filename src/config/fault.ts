// Mistakes in a configuration, and how the operator sees them: one line each. A Fault names the keys that it is about;
// source/place.ts makes a Problem of it, which names the place in the file or the environment.

export type Path = readonly (string | number)[];

export interface Fault {
  readonly severity: 'error' | 'warning';
  /**
   * Every path that led to it: a rule about a value that is reported as wrong already says nothing. The fault is shown
   * at the first of them that was written.
   */
  readonly paths: readonly [Path, ...Path[]];
  readonly part: 'key' | 'value';
  /** The mistake and the remedy, in one sentence. */
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
  /** A key is missing, and there is no file. */
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

export function formatOrigin(origin: Origin): string {
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
