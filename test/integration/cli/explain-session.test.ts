// `pointsman explain SESSION`, and the moves and the order in `pointsman sessions`, against an admin server over real
// sockets.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { runCli } from '../../../src/cli/program.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';
import type { SessionEntry, SessionMoves } from '../../../src/reports/session-list.ts';
import { firstOf, isWanted } from '../../../src/reports/session-list.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { terminal } from '../../support/fakes/terminal.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';

const TOKEN = '0123456789abcdef-operator';
const MOVED: NonNullable<SessionMoves['last']> = {
  from: 'pg-1',
  to: 'pg-2',
  cause: 'switchover',
  gapMs: 83.4,
  at: 3_000,
};

const READ: NonNullable<SessionEntry['read']> = {
  since: 4_700,
  scope: 'cluster',
  member: 'pg-2',
  reason: 'behind',
  primary: 'pg-1',
  mustShow: { position: 2 ** 32 + 0x4016090, timeline: 5 },
  behindBytes: 1_258_291,
  isLate: false,
  why: 'pg-2 is 1.2 MB behind pg-1.',
};

const NOT_ASKED =
  'not asked yet whether it can move: pointsman switchover --dry-run asks all of the primary, ' +
  'pointsman sessions move 17 moves this one';
const STAYS = 'it ends when its server changes; remedy: ';

let admin: Admin;
let address: string;
let entries: readonly SessionEntry[];
let recent: RecentEvents;

beforeEach(async () => {
  entries = [];
  recent = new RecentEvents({ ids: new EventIds('r1'), wallClock: () => 0 });
  admin = createAdmin(
    adminOptions({
      events: recent,
      token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
      sessions: {
        ...adminOptions().sessions,
        list: (query) => {
          const wanted = entries.filter((entry) => isWanted(entry, query));
          return Promise.resolve({ sessions: firstOf(wanted, query), total: wanted.length, silentWorkers: [] });
        },
        now: () => 5_000,
      },
    }),
  );
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});

afterEach(() => admin.close());

async function cli(argv: readonly string[], more: object = {}) {
  let [out, err] = ['', ''];
  const env = { POINTSMAN_ADMIN_TOKEN: TOKEN, POINTSMAN_ADMIN_ADDRESS: address, NO_COLOR: '1' };
  const io = {
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    ...more,
    env,
  };
  return { code: await runCli(argv, io, cliParts()), out, err };
}

const relayed = (moves?: SessionMoves): SessionEntry =>
  aSessionEntry({ id: 17, member: 'pg-2', ...(moves !== undefined && { moves }) });

