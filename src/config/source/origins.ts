// Where each value of a configuration was written: a line of the file, an environment variable or an option of the
// command line. A key that is not here has its default.
import { formatPath, type Path } from '../fault.ts';
import { shownFile, type Sources } from './place.ts';
import { isTree, type Tree } from './tree.ts';
import type { TextPosition } from './yaml-text.ts';

export type WrittenAt =
  | ({ readonly kind: 'file'; readonly file: string } & TextPosition)
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'command_line'; readonly option: string };

/** By the path of a single value, or of a list of single values: `probe.interval`, `listeners[0].address`. */
export type Origins = ReadonlyMap<string, WrittenAt>;

export interface OriginSources extends Sources {
  /** The file alone, before defaults and environment. */
  readonly written: Tree;
  /** The option of the command line that is passed on as a variable: `POINTSMAN_LOG_LEVEL` -> `--log-level`. */
  readonly options: Readonly<Record<string, string>>;
}

export function originsOf({ file, written, positionOf, variables, options }: OriginSources): Origins {
  const inFile = leavesOf([], written).flatMap((path) => {
    const at = positionOf(path, 'value');
    if (at === undefined || file === undefined) return [];
    return [[formatPath(path), { kind: 'file', file: shownFile(file), ...at }] as const];
  });
  const others = [...variables].map(([path, variable]): readonly [string, WrittenAt] => {
    const option = options[variable];
    return [path, option === undefined ? { kind: 'environment', variable } : { kind: 'command_line', option }];
  });
  return new Map<string, WrittenAt>([...inFile, ...others]);
}

/** The path of each single value; a list of single values counts as one. */
export function leavesOf(path: Path, value: unknown): readonly Path[] {
  if (isTree(value)) return Object.entries(value).flatMap(([key, child]) => leavesOf([...path, key], child));
  if (!Array.isArray(value) || !value.some((item) => isTree(item))) return [path];
  return value.flatMap((item: unknown, i) => leavesOf([...path, i], item));
}
