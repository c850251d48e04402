// Requests to the admin server: paths, queries, bodies and headers, up to the handler of an endpoint.
import assert from 'node:assert/strict';
import { whyNotHere } from '../../../src/admin/callers.ts';
import { endpointsOf } from '../../../src/admin/endpoints/endpoints.ts';
import { isForPage, pageEndpoints } from '../../../src/admin/endpoints/page-endpoints.ts';
import { whyNotAllowed } from '../../../src/admin/permission.ts';
import { find } from '../../../src/admin/router.ts';
import { parseJson } from '../../../src/model/json.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { textOf, type FuzzTarget } from '../target.ts';

const OPTIONS = adminOptions();
const ENDPOINTS = endpointsOf(OPTIONS);
const PAGE = pageEndpoints(OPTIONS);
const TOKEN = { kind: 'token', value: '0123456789abcdef' } as const;
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** Method, target, host, origin, authorization, accept: one on each line; then the body. */
function check(input: Uint8Array): void {
  const [method = '', url = '', host, origin, authorization, accept, ...rest] = textOf(input).split('\n');
  const headers = {
    ...(host && { host }),
    ...(origin && { origin }),
    ...(authorization && { authorization }),
    ...(accept && { accept }),
  };
  const [path = '/', query = ''] = url.split('?', 2);
  const foreign = whyNotHere(headers, ['db.example.com']);
  if (foreign !== undefined) assert(!UNPRINTABLE.test(foreign));
  if (whyNotAllowed(TOKEN, 'operation', headers) === undefined) assert(authorization?.includes(TOKEN.value));
  const found = find(isForPage(path, headers) ? PAGE : ENDPOINTS, method, path);
  if (found.kind === 'missing') {
    assert(found.answer.status === 404 || found.answer.status === 405);
    return;
  }
  for (const value of Object.values(found.parameters)) assert(value.length > 0);
  const prepared = found.endpoint.prepare({
    parameters: found.parameters,
    query: new URLSearchParams(query),
    body: parseJson(rest.join('\n')) ?? {},
    headers,
    isOperator: true,
  });
  if (prepared.kind !== 'invalid') return;
  assert(prepared.problems.length > 0);
  for (const problem of prepared.problems) assert(problem.length > 5 && problem.length < 2_000, problem);
}

const seeds = [...ENDPOINTS, ...PAGE].map(
  ({ method, path }) => `${method}\n${path}\n127.0.0.1:9187\n\nBearer ${TOKEN.value}\n\n{}`,
);

export const requests: FuzzTarget = {
  name: 'requests',
  covers: ['admin/', 'config/closest', 'model/printable'],
  seeds: [
    ...seeds,
    'GET\n/sessions?limit=5&sort=age&pool=x&id=7\ndb.example.com\nhttp://db.example.com\n\n\n',
    'POST\n/cluster/switchover?dry_run\n[::1]:1\n\nBearer x\n\n{"leader":"pg-1","scheduled_at":"2026-11-01T10:00Z"}',
    'GET\n/events?since=r1-5\n127.0.0.1\n\n\ntext/event-stream\n',
    'GET\n/\nlocalhost\n\n\ntext/html\n',
  ].map((text) => Buffer.from(text)),
  words: [
    ...ENDPOINTS.flatMap(({ query, body }) => [
      ...Object.keys(query().shape).map((key) => `&${key}=`),
      ...Object.keys(body().shape).map((key) => `"${key}":`),
    ]),
    '%2e%2e/',
    '%00',
    '%ff',
    '//',
    '..',
    '?',
    '&',
    '=',
    '__proto__',
    'constructor',
    '"__proto__":{}',
    'null',
    '-1',
    '1e9',
    '9007199254740993',
    '[[[[',
    '\\ud800',
    'Bearer ',
    'http://',
    'evil.example',
    'HEAD',
    'OPTIONS',
    'text/html',
    '{',
    '}',
    ',',
    '"x"',
  ],
  check,
};
