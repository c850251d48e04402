// loadConfig: file and environment in, one frozen Config or every problem out. Binds nothing, resolves nothing, and reads
// nothing but the file and the certificates and keys that it names.
import { readFileSync } from 'node:fs';
import { assemble } from './assemble.ts';
import { unusableAuthority } from './files/authority.ts';
import type { Config } from './config.ts';
import { withDefaults } from './schema/defaults.ts';
import { applyEnvironment } from './source/environment.ts';
import type { Environment } from './source/environment.ts';
import type { Finding } from './finding.ts';
import { readKeyPairNow } from './files/key-pair.ts';
import { withApiServer } from './schema/kubernetes.ts';
import { parse } from './schema/parse.ts';
import type { Fault } from './schema/parse.ts';
import { fileOrigin, place } from './source/place.ts';
import type { Path, Problem } from './problem.ts';
import { checkRules } from './rules/rules.ts';
import { withoutEmptySections } from './schema/shape.ts';
import { unreadable } from './files/unreadable.ts';
import { readYaml } from './source/yaml-text.ts';

export interface LoadOptions {
  /** Path of the YAML file; undefined: the environment alone. */
  readonly file: string | undefined;
  readonly env: Environment;
  /** Reads the YAML file whole; throws what node:fs throws. */
  readonly readFile?: (file: string) => string;
}

export type Loaded =
  | { readonly kind: 'ok'; readonly config: Config; readonly warnings: readonly Problem[] }
  /** Every problem that was found: those of the environment, then down the file. */
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

/** Never throws for what the operator wrote. */
export function loadConfig(options: LoadOptions): Loaded {
  const { file, env } = options;
  const text = readText(options);
  if (text.kind === 'invalid') return text;
  const yaml = readYaml(text.text);
  if (yaml.kind === 'invalid') {
    const problems = yaml.faults.map(({ at, message }) => ({ origin: fileOrigin(file, at), path: '', message }));
    return { kind: 'invalid', problems };
  }
  const overlaid = applyEnvironment(withDefaults(withoutEmptySections(yaml.tree)), env);
  const { parsed, faults, leftOut } = parse(withApiServer(overlaid.tree, env));
  const findings = (
    parsed === undefined ? [] : checkRules(parsed, { readKeyPair: readKeyPairNow, unusableAuthority, now: Date.now() })
  ).filter((finding) => !finding.involves.some((path) => leftOut.some((bad) => isWithin(bad, path))));
  const problemsOf = (list: readonly Fault[]): readonly Problem[] =>
    list.map((fault) => place(fault, { file, positionOf: yaml.positionOf, variables: overlaid.variables }));
  const problems = [...overlaid.problems, ...problemsOf([...faults, ...faultsIn(findings, 'error')])].toSorted(byPlace);
  if (problems.length > 0 || parsed === undefined) return { kind: 'invalid', problems };
  return { kind: 'ok', config: assemble(parsed), warnings: problemsOf(faultsIn(findings, 'warning')) };
}

/** The environment first, then down the file. */
function byPlace({ origin: a }: Problem, { origin: b }: Problem): number {
  const [lineA, columnA] = a.kind === 'file' ? [a.line ?? 0, a.column ?? 0] : [-1, 0];
  const [lineB, columnB] = b.kind === 'file' ? [b.line ?? 0, b.column ?? 0] : [-1, 0];
  return lineA - lineB || columnA - columnB;
}

function faultsIn(findings: readonly Finding[], severity: Finding['severity']): readonly Fault[] {
  return findings
    .filter((finding) => finding.severity === severity)
    .map(({ involves, message }) => ({ paths: involves, part: 'value', message }));
}

type ReadText = { readonly kind: 'text'; readonly text: string } | (Loaded & { readonly kind: 'invalid' });

function readText({ file, readFile = (name) => readFileSync(name, 'utf8') }: LoadOptions): ReadText {
  if (file === undefined) return { kind: 'text', text: '' };
  try {
    return { kind: 'text', text: readFile(file) };
  } catch (error) {
    return { kind: 'invalid', problems: [{ origin: { kind: 'file', file }, path: '', message: unreadable(error) }] };
  }
}

/** True when one of the two paths leads to, or through, the other. */
function isWithin(a: Path, b: Path): boolean {
  return a.slice(0, b.length).every((part, i) => part === b[i]);
}
