// The rows of each SHOW.
import { describe, expect, test } from 'vitest';
import type { SessionDocument } from '../../../src/documents/sessions-document.ts';
import type { Value } from '../../../src/wire/messages/server-messages.ts';
import { SHOWS } from '../../../src/console/shows/shows.ts';
import { BRANCHES, SESSION, SESSIONS, STATUS, aConsoleSources } from '../../support/values/console.ts';

type Row = Readonly<Record<string, Value | undefined>>;

async function rowsOf(name: string, sources = aConsoleSources()): Promise<readonly Row[]> {
  const show = SHOWS.get(name);
  if (show === undefined) throw new Error(`no SHOW ${name}`);
  const { rows } = await show.read(sources);
  return rows.map((row) => Object.fromEntries(show.columns.map((column, at) => [column.name, row[at]])));
}

const READ: SessionDocument['read'] = {
  age_seconds: 1.25,
  scope: 'cluster',
  member: 'pg-2',
  reason: 'primary_unproven',
  why: 'No primary is proven.',
  primary: null,
  must_show: null,
  behind_bytes: null,
  late: true,
};

function withMoves(moves: SessionDocument['moves']): SessionDocument {
  return { ...SESSION, ...(moves && { moves }) };
}

test.each([...SHOWS])('SHOW %s: no column is there twice, and every row has all', async (name, { columns, read }) => {
  const names = columns.map((column) => column.name);
  expect(new Set(names).size).toBe(names.length);
  const table = await read(aConsoleSources());
  expect(table.rows.length).toBeGreaterThan(0);
  for (const row of table.rows) expect([name, row.length]).toEqual([name, names.length]);
});

test('a pool: who is served, who waits, who logs in at a server', async () => {
  const [write, read] = await rowsOf('POOLS');
  expect(write).toMatchObject({
    database: 'write',
    user: '*',
    cl_active: 4,
    cl_waiting: 5,
    sv_active: 4,
    sv_login: 3,
    sv_idle: 0,
    maxwait: 2,
    maxwait_us: 375_000,
    pool_mode: 'session',
    cl_login: 1,
    cl_closing: 5,
    check: '/primary',
    route: 'open',
    members: 'pg-1',
    why: 'pg-1 serves',
  });
  expect(read).toMatchObject({ database: 'read', cl_active: 0, maxwait: 0, maxwait_us: 0, route: 'hold', members: '' });
});

describe('statistics', () => {
  test('bytes and connections are numbers, statements are unknown', async () => {
    const known = { accepted: 100, closed: 85 };
    const [stats] = await rowsOf('STATS');
    expect(stats).toMatchObject({ ...known, total_received: 2 ** 40, total_sent: 12, total_xact_count: null });
    const [totals] = await rowsOf('STATS_TOTALS');
    expect(totals).toMatchObject({ ...known, bytes_received: 2 ** 40, bytes_sent: 12, query_count: null });
  });

  test('of a pool without counts they are unknown too', async () => {
    expect((await rowsOf('STATS'))[1]).toMatchObject({ total_received: null, accepted: null });
  });
});

test('databases: a row for each member of a route; a pool that holds is paused', async () => {
  const rows = await rowsOf('DATABASES');
  expect(rows).toMatchObject([
    { name: 'write', host: '10.0.0.1', port: 5432, current_connections: 7, current_client_connections: 15, paused: 0 },
    { name: 'read', host: null, port: null, current_connections: 0, paused: 1, disabled: 0, member: null },
  ]);
});

test('databases: of a pool with `balance: latency` the sentence of each member', async () => {
  const [write, ...others] = STATUS.pools;
  const summary = 'replies in 400 ms; new sessions at 1.3 % of its weight';
  const latency = { 'pg-1': { request_seconds: 0.4, login_seconds: null, share: 0.013, last_seconds: 0, summary } };
  const measured = write?.sessions && { ...write, sessions: { ...write.sessions, latency } };
  const pools = [...(measured ? [measured] : []), ...others];
  const sources = aConsoleSources({ status: async () => ({ ...STATUS, pools }) });
  expect(await rowsOf('DATABASES', sources)).toMatchObject([{ latency: summary }, { latency: null }]);
  expect(await rowsOf('DATABASES')).toMatchObject([{ latency: null }, { latency: null }]);
});

test('lists are counts', async () => {
  const lists = Object.fromEntries((await rowsOf('LISTS')).map(({ list, items }) => [list, items]));
  expect(lists).toMatchObject({ pools: 2, databases: 2, used_clients: 15, login_clients: 1, used_servers: 4 });
  expect(lists).toMatchObject({ members: 1, workers: 0 });
});

test('members', async () => {
  expect(await rowsOf('MEMBERS')).toMatchObject([
    {
      name: 'pg-1',
      role: 'primary',
      postgres: '10.0.0.1:5432',
      sessions: 7,
      pools: 'write=open read=leave',
      drained: 'no',
      pending_restart: 'yes',
      last_answer_age: 0.25,
      failing: null,
    },
  ]);
});

