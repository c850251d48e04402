// A row of the admin API: its path, and the validation of its input.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { json } from '../../../src/admin/answer.ts';
import type { Answer } from '../../../src/admin/answer.ts';
import { get, post, probe } from '../../../src/admin/endpoint.ts';
import type { Call, Endpoint } from '../../../src/admin/endpoint.ts';
import { find } from '../../../src/admin/router.ts';

const move = post({
  path: '/move/NAME',
  body: () => z.strictObject({ candidate: z.string(), timeout: z.int().positive().optional() }),
  answer: ({ parameters, body }) => json(200, { name: parameters.name, ...body }),
});
const list = get({
  path: '/move/list',
  query: () => z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(10) }),
  answer: ({ query }) => json(200, query),
});
const ROWS = [list, move];

function prepared(
  endpoint: Endpoint,
  { search = '', ...call }: Partial<Call<string, URLSearchParams>> & { search?: string },
): unknown {
  const query = new URLSearchParams(search);
  const result = endpoint.prepare({ parameters: {}, query, body: {}, headers: {}, isOperator: true, ...call });
  return result.kind === 'invalid' ? result.problems : result.run();
}

test('a valid body reaches the handler, with the parameters of the path', () => {
  const { body } = z
    .looseObject({ body: z.string() })
    .parse(prepared(move, { parameters: { name: 'a b' }, body: { candidate: 'pg-2' } }));
  expect(JSON.parse(body)).toEqual({ api_version: 1, name: 'a b', candidate: 'pg-2' });
});

test.each([
  [{ candidat: 'pg-2' }, ['the field candidate is missing', 'unknown field candidat: did you mean candidate?']],
  [{ candidate: 'pg-2', x: 1 }, ['unknown field x: known: candidate, timeout']],
  [{ candidate: 1 }, ['field candidate must be a string']],
  [[], ['the body must be a JSON object']],
  [null, ['the body must be a JSON object']],
])('body %j: every problem is named', (body, problems) => {
  expect(prepared(move, { body })).toEqual(problems);
});

test('a query is validated as well', () => {
  expect(prepared(list, { search: 'limit=5' })).toMatchObject({ body: expect.stringContaining('"limit": 5') });
  expect(prepared(list, { search: 'limits=5' })).toEqual(['unknown query parameter limits: did you mean limit?']);
  expect(prepared(list, { search: 'limit=x' })).toEqual(['query parameter limit must be a number']);
  expect(prepared(list, { search: 'limit=5&limit=6' })).toEqual(['query parameter limit is given twice']);
});

const answer = (): Answer => json(200, {});

test('a document without parameters refuses all; an operation does nothing instead of more than was asked', () => {
  expect(prepared(get({ path: '/plain', answer }), { search: 'pool=read' })).toEqual([
    'unknown query parameter pool: none is known',
  ]);
  expect(prepared(post({ path: '/plain', answer }), { search: 'dry_run=true' })).toEqual([
    'unknown query parameter dry_run: none is known',
  ]);
});

test('health checks have the queries of load balancers', () => {
  expect(prepared(probe({ path: '/replica', answer }), { search: 'lag=16MB' })).toMatchObject({ status: 200 });
});

test('an operation without fields accepts {} alone', () => {
  const plain = post({ path: '/plain', answer: () => json(200, {}) });
  expect(prepared(plain, { body: {} })).toMatchObject({ status: 200 });
  expect(prepared(plain, { body: { now: true } })).toEqual(['unknown field now: none is known']);
});

test('one path may have two methods; a 405 names those that fit the path', () => {
  expect(find(ROWS, 'GET', '/move/list')).toMatchObject({ endpoint: list });
  expect(find(ROWS, 'POST', '/move/list')).toMatchObject({ endpoint: move, parameters: { name: 'list' } });
  expect(find(ROWS, 'GET', '/move/pg-1')).toMatchObject({ answer: { status: 405, headers: { allow: 'POST' } } });
  expect(find(ROWS, 'PUT', '/move/list')).toMatchObject({
    answer: { status: 405, headers: { allow: 'GET, HEAD, POST' } },
  });
});
