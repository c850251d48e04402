// The sessions on the admin port: the list with its filters, and the end of one. Both need the token.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { killedSession, movedSession, sessionList } from '../../../src/documents/sessions-document.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import type { KillResult, SessionList, SessionQuery } from '../../../src/reports/session-list.ts';
import type { MoveResult } from '../../../src/reports/session-move.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';

const TOKEN = '0123456789abcdef-secret';
const DOCUMENT = {
  id: 7,
  pool: 'write',
  member: 'pg-1',
  branch: null,
  client: '10.0.0.5:51234',
  via: null,
  listener: '127.0.0.1:6432',
  user: 'app',
  database: 'shop',
  application: 'orders',
  state: 'relaying',
  activity: 'idle',
  tls: 'none',
  opaque: false,
  age_seconds: 5,
  state_seconds: 4.75,
  held_seconds: 0.25,
  to_backend_bytes: 10,
  to_client_bytes: 20,
};
const entry = aSessionEntry({
  id: 7,
  acceptedAt: 1_000,
  stateSince: 1_250,
  heldMs: 250,
  toBackendBytes: 10,
  toClientBytes: 20,
});

let admin: Admin;
let port: number;
let asked: SessionQuery[];
let killed: number[];
let moved: number[];
let moveResult: MoveResult;
let list: SessionList;
let result: KillResult;

beforeEach(async () => {
  asked = [];
  killed = [];
  moved = [];
  moveResult = { kind: 'moved', from: 'pg-1', to: 'pg-2', durationMs: 12.4 };
  list = { sessions: [entry], total: 1, silentWorkers: [] };
  result = { kind: 'killed', session: entry, isClientTold: true, statement: 'cancel_sent' };
  admin = createAdmin(
    adminOptions({
      token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
      sessions: {
        list(query) {
          asked.push(query);
          return Promise.resolve(list);
        },
        kill(session) {
          killed.push(session);
          return Promise.resolve(result);
        },
        move(session) {
          moved.push(session);
          return Promise.resolve(moveResult);
        },
        pools: () => ['write', 'read'],
        members: () => ['pg-1', 'pg-2'],
        now: () => 6_000,
      },
    }),
  );
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
});

afterEach(() => admin.close());

async function ask(path: string, method = 'GET', token = TOKEN): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
  const sent = { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, sent);
  return { status: response.status, body: await response.json() };
}

async function documentOf(path: string, method?: string): Promise<Readonly<Record<string, unknown>>> {
  return z.record(z.string(), z.unknown()).parse((await ask(path, method)).body);
}

test('the list: every field, with ages in seconds', async () => {
  const { status, body } = await ask('/sessions');
  expect([status, body]).toEqual([
    200,
    { api_version: 1, total: 1, left_out: 0, silent_workers: [], sessions: [DOCUMENT] },
  ]);
  expect(asked).toEqual([{ limit: 100 }]);
});

test('a session on a branch has the branch instead of a member', async () => {
  list = {
    sessions: [aSessionEntry({ pool: 'branches', member: undefined, branch: { id: 'br-1', name: 'pr-1' } })],
    total: 1,
    silentWorkers: [],
  };
  expect((await ask('/sessions?pool=branches')).body).toMatchObject({
    sessions: [{ pool: 'branches', member: null, branch: { id: 'br-1', name: 'pr-1' } }],
  });
});

test('unknown facts are null, and a session with encryption end to end is opaque', async () => {
  const unknown = { member: undefined, user: undefined, database: undefined, application: undefined };
  const session = aSessionEntry({ ...unknown, activity: undefined, heldMs: undefined, tls: 'passthrough' });
  list = { sessions: [session], total: 5_000, silentWorkers: [2] };
  expect((await ask('/sessions?limit=1')).body).toMatchObject({
    total: 5_000,
    left_out: 4_999,
    silent_workers: [2],
    sessions: [
      { member: null, user: null, database: null, application: null, activity: null, held_seconds: null, opaque: true },
    ],
  });
});

test('the answers have the shape that the schema describes', async () => {
  const { api_version: _, ...listed } = await documentOf('/sessions');
  expect(sessionList.parse(listed)).toEqual(listed);
  const { api_version: __, ...answer } = await documentOf('/sessions/7/kill', 'POST');
  expect(killedSession.parse(answer)).toEqual(answer);
});

test('the filters', async () => {
  await ask('/sessions?id=9&pool=read&member=pg-2&client=10.0.0.5:1&state=holding&limit=1000&sort=out');
  const filters = { id: 9, pool: 'read', member: 'pg-2', client: '10.0.0.5:1', state: 'holding' };
  expect(asked).toEqual([{ ...filters, limit: 1000, sort: 'out' }]);
});

