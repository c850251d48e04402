// `pointsman sessions`, `kill`, `drain` and `resume` against an admin server over real sockets: the text, the questions
// and the exit codes.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import { runCli } from '../../../src/cli/program.ts';
import { EXIT } from '../../../src/cli/io.ts';
import type { CliIo } from '../../../src/cli/io.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { KillResult, SessionEntry, SessionQuery } from '../../../src/reports/session-list.ts';
import { firstOf, isWanted } from '../../../src/reports/session-list.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { answering, terminal } from '../../support/fakes/terminal.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';

const TOKEN = '0123456789abcdef-operator';
const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'pg-2');
const SNAPSHOT = aSnapshot(POLICY, LIST, isPrimary('pg-1', 0), isReplica('pg-2', 0));
const STATUS = buildStatus({
  ...STATUS_BASICS,
  version: '0',
  startedAt: 0,
  now: 1000,
  readiness: { ready: true },
  pools: POLICY.pools,
  table: decideRoutes(POLICY, SNAPSHOT, 1000),
  snapshot: SNAPSHOT,
  counts: new Map(),
});

let admin: Admin;
let address: string;
let entries: readonly SessionEntry[];
let silentWorkers: readonly number[];
let queries: SessionQuery[];
let done: string[];
/** Sessions on pg-1, the primary, and on pg-2: one number for each time the status is read, the last one for ever. */
let counts: Readonly<Record<'pg-1' | 'pg-2', number[]>>;
let drained: string[];
let onStatus: () => void;

beforeEach(async () => {
  entries = [
    aSessionEntry({ id: 1 }),
    aSessionEntry({ id: 2, state: 'holding', member: undefined, activity: undefined, stateSince: 3_000 }),
    aSessionEntry({ id: 100_000_000_003, activity: 'in_failed_transaction', client: '[2001:db8::1]:40000' }),
  ];
  [queries, done, drained, silentWorkers] = [[], [], [], []];
  counts = { 'pg-1': [0], 'pg-2': [0] };
  onStatus = nothing;
  admin = createAdmin(
    adminOptions({
      token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
      status: () => status(),
      sessions: {
        list(query) {
          queries.push(query);
          const wanted = entries.filter((entry) => isWanted(entry, query));
          return Promise.resolve({ sessions: firstOf(wanted, query), total: wanted.length, silentWorkers });
        },
        kill(id): Promise<KillResult> {
          done.push(`kill ${id}`);
          const session = entries.find((entry) => entry.id === id);
          if (session === undefined) return Promise.resolve({ kind: 'unknown' });
          return Promise.resolve({ kind: 'killed', session, isClientTold: id !== 2, statement: 'none' });
        },
        move: () => Promise.resolve({ kind: 'unknown' }),
        pools: () => ['write', 'reports'],
        members: () => ['pg-1', 'pg-2'],
        now: () => 5_000,
      },
      operations: {
        ...adminOptions().operations,
        drain(member) {
          done.push(`drain ${member}`);
          drained.push(member);
          return { kind: 'done', result: { member, drained: true, pools: { write: 'open on pg-1' } } };
        },
        resume(member) {
          done.push(`resume ${member}`);
          return { kind: 'done', result: { member, drained: false, was_drained: true, pools: {} } };
        },
      },
    }),
  );
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});

afterEach(() => admin.close());

function nextCount(member: 'pg-1' | 'pg-2'): number {
  const [now = 0, ...rest] = counts[member];
  if (rest.length > 0) counts[member].shift();
  return now;
}

function sessionsOn(member: 'pg-1' | 'pg-2') {
  return {
    by_state: { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 },
    by_member: { [member]: nextCount(member) },
    by_fallback: 0,
    accepted: 0,
    closed: 0,
    to_backend_bytes: 0,
    to_client_bytes: 0,
    longest_wait_seconds: 0,
  };
}

