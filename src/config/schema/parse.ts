// The answer of the schema: the parsed file, and a fault for everything that is wrong with it.
import type { z } from 'zod';
import { error, wrongKey, type Fault, type Path } from '../fault.ts';
import { isTree, type Tree } from '../source/tree.ts';
import { withDefaults } from './defaults.ts';
import { fileSchema, type ParsedFile } from './file-schema.ts';
import { unknownKey } from './shape.ts';
import { notA } from './values.ts';

export interface ParseResult {
  /** The part that the rules can check: all of it, or what is left without the wrong parts. */
  readonly parsed: ParsedFile | undefined;
  readonly faults: readonly Fault[];
  /** Parts that were left out. */
  readonly leftOut: readonly Path[];
}

/** No code is generated for each schema, which takes longer than to parse one file without it. */
const ONCE = { jitless: true };

/** Parses. Where parts are wrong it parses again without them, so that the rules are checked in the same run. */
export function parse(tree: Tree): ParseResult {
  const first = fileSchema.safeParse(tree, { error: wording, ...ONCE });
  if (first.success) return { parsed: first.data, faults: [], leftOut: [] };
  const faults = first.error.issues.flatMap((issue) => faultsOf(issue, []));
  const leftOut = faults.map(({ paths: [path] }) => path.slice(0, 2));
  const rest = structuredClone(tree);
  for (const [section = '', key] of leftOut) {
    const parent = rest[section];
    if (key === undefined || !isTree(parent)) delete rest[section];
    else delete parent[key];
  }
  const second = fileSchema.safeParse(withDefaults(rest), ONCE);
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
    return issue.keys.map((key) => wrongKey(unknownKey(path, key), [...path, key]));
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => wrongKey(message, path));
  if (issue.code === 'invalid_union') {
    // The branch that got past its own type is the one that was meant.
    const meant = issue.errors.find((issues) =>
      issues.every((one) => one.path.length > 0 || one.code === 'unrecognized_keys'),
    );
    if (meant !== undefined) return meant.flatMap((one) => faultsOf(one, path));
  }
  return [error(issue.message, path)];
}
