// The schema's answer in our words: the parsed file, and every fault with its path.
import type { z } from 'zod';
import { withDefaults } from './defaults.ts';
import type { Path } from '../problem.ts';
import { fileSchema } from './file-schema.ts';
import type { ParsedFile } from './file-schema.ts';
import { unknownKey } from './shape.ts';
import { isTree } from '../source/tree.ts';
import type { Tree } from '../source/tree.ts';
import { notA } from './values.ts';

/** Something wrong at a path. */
export interface Fault {
  /** The first that was written down is where the fault is shown. */
  readonly paths: readonly [Path, ...Path[]];
  readonly part: 'key' | 'value';
  readonly message: string;
}

export interface ParseResult {
  /** What the rules can look at: with the wrong parts left out when there are any. */
  readonly parsed: ParsedFile | undefined;
  readonly faults: readonly Fault[];
  /** Parts that were left out. */
  readonly leftOut: readonly Path[];
}

/** Parses; where parts are wrong it tries again without them, so that the rules are checked in the same run. */
export function parse(tree: Tree): ParseResult {
  const first = fileSchema.safeParse(tree, { error: wording });
  if (first.success) return { parsed: first.data, faults: [], leftOut: [] };
  const faults = first.error.issues.flatMap((issue) => faultsOf(issue, []));
  const leftOut = faults.map(({ paths: [path] }) => path.slice(0, 2));
  const rest = structuredClone(tree);
  for (const [section = '', key] of leftOut) {
    const parent = rest[section];
    if (key === undefined || !isTree(parent)) delete rest[section];
    else delete parent[key];
  }
  const second = fileSchema.safeParse(withDefaults(rest));
  return { parsed: second.success ? second.data : undefined, faults, leftOut };
}

/** The words for issues that no schema words itself. */
function wording(issue: {
  readonly code?: string | undefined;
  readonly expected?: unknown;
  readonly input?: unknown;
}): string {
  if (issue.code !== 'invalid_type') return 'is not valid';
  const words = new Map([
    ['object', 'a map'],
    ['record', 'a map'],
    ['array', 'a list'],
  ]);
  return notA(words.get(String(issue.expected)) ?? String(issue.expected), issue.input);
}

function faultsOf(issue: z.core.$ZodIssue, above: Path): readonly Fault[] {
  const path: Path = [...above, ...issue.path.filter((part) => typeof part !== 'symbol')];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ paths: [[...path, key]], part: 'key', message: unknownKey(path, key) }));
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => ({ paths: [path], part: 'key', message }));
  }
  if (issue.code === 'invalid_union') {
    // The branch that got past its own type is the one that was meant.
    const meant = issue.errors.find((issues) =>
      issues.every((one) => one.path.length > 0 || one.code === 'unrecognized_keys'),
    );
    if (meant !== undefined) return meant.flatMap((one) => faultsOf(one, path));
  }
  return [{ paths: [path], part: 'value', message: issue.message }];
}
