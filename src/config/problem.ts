// What is wrong with a configuration, where, and how it is shown to the operator: one line each.

export type Path = readonly (string | number)[];

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
  /** What is wrong and what would be right, in one sentence. */
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
