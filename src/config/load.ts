// loadConfig: file and environment in, one frozen Config or all problems out. It binds nothing, resolves no name, and
// reads only the file and the certificates and keys that the file names.
import { assemble } from './assemble.ts';
import type { Config } from './config.ts';
import type { Fault, Path, Problem } from './fault.ts';
import { unreadable } from './files/unusable-files.ts';
import { checkRules } from './rules/rules.ts';
import { complete, withDefaults } from './schema/defaults.ts';
import { parse } from './schema/parse.ts';
import { withoutEmptySections, withoutExtensions } from './schema/shape.ts';
import { applyEnvironment, withApiServer, type Environment } from './source/environment.ts';
import { originsOf } from './source/origins.ts';
import { fileOrigin, place } from './source/place.ts';
import { readWhole } from './source/read-file.ts';
import { readYaml } from './source/yaml-text.ts';

/** For a configuration that needs no cluster: the schema wants a seed, and nothing contacts this one. */
export const NO_SEED = 'http://127.0.0.1:1';

export interface LoadOptions {
  /** Path of the YAML file, `-` for standard input; undefined: the environment alone. */
  readonly file: string | undefined;
  readonly env: Environment;
  /** Options of the command line that `env` holds as variables: `POINTSMAN_LOG_LEVEL` -> `--log-level`. */
  readonly options?: Readonly<Record<string, string>>;
  /** Reads the YAML file whole; throws what node:fs throws. */
  readonly readFile?: (file: string) => string;
}

export type LoadResult =
  | { readonly kind: 'ok'; readonly config: Config; readonly warnings: readonly Problem[] }
  /** Every problem that was found: those of the environment, then down the file. */
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

/** Never throws for what the operator wrote. */
export function loadConfig(options: LoadOptions): LoadResult {
  const { file, env } = options;
  const text = readText(options);
  if (typeof text !== 'string') return text;
  const yaml = readYaml(text);
  if (yaml.kind === 'invalid') {
    const problems = yaml.faults.map(({ at, message }) => ({ origin: fileOrigin(file, at), path: '', message }));
    return { kind: 'invalid', problems };
  }
  const written = withoutEmptySections(withoutExtensions(yaml.tree));
  const { tree, variables, problems: unknownVariables } = applyEnvironment(withDefaults(written), env);
  const { parsed, faults, leftOut } = parse(withApiServer(tree, env));
  const broken = (parsed === undefined ? [] : checkRules(parsed, env)).filter(
    ({ paths }) => !paths.some((path) => leftOut.some((bad) => isWithin(bad, path))),
  );
  const problemsOf = (severity: Fault['severity']): readonly Problem[] =>
    [...faults, ...broken]
      .filter((fault) => fault.severity === severity)
      .map((fault) => place(fault, { file, positionOf: yaml.positionOf, variables }));
  const problems = [...unknownVariables, ...problemsOf('error')].toSorted(byPlace);
  if (problems.length > 0 || parsed === undefined) return { kind: 'invalid', problems };
  const origins = originsOf({ file, written, positionOf: yaml.positionOf, variables, options: options.options ?? {} });
  return { kind: 'ok', config: assemble(complete(parsed), origins), warnings: problemsOf('warning') };
}

/** The environment first, then down the file. */
function byPlace({ origin: a }: Problem, { origin: b }: Problem): number {
  const [lineA, columnA] = a.kind === 'file' ? [a.line ?? 0, a.column ?? 0] : [-1, 0];
  const [lineB, columnB] = b.kind === 'file' ? [b.line ?? 0, b.column ?? 0] : [-1, 0];
  return lineA - lineB || columnA - columnB;
}

function readText({ file, readFile = readWhole }: LoadOptions): string | LoadResult {
  if (file === undefined) return '';
  try {
    return readFile(file);
  } catch (error) {
    return { kind: 'invalid', problems: [{ origin: { kind: 'file', file }, path: '', message: unreadable(error) }] };
  }
}

/** True when one of the two paths leads to, or through, the other. */
function isWithin(a: Path, b: Path): boolean {
  return a.slice(0, b.length).every((part, i) => part === b[i]);
}
