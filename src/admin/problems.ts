// The mistakes in the input of a request, in words.
import type { z } from 'zod';
import { closest } from '../config/closest.ts';
import { shown } from '../model/printable.ts';

export function problemsIn(what: 'field' | 'query parameter', error: z.ZodError, schema: z.ZodObject): string[] {
  const known = Object.keys(schema.shape);
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknown(what, key, path === '' ? known : []));
    if (path === '') return ['the body must be a JSON object'];
    const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
    return [isMissing ? `the ${what} ${path} is missing` : `${what} ${path} ${wordsOf(issue)}`];
  });
}

/** The words of the library name its own types. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'too_small') {
    return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
  }
  if (issue.code === 'invalid_type') return `must be a ${issue.expected === 'int' ? 'whole number' : issue.expected}`;
  return issue.code === 'invalid_value' ? `must be one of: ${issue.values.join(', ')}` : `is wrong: ${issue.message}`;
}

function unknown(what: string, key: string, known: readonly string[]): string {
  const near = closest(key, known);
  const remedy =
    near === undefined
      ? known.length === 0
        ? 'none is known'
        : `known: ${known.join(', ')}`
      : `did you mean ${near}?`;
  return `unknown ${what} ${shown(key)}: ${remedy}`;
}
