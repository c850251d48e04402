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
    return [isMissing ? `the ${what} ${path} is missing` : `${what} ${path}: ${issue.message}`];
  });
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