test.each([
  ['state=closed', /state/],
  ['limit=0', /limit/],
  ['sort=idle', /query parameter sort must be one of: age, since, held, in, out, bytes/],
  ['limit=1001', /limit/],
  ['user=app', /user/],
])('a query that does not fit: %s', async (query, problem) => {
  expect(await ask(`/sessions?${query}`)).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(problem) },
  });
  expect(asked).toEqual([]);
});

test('a name that has no sessions and that nobody knows', async () => {
  list = { sessions: [], total: 0, silentWorkers: [] };
  const unknownPool = 'unknown pool nope: the pools are write, read';
  expect(await ask('/sessions?pool=nope')).toMatchObject({ status: 404, body: { error: unknownPool } });
  const unknownMember = 'unknown member pg-9: did you mean pg-1? The members are pg-1, pg-2';
  expect(await ask('/sessions?member=pg-9')).toMatchObject({ status: 404, body: { error: unknownMember } });
  expect(await ask('/sessions?pool=read&member=pg-2')).toMatchObject({ status: 200, body: { total: 0 } });
});

test.each(['', 'another-token-of-a-stranger'])('neither works with the token "%s"', async (token) => {
  expect((await ask('/sessions', 'GET', token)).status).toBe(401);
  expect((await ask('/sessions/7/kill', 'POST', token)).status).toBe(401);
  expect([asked, killed]).toEqual([[], []]);
});

test('without a configured token the list is disabled, and the answer says which setting would enable it', async () => {
  const open = createAdmin(adminOptions());
  const listening = await open.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  const response = await fetch(`http://127.0.0.1:${listening.address.port}/sessions`);
  expect([response.status, await response.json()]).toMatchObject([
    403,
    {
      error: expect.stringContaining('this document is disabled because no token is configured: set admin.token_file'),
    },
  ]);
  await open.close();
});

test('a kill: the session as it was, and what becomes of its client and its statement', async () => {
  expect(await ask('/sessions/7/kill', 'POST')).toEqual({
    status: 200,
    body: {
      api_version: 1,
      killed: DOCUMENT,
      client_told: true,
      statement: 'cancel_sent',
      note: 'a statement was running: its server is asked to cancel it',
    },
  });
  expect(killed).toEqual([7]);
});

test.each<[KillResult, number, string]>([
  [{ kind: 'unknown' }, 404, 'no session 7: it has ended, or never existed'],
  [{ kind: 'silent_worker', worker: 2 }, 503, 'worker 2 does not answer: session 7 ends as soon as it does'],
])('a kill that ended none: %j', async (given, status, error) => {
  result = given;
  expect(await ask('/sessions/7/kill', 'POST')).toEqual({ status, body: { api_version: 1, error } });
});

test('a move: where the session was, where it is, and how long it took', async () => {
  const document = { session: 7, result: 'moved', from: 'pg-1', to: 'pg-2', reason: null, detail: null };
  const { status, body } = await ask('/sessions/7/move', 'POST');
  expect({ status, body }).toEqual({ status: 200, body: { api_version: 1, ...document, duration_ms: 12 } });
  expect(moved).toEqual([7]);
  movedSession.parse({ ...document, duration_ms: 12 });
});

test.each<[MoveResult, object]>([
  [
    { kind: 'stayed', reason: 'listening', detail: 'news', from: 'pg-1', durationMs: 3 },
    { result: 'stayed', from: 'pg-1', to: null, reason: 'listening', detail: 'news' },
  ],
  [
    { kind: 'failed', reason: 'move_timeout', from: undefined, durationMs: 30_000 },
    { result: 'failed', from: null, to: null, reason: 'move_timeout', detail: null },
  ],
])('a session that did not move: %j', async (given, body) => {
  moveResult = given;
  expect(await ask('/sessions/7/move', 'POST')).toMatchObject({ status: 200, body });
});

test.each<[MoveResult, number, string]>([
  [{ kind: 'unknown' }, 404, 'no session 7: it has ended, or never existed'],
  [{ kind: 'not_configured' }, 409, 'sessions do not move: the configuration has no section `moves`'],
  [{ kind: 'silent_worker', worker: 2 }, 503, 'worker 2 does not answer: session 7 may still move'],
])('a move that nobody made: %j', async (given, status, error) => {
  moveResult = given;
  expect(await ask('/sessions/7/move', 'POST')).toEqual({ status, body: { api_version: 1, error } });
});

test('an id that is no number, and a kill by GET, reach no session', async () => {
  expect(await ask('/sessions/all/kill', 'POST')).toMatchObject({ status: 400 });
  expect(await ask('/sessions/7/kill')).toMatchObject({ status: 405 });
  expect(killed).toEqual([]);
});