function status(): StatusDocument {
  onStatus();
  return {
    ...STATUS,
    cluster: { ...STATUS.cluster, drained },
    pools: STATUS.pools.map((pool) => ({ ...pool, sessions: sessionsOn(pool.exclusive ? 'pg-1' : 'pg-2') })),
  };
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cli(argv: readonly string[], given: Partial<CliIo> = {}): Promise<Ran> {
  let [out, err] = ['', ''];
  const io: CliIo = {
    env: { POINTSMAN_ADMIN_TOKEN: TOKEN, POINTSMAN_ADMIN_ADDRESS: address },
    stdout: (text) => void (out += text),
    stderr: (text) => void (err += text),
    ...given,
  };
  return { code: await runCli(argv, io, cliParts()), out, err };
}

const nothing = (): void => {};
const lines = (text: string): readonly string[] => text.trimEnd().split('\n');

describe('sessions', () => {
  test('a table that fits 80 columns', async () => {
    const { code, out, err } = await cli(['sessions']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatchInlineSnapshot(`
      "          ID  POOL   MEMBER  APPLICATION  STATE               SINCE
                 1  write  pg-1    orders       idle                  5 s
                 2  write  -       orders       holding               2 s
      100000000003  write  pg-1    orders       failed transaction    5 s
      3 sessions
      "
    `);
    expect(lines(out).every((line) => line.length <= 80)).toBe(true);
  });

  test('a wide terminal shows more', async () => {
    const { out } = await cli(['sessions'], { ...terminal(200), env: { ...wide(), NO_COLOR: '1' } });
    expect(lines(out)[0]).toMatch(/DATABASE +APPLICATION +STATE +SINCE +AGE +HELD +IN +OUT +TLS +LISTENER$/);
    expect(lines(out)[1]).toContain('shop');
  });

  test('filters, and the number of sessions that the limit left out', async () => {
    const { out } = await cli(['sessions', '--pool', 'write', '--client', '10.0.0.5', '--limit', '1']);
    expect(queries).toEqual([{ pool: 'write', client: '10.0.0.5', limit: 1 }]);
    expect(lines(out).at(-1)).toBe('2 sessions, the 1 oldest are shown: --limit shows more, filters show fewer');
    await cli(['sessions', '--member', 'pg-1', '--state', 'relaying']);
    expect(queries.at(-1)).toEqual({ member: 'pg-1', state: 'relaying', limit: 100 });
  });

  test('--json prints the document alone', async () => {
    const { out } = await cli(['sessions', '--json', '--state', 'holding']);
    expect(JSON.parse(out)).toMatchObject({ api_version: 1, total: 1, left_out: 0, sessions: [{ id: 2 }] });
  });

  test('a silent worker: its sessions are missing, exit code 1', async () => {
    silentWorkers = [2];
    const { code, err } = await cli(['sessions']);
    expect([code, err]).toEqual([1, 'pointsman: worker 2 did not answer: its sessions are missing\n']);
  });

  test.each([
    [['--limit', '5000'], /^pointsman: --limit: 5000 is not a number from 1 to 1000\n$/],
    [['--client', 'foo'], /^pointsman: --client: foo is not an address, or an address with its port\n$/],
    [['--pool', 'nope'], /unknown pool nope: the pools are write, reports/],
    [['--member', 'pg2'], /unknown member pg2: did you mean pg-2\? The members are pg-1, pg-2/],
    [['--state', 'asleep'], /Allowed choices are startup, holding, dialing, relaying, parked, moving, closing/],
  ])('%j is wrong usage', async (argv, text) => {
    entries = [];
    expect(await cli(['sessions'])).toEqual({ code: 0, out: 'no sessions\n', err: '' });
    const ran = await cli(['sessions', ...argv]);
    expect([ran.code, ran.out]).toEqual([2, '']);
    expect(ran.err).toMatch(text);
  });

  test('without a token: the way to give one, exit code 2', async () => {
    const { code, err } = await cli(['sessions'], { env: { POINTSMAN_ADMIN_ADDRESS: address } });
    expect(code).toBe(2);
    expect(err).toContain('admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE)');
  });
});

const wide = (): Record<string, string> => ({ POINTSMAN_ADMIN_TOKEN: TOKEN, POINTSMAN_ADMIN_ADDRESS: address });

describe('kill', () => {
  test('shows the session, asks, and says what becomes of its client and its statement', async () => {
    const questions: string[] = [];
    const { code, out } = await cli(['kill', '1'], answering('y', questions));
    expect([code, done, questions]).toEqual([0, ['kill 1'], ['End this session? [y/N] ']]);
    expect(out).toContain('10.0.0.5:51234');
    expect(lines(out).at(-1)).toBe('session 1 ended: its client was told why; no statement was running');
  });

  test('several at once, each once; --yes asks nothing', async () => {
    const { code, out } = await cli(['kill', '1', '2', '1', '--yes']);
    expect([code, done]).toEqual([0, ['kill 1', 'kill 2']]);
    expect(out).toContain('session 2 ended: its client could not be told why');
  });

  test.each([
    ['declined', ['kill', '1'], answering('n'), 1],
    ['where nobody can be asked', ['kill', '1'], {}, 2],
    ['--dry-run', ['kill', '1', '--dry-run'], {}, 0],
    ['no number', ['kill', '1', 'all', '--yes'], {}, 2],
    ['an unknown id', ['kill', '99', '--yes'], {}, 1],
  ] as const)('%s: nothing is ended', async (_, argv, given, code) => {
    expect((await cli(argv, given)).code).toBe(code);
    expect(done).toEqual([]);
  });

  test('an unknown id among others: these are ended, exit code 1', async () => {
    const { code, err } = await cli(['kill', '99', '1', '--yes']);
    expect([code, err, done]).toEqual([1, 'pointsman: no session 99: it has ended, or never existed\n', ['kill 1']]);
    expect(JSON.parse((await cli(['kill', '99', '--yes', '--json'])).out)).toEqual({ api_version: 1, results: [] });
  });
});

describe('drain', () => {
  test('a replica: without a question; the sessions on it are counted', async () => {
    counts['pg-2'].unshift(40);
    expect(await cli(['drain', 'pg-2'])).toEqual({
      code: 0,
      out:
        'pg-2 drained: no new sessions until it is resumed\n  pool write  open on pg-1\n' +
        '40 sessions end between two transactions (on_leave.operator: drain)\n',
      err: '',
    });
  });

  test('the primary: the number of clients that will wait, and a question', async () => {
    counts['pg-1'].unshift(12);
    const questions: string[] = [];
    const { code } = await cli(['drain', 'pg-1'], answering('yes', questions));
    expect(questions).toEqual(['pg-1 is the primary: 12 clients will wait. Drain it? [y/N] ']);
    expect([code, done]).toEqual([0, ['drain pg-1']]);
  });

  test.each([
    ['declined', answering(''), [], 1],
    ['where nobody can be asked', {}, [], 2],
    ['--dry-run', {}, ['--dry-run'], 0],
  ] as const)('the primary, %s: nothing is drained', async (_, given, argv, code) => {
    const ran = await cli(['drain', 'pg-1', ...argv], given);
    expect([ran.code, done]).toEqual([code, []]);
  });

  test('--dry-run of a drain and of a resume', async () => {
    counts['pg-1'].unshift(1);
    const primary = await cli(['drain', 'pg-1', '--dry-run']);
    expect(primary.out).toBe(
      'pg-1 is the primary: 1 client will wait\n' +
        'no new session would go to pg-1; 1 session ends at once (on_leave.operator: close)\n',
    );
    expect((await cli(['resume', 'pg-2', '--dry-run'])).out).toBe('pg-2 is not drained\n');
    expect((await cli(['resume', 'pg-9', '--dry-run'])).code).toBe(2);
    drained = ['pg-2'];
    expect((await cli(['resume', 'pg-2', '--dry-run'])).out).toBe('pg-2 would be resumed\n');
    expect(done).toEqual([]);
  });

  test('--wait: until no session is left; on a terminal one line shows how many remain', async () => {
    counts['pg-2'].unshift(3, 2, 1);
    const { code, out, err } = await cli(['drain', 'pg-2', '--wait'], terminal(80));
    expect(code).toBe(0);
    expect(err).toContain('\r\u001b[K2 sessions remain on pg-2, waiting for 0 s\r\u001b[K1 session remains on pg-2');
    expect(err.endsWith('\r\u001b[K')).toBe(true);
    expect(lines(out).at(-1)).toMatch(/^no session is left on pg-2 \(after [\d.]+ m?s\)$/);
  });

  test('--timeout: sessions remain, the member stays drained, exit code 1', async () => {
    counts['pg-2'].splice(0, 1, 2);
    const { code, err } = await cli(['drain', 'pg-2', '--timeout', '1ms']);
    expect(code).toBe(1);
    expect(lines(err).at(-1)).toBe('pointsman: 2 sessions remain on pg-2 after 1 ms; it stays drained');
    expect(done).toEqual(['drain pg-2']);
  });

  test('the primary without a token: no question, exit code 2', async () => {
    const questions: string[] = [];
    const { code, err } = await cli(['drain', 'pg-1'], {
      ...answering('y', questions),
      env: { POINTSMAN_ADMIN_ADDRESS: address },
    });
    expect([code, questions, done]).toEqual([2, [], []]);
    expect(err).toContain('this command needs the admin token');
  });

  test('no answer while it waits: the member stays drained, unless Pointsman has ended', async () => {
    counts['pg-2'].splice(0, 1, 2);
    onStatus = () => {
      if (done.length > 0) throw new Error('broken');
    };
    const { code, err } = await cli(['drain', 'pg-2', '--wait']);
    expect([code, lines(err).at(-1)]).toEqual([1, 'pointsman: pg-2 stays drained unless Pointsman has ended']);
  });

  test('Ctrl-C: the member stays drained, and the way to undo it', async () => {
    counts['pg-2'].splice(0, 1, 2);
    let interrupt: (code: number) => void = nothing;
    let reads = 0;
    onStatus = () => {
      reads += 1;
      if (reads === 3) interrupt(EXIT.interrupted);
    };
    let listeners = 0;
    const onInterrupt: CliIo['onInterrupt'] = (listener) => {
      interrupt = listener;
      listeners += 1;
      return () => void (listeners -= 1);
    };
    const { code, err } = await cli(['drain', 'pg-2', '--wait'], { onInterrupt });
    const text = 'interrupted: pg-2 stays drained, 2 sessions remain; undo it with: pointsman resume pg-2';
    expect([code, lines(err).at(-1), listeners]).toEqual([130, `pointsman: ${text}`, 0]);
  });

  test('resumed by somebody else meanwhile', async () => {
    counts['pg-2'].splice(0, 1, 2);
    onStatus = () => {
      if (done.length > 0) drained = [];
    };
    const { code, err } = await cli(['drain', 'pg-2', '--wait']);
    expect([code, err]).toEqual([1, 'pointsman: pg-2 is not drained any more\n']);
  });

  test('a timeout that is no duration', async () => {
    const { code, err } = await cli(['drain', 'pg-2', '--wait', '--timeout', '60']);
    expect(code).toBe(2);
    expect(err).toContain('60 has no unit: write 60s or 60ms');
    expect(done).toEqual([]);
  });
});