test.each<[string, SessionEntry, readonly string[]]>([
  [
    'it has moved, and its server says that it can move again',
    relayed({ moved: 2, last: MOVED, found: { movability: { kind: 'movable' }, at: 4_500 } }),
    [
      'idle on pg-2 for 5 s',
      'moved 2 times, the last time from pg-1 to pg-2 2 s ago (switchover), 83 ms without a server',
      'it can move, by the answer of its server 500 ms ago',
    ],
  ],
  [
    'its server names what keeps it',
    relayed({ moved: 0, found: { movability: { kind: 'pinned', reason: 'listening', detail: 'jobs' }, at: 4_000 } }),
    [
      'idle on pg-2 for 5 s',
      'it cannot move, because it listens (jobs), by the answer of its server 1 s ago',
      `${STAYS}a session of its own for LISTEN`,
    ],
  ],
  [
    'known without a question',
    relayed({ moved: 1, last: MOVED, found: { movability: { kind: 'pinned', reason: 'authentication' } } }),
    [
      'idle on pg-2 for 5 s',
      'moved once from pg-1 to pg-2 2 s ago (switchover), 83 ms without a server',
      'it cannot move, because it has a login that cannot be repeated',
      `${STAYS}SCRAM-SHA-256, and moves.verifiers`,
    ],
  ],
  ['not asked yet', relayed({ moved: 0 }), ['idle on pg-2 for 5 s', NOT_ASKED]],
  [
    'not asked yet, in a transaction',
    { ...relayed({ moved: 0 }), activity: 'in_transaction' },
    ['in transaction on pg-2 for 5 s', 'not asked yet whether it can move: it is asked between two transactions'],
  ],
  [
    'parked, and its next server is full',
    aSessionEntry({
      id: 17,
      member: undefined,
      state: 'parked',
      activity: undefined,
      stateSince: 2_000,
      moves: {
        moved: 0,
        found: { movability: { kind: 'movable' }, at: 2_000 },
        underway: {
          from: 'pg-1',
          cause: 'demoted',
          leftAt: 1_000,
          isWaiting: true,
          waitsFor: 'its next attempt',
          why: 'pg-2: too many clients already',
        },
      },
    }),
    [
      'parked for 4 s: it has left pg-1 (demoted) and waits for its next attempt; the last attempt failed: ' +
        'pg-2: too many clients already; its client has sent a statement and waits',
      'it can move, by the answer of its server 3 s ago',
    ],
  ],
  [
    'on its way: it is logged in at its next server',
    aSessionEntry({
      id: 17,
      member: 'pg-2',
      state: 'moving',
      activity: undefined,
      stateSince: 4_950,
      moves: { moved: 0, underway: { from: 'pg-1', cause: 'switchover', leftAt: 0, isWaiting: false } },
    }),
    [
      'moving for 5 s: it has left pg-1 (switchover) and logs in at pg-2; ' +
        'its client has sent nothing and notices nothing',
      NOT_ASKED,
    ],
  ],
  [
    'it is ending',
    {
      ...relayed({ moved: 0, found: { movability: { kind: 'movable' }, at: 0 } }),
      state: 'closing',
      activity: undefined,
    },
    ['closing on pg-2 for 5 s'],
  ],
  [
    'its read waits for its server',
    { ...relayed({ moved: 0, found: { movability: { kind: 'movable' }, at: 0 } }), read: READ },
    [
      'idle on pg-2 for 5 s',
      'its read has waited for 300 ms. pg-2 is 1.2 MB behind pg-1. It waits for 1/4016090 on timeline 5.',
      'it can move, by the answer of its server 5 s ago',
    ],
  ],
  [
    'its read is late, because no primary is proven',
    {
      ...relayed(),
      read: { ...READ, scope: 'proxy', isLate: true, mustShow: undefined, why: 'No primary is proven.' },
    },
    [
      'idle on pg-2 for 5 s',
      'its read is late: it has waited for 300 ms. No primary is proven. Its pool has causal_reads.scope: proxy.',
      'it does not move: the configuration had no section moves when it began',
    ],
  ],
  [
    'without moves',
    relayed(),
    ['idle on pg-2 for 5 s', 'it does not move: the configuration had no section moves when it began'],
  ],
  [
    'on a branch',
    { ...relayed(), member: undefined, branch: { id: 'b1', name: 'pr-1' } },
    ['idle on branch pr-1 for 5 s', 'it does not move: it is on a branch'],
  ],
  [
    'inside TLS with its server',
    { ...relayed(), tls: 'passthrough', activity: undefined },
    [
      'relaying on pg-2 for 5 s',
      'it cannot move: encryption is between client and server; remedy: client.tls.mode: terminate',
    ],
  ],
])('%s', async (_, entry, said) => {
  entries = [aSessionEntry({ id: 3 }), entry];
  const { code, out, err } = await cli(['explain', '17']);
  expect([code, err]).toEqual([0, '']);
  const [first, ...others] = out.trimEnd().split('\n');
  expect(first).toBe('session 17 of pool write: 10.0.0.5:51234, user app, database shop');
  expect(others).toEqual(said);
});

test('--json is the session as GET /sessions has it', async () => {
  entries = [relayed({ moved: 1, last: MOVED })];
  const { out } = await cli(['explain', '17', '--json']);
  const last = { from: 'pg-1', to: 'pg-2', cause: 'switchover', gap_ms: 83, age_seconds: 2 };
  expect(JSON.parse(out)).toMatchObject({ id: 17, moves: { moved: 1, last, answer: null, underway: null } });
});

test.each(['10.0.0.5:51234', '[::ffff:10.0.0.5]:51234'])('explain %s: the session of this client', async (client) => {
  entries = [aSessionEntry({ id: 3, client: '10.0.0.5:51235' }), relayed()];
  const { code, out } = await cli(['explain', client]);
  expect([code, out]).toEqual([0, expect.stringMatching(/^session 17 of pool write: 10\.0\.0\.5:51234, /)]);
});

function end(session: number, client: string, text: string): void {
  recent.add({ level: 'info', fields: { event: 'session_closed', session, client }, text, number: session });
}

