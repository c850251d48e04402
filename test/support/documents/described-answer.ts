// Holds an answer of the admin API to its published description.
import { expect } from 'vitest';
import { DESCRIBED, SCHEMAS } from '../../../src/admin/openapi/answers.ts';

export interface DescribedAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Fails with what is wrong, unless the answer is one of those that the description names for its status. */
export function validate(key: string, { status, body: { api_version: version, ...body } }: DescribedAnswer): void {
  expect(version).toBe(1);
  const names = DESCRIBED[key]?.answers[status] ?? (status < 500 && status >= 400 ? ['Failure'] : undefined);
  if (names === undefined || typeof names === 'string') throw new Error(`${key} describes no JSON answer ${status}`);
  const problems = names.map((name) => SCHEMAS[name].safeParse(body).error?.message);
  expect(problems.includes(undefined) ? [] : [JSON.stringify(body), ...problems]).toEqual([]);
}