test('branches, as GET /branches has them, and an outage of their list as a notice', async () => {
  expect(await rowsOf('BRANCHES')).toMatchObject([
    { name: 'main', parent: null, backend: null, why_no_backend: 'it is a root (production)' },
    { name: 'pr-1', parent: 'main', behind_parent_bytes: 4096, written_bytes: 2048, sessions: 3 },
  ]);
  const failing = { failure: 'timeout', why: 'no answer within 5 s', for_seconds: 60 } as const;
  const trouble = { ...BRANCHES, failing, silent_workers: [2] };
  const shown = await SHOWS.get('BRANCHES')?.read(aConsoleSources({ branches: () => Promise.resolve(trouble) }));
  expect(shown?.notice).toBe(
    'the list of branches cannot be read: no answer within 5 s; this is the last one; ' +
      'workers that do not answer, with sessions of their own: 2',
  );
  const none = await SHOWS.get('BRANCHES')?.read(aConsoleSources({ branches: () => Promise.resolve(undefined) }));
  expect([none?.rows, none?.notice]).toEqual([[], 'no branches are configured']);
});

describe('sessions', () => {
  test('one by one, as GET /sessions has them', async () => {
    expect(await rowsOf('SESSIONS')).toMatchObject([
      { id: 2 ** 40, pool: 'write', member: 'pg-1', client: '10.0.0.9:51234', state: 'relaying', age: 60, held: 0 },
      { id: 2, member: null, user: null, state: 'holding', held: 2.25, to_backend_bytes: 2 ** 33 },
    ]);
  });

  test('with their moves: how often, the last gap, why one stays, and what a parked one waits for', async () => {
    const last = { from: 'pg-2', to: 'pg-1', cause: 'switchover', gap_ms: 83, aborted: false, age_seconds: 4 };
    const stays = { movable: false, reason: 'listening', detail: 'jobs', age_seconds: 1 };
    const moves = { movable: true, reason: null, detail: null, age_seconds: 1 };
    const why = { waits_for: 'a route: no eligible member', why: null };
    const underway = { from: 'pg-1', cause: 'switchover', age_seconds: 2, waiting: true, ...why };
    const sessions = [
      withMoves({ moved: 2, last, answer: stays, underway: null }),
      withMoves({ moved: 0, last: null, answer: moves, underway: null }),
      withMoves({ moved: 0, last: null, answer: null, underway: null }),
      { ...withMoves({ moved: 0, last: null, answer: moves, underway }), member: null, state: 'parked' as const },
      SESSION,
      { ...SESSION, read: READ },
    ];
    const sources = aConsoleSources({ sessions: () => Promise.resolve({ ...SESSIONS, sessions }) });
    const none = { moves: 0, last_gap: null, left_member: null, waits_for: null };
    expect(await rowsOf('SESSIONS', sources)).toMatchObject([
      { ...none, moves: 2, last_gap: 0.083, can_move: 'no', stays: 'listening' },
      { ...none, can_move: 'yes', stays: null },
      { ...none, can_move: null, stays: null },
      { member: null, can_move: 'yes', left_member: 'pg-1', waits_for: 'a route: no eligible member' },
      { ...none, moves: null, can_move: null, stays: null },
      { waits_for: 'No primary is proven.' },
    ]);
  });

  test('as clients: the addresses, the times, and the wait of those that wait', async () => {
    const [served, waiting] = await rowsOf('CLIENTS');
    const common = {
      type: 'C',
      database: 'write',
      local_addr: '127.0.0.1',
      local_port: 6432,
      startup_database: 'shop',
    };
    const still = { state: 'active', wait: 0, wait_us: 0, tls: '', application_name: 'psql' };
    expect(served).toMatchObject({ ...common, ...still, addr: '10.0.0.9', port: 51234, link: 'pg-1', user: 'app' });
    expect(served?.['connect_time']).toMatch(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    expect(waiting).toMatchObject({ ...common, addr: '::1', state: 'waiting', wait: 2, wait_us: 250_000, link: '' });
  });

  test('of a Unix socket: the address is unix, as PgBouncer has it, and the socket is the local one', async () => {
    const sessions = [{ ...SESSION, client: '[local]', listener: '/run/pointsman:6432' }];
    const sources = aConsoleSources({ sessions: () => Promise.resolve({ ...SESSIONS, sessions }) });
    const shown = { addr: 'unix', port: null, local_addr: '/run/pointsman', local_port: 6432 };
    expect(await rowsOf('CLIENTS', sources)).toMatchObject([shown]);
  });

  test('as servers: those with a member, at its address', async () => {
    expect(await rowsOf('SERVERS')).toMatchObject([
      { type: 'S', addr: '10.0.0.1', port: 5432, local_addr: null, state: 'active', ptr: String(2 ** 40) },
    ]);
  });

  test('that are missing are told', async () => {
    const missing = { ...SESSIONS, total: 7, left_out: 5, silent_workers: [2, 3] };
    const sources = aConsoleSources({ sessions: () => Promise.resolve(missing) });
    for (const name of ['SESSIONS', 'CLIENTS', 'SERVERS']) {
      const notice = (await SHOWS.get(name)?.read(sources))?.notice;
      expect(notice).toContain('5 of 7 sessions are left out, the newest ones: pointsman sessions has filters; ');
      expect(notice).toContain('workers that do not answer, with sessions of their own: 2, 3');
    }
    expect(await SHOWS.get('SESSIONS')?.read(aConsoleSources())).not.toHaveProperty('notice');
  });
});

test('the configuration, the version and the help', async () => {
  expect(await rowsOf('CONFIG')).toEqual([{ key: 'probe.rise', value: '2', default: '1', changeable: 'yes' }]);
  expect(await rowsOf('VERSION')).toEqual([{ version: 'Pointsman 1.2.3' }]);
  expect((await rowsOf('HELP')).map(({ statement }) => statement)).toEqual([...SHOWS.keys()].map((n) => `SHOW ${n}`));
});