test.each([
  ['18', 'session 18'],
  ['10.0.0.5:51234', 'session of 10.0.0.5:51234'],
])('explain %s, of a session that has ended: its end, if the events still have it', async (what, subject) => {
  const err = `pointsman: no ${subject}: it has ended, or never existed\n`;
  expect(await cli(['explain', what])).toEqual({ code: 1, out: '', err });
  end(18, '10.0.0.5:51234', 'session 18: killed_by_operator');
  end(19, '10.0.0.5:51235', 'session 19: idle_timeout');
  const out = '01-01 00:00:00Z  info   session 18: killed_by_operator\n';
  expect(await cli(['explain', what])).toEqual({ code: 1, out, err });
});

test('a pool is no part of one session', async () => {
  const err = expect.stringMatching(/^pointsman: --pool is for all members, not for one session\n/);
  expect(await cli(['explain', '17', '--pool', 'write'])).toMatchObject({ code: 2, out: '', err });
});

test.each(['app', '10.0.0.5', '10.0.0.5:x', '::1:51234:x'])('explain %s: wrong usage', async (what) => {
  const forms = 'give an id, or ADDRESS:PORT of a client, as `pointsman sessions` and the log show them';
  expect(await cli(['explain', what])).toEqual({
    code: 2,
    out: '',
    err: `pointsman: ${what} is not a session: ${forms}\n`,
  });
});

test('--json and the list have the read that waits', async () => {
  entries = [{ ...relayed(), read: READ }];
  const { out } = await cli(['explain', '17', '--json']);
  expect(JSON.parse(out)).toMatchObject({
    read: {
      age_seconds: 0.3,
      member: 'pg-2',
      reason: 'behind',
      primary: 'pg-1',
      must_show: { lsn: '1/4016090', timeline: 5 },
      behind_bytes: 1_258_291,
      late: false,
    },
  });
  expect((await cli(['sessions'], terminal(60))).out).toMatch(/^17 .*pg-2 .*read waits +300 ms/m);
});

test('the list has a column of moves where a session may move', async () => {
  entries = [
    relayed({ moved: 0, found: { movability: { kind: 'movable' }, at: 0 } }),
    { ...relayed({ moved: 0, found: { movability: { kind: 'pinned', reason: 'temporary_objects' } } }), id: 18 },
    { ...relayed({ moved: 0 }), id: 20 },
    { ...relayed(), id: 21 },
  ];
  const { out } = await cli(['sessions'], terminal(200));
  const lines = out.split('\n');
  const column = lines[0]?.indexOf('MOVES') ?? -1;
  expect(lines.slice(1, 5).map((line) => line.slice(column).split(/ {2,}/)[0])).toEqual([
    'yes',
    'temporary objects',
    'not asked',
    '-',
  ]);
});

test('the list has the member that a session has left, also where it is narrow', async () => {
  const moves: SessionMoves = {
    moved: 0,
    underway: { from: 'pg-1', cause: 'switchover', leftAt: 0, isWaiting: false },
  };
  const way = { activity: undefined, moves };
  entries = [
    aSessionEntry({ id: 18, state: 'parked', member: undefined, ...way }),
    aSessionEntry({ id: 19, state: 'moving', member: 'pg-2', ...way }),
  ];
  const { out } = await cli(['sessions', '--member', 'pg-1'], terminal(60));
  expect(out).toMatch(/^18 .*write +pg-1 → +parked /m);
  expect(out).toMatch(/^19 .*write +pg-1 → pg-2 .* moving /m);
});

test('--sort: the largest first, with its columns on a narrow terminal, too', async () => {
  entries = [
    aSessionEntry({ id: 1, toClientBytes: 2048 }),
    aSessionEntry({ id: 2, toBackendBytes: 4096, toClientBytes: 1 }),
    aSessionEntry({ id: 3 }),
  ];
  const { out } = await cli(['sessions', '--sort', 'bytes', '--limit', '2']);
  const [titles, ...rows] = out.trimEnd().split('\n');
  expect(titles).toMatch(/ IN +OUT$/);
  expect(rows).toEqual([
    expect.stringMatching(/^ 2 .* 4 kB +1 B$/),
    expect.stringMatching(/^ 1 .* 0 B +2 kB$/),
    '3 sessions, the first 2 by bytes are shown: --limit shows more, filters show fewer',
  ]);
  expect(JSON.parse((await cli(['sessions', '--sort', 'in', '--json'])).out)).toMatchObject({
    sessions: [{ id: 2 }, { id: 1 }, { id: 3 }],
  });
});

test('--sort by a column that does not exist: the columns', async () => {
  const err = expect.stringContaining('Allowed choices are age, since, held, in, out, bytes.');
  expect(await cli(['sessions', '--sort', 'idle'])).toMatchObject({ code: 2, err });
});
