// The commands that take several addresses in --admin, against two admin servers over real sockets, and a port where
// nothing listens.
import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAdmin, type Admin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import type { CliIo } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { SessionEntry } from '../../../src/reports/session-list.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { answering } from '../../support/fakes/terminal.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const found = vi.hoisted((): { address: string; family: number }[] => []);
vi.mock('node:dns/promises', () => ({ lookup: () => Promise.resolve(found) }));

const TOKEN = '0123456789abcdef-operator';
const POLICY = aPolicy();
const SNAPSHOT = aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0));

interface Running {
  readonly admin: Admin;
  readonly address: string;
  readonly entries: SessionEntry[];
  readonly done: string[];
  silentWorkers: readonly number[];
}

let both: readonly Running[];
let absent: string;
let questions: string[];

beforeEach(async () => {
  both = [await start('127.0.0.1:0'), await start('127.0.0.2:0')];
  const closed = createServer();
  await new Promise<void>((resolve) => void closed.listen(0, '127.0.0.1', resolve));
  const address = closed.address();
  absent = `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  await new Promise((resolve) => void closed.close(resolve));
  questions = [];
});

afterEach(async () => {
  for (const { admin } of both) await admin.close();
  found.length = 0;
});

async function start(listen: string): Promise<Running> {
  const [host = '', port = ''] = listen.split(':');
  const [entries, done]: [SessionEntry[], string[]] = [[], []];
  const drained: string[] = [];
  const admin = createAdmin(
    adminOptions({
      address: { host, port: Number(port) },
      token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
      status: () => ({ ...statusOf(), cluster: { ...statusOf().cluster, drained } }),
      sessions: {
        list: () => Promise.resolve({ sessions: entries, total: entries.length, silentWorkers: running.silentWorkers }),
        kill: () => Promise.resolve({ kind: 'unknown' }),
        move: () => Promise.resolve({ kind: 'unknown' }),
        pools: () => ['write', 'reports'],
        members: () => ['pg-1', 'pg-2'],
        now: () => 5_000,
      },
      operations: {
        ...adminOptions().operations,
        drain(member) {
          done.push(`drain ${member}`);
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
  const running: Running = { admin, address: `${host}:${listening.address.port}`, entries, done, silentWorkers: [] };
  return running;
}

function statusOf() {
  return buildStatus({
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
}

async function cli(argv: readonly string[], given: Partial<CliIo> = {}) {
  let [out, err] = ['', ''];
  const io: CliIo = {
    env: { POINTSMAN_ADMIN_TOKEN: TOKEN, COLUMNS: '140' },
    stdout: (text) => void (out += text),
    stderr: (text) => void (err += text),
    ...given,
  };
  return { code: await runCli(argv, io, cliParts()), out: masked(out), err: masked(err) };
}

/** Ports differ from run to run. */
function masked(text: string): string {
  const names = new Map([
    ...both.map(({ address }, index) => [address, `pointsman-${index + 1}`] as const),
    [absent, 'absent'],
  ]);
  return [...names].reduce((masking, [address, name]) => masking.replaceAll(address, name), text);
}

const all = (): string => both.map(({ address }) => address).join(',');
const done = (): readonly (readonly string[])[] => both.map((one) => one.done);

test('sessions: one table, with the address in a column', async () => {
  both[0]?.entries.push(aSessionEntry({ id: 1 }), aSessionEntry({ id: 2 }));
  both[1]?.entries.push(aSessionEntry({ id: 1 }));
  const { code, out, err } = await cli(['sessions', '--admin', all()]);
  expect([code, err]).toEqual([0, '']);
  const rows = out.trimEnd().split('\n');
  expect(rows[0]).toMatch(/^ADMIN +ID +POOL/);
  expect(rows.slice(1, 4).map((row) => row.trim().split(/ +/).slice(0, 2))).toEqual([
    ['pointsman-1', '1'],
    ['pointsman-1', '2'],
    ['pointsman-2', '1'],
  ]);
  expect(rows[4]).toBe('3 sessions at 2 Pointsmen');
});

test('sessions: an address that does not answer is said, and the others are shown', async () => {
  both[0]?.entries.push(aSessionEntry({ id: 1 }));
  for (const one of both) one.silentWorkers = one === both[1] ? [2] : [];
  const { code, out, err } = await cli(['sessions', '--admin', `${all()},${absent}`]);
  expect(code).toBe(1);
  expect(out).toContain('1 session at 2 Pointsmen\n');
  expect(err).toMatch(/^pointsman: absent: no answer from absent \(.*refused.*\)\./m);
  expect(err).toContain('pointsman: pointsman-2: worker 2 did not answer: its sessions are missing\n');
  const { code: jsonCode, out: document } = await cli(['sessions', '--json', '--admin', `${all()},${absent}`]);
  expect(jsonCode).toBe(1);
  expect(JSON.parse(document)).toMatchObject({
    pointsmen: [
      { admin: 'pointsman-1', sessions: { total: 1 } },
      { admin: 'pointsman-2', sessions: { total: 0 } },
      { admin: 'absent', sessions: null },
    ],
  });
});

test('drain: the effect at each is shown, one question, then all of them', async () => {
  const { code, out, err } = await cli(['drain', 'pg-1', '--admin', all()], answering('y', questions));
  expect([code, err]).toEqual([0, '']);
  expect(questions).toEqual(['Drain pg-1 at 2 Pointsmen? [y/N] ']);
  expect(out).toMatch(/^ADMIN +ANSWER\npointsman-1 +.*pg-1 is the primary/);
  expect(done()).toEqual([['drain pg-1'], ['drain pg-1']]);
});

test('drain: without a yes nothing is changed anywhere', async () => {
  const { code, err } = await cli(['drain', 'pg-1', '--admin', all()], answering('n', questions));
  expect([code, err]).toEqual([1, 'pointsman: not confirmed, so nothing was changed\n']);
  const { code: unasked } = await cli(['drain', 'pg-2', '--admin', all()]);
  expect([unasked, done()]).toEqual([2, [[], []]]);
});

test('drain: one that does not answer is in the table, and the exit code tells it', async () => {
  const { code, out } = await cli(['drain', 'pg-2', '--admin', `${all()},${absent}`], answering('y', questions));
  expect([code, questions]).toEqual([1, ['Drain pg-2 at the 2 that can? [y/N] ']]);
  expect(out).toMatch(/^absent +no answer from absent/m);
  expect(done()).toEqual([['drain pg-2'], ['drain pg-2']]);
  const { code: none, out: nobody } = await cli(['drain', 'pg-3', '--admin', all()], answering('y', questions));
  expect([none, questions.length]).toEqual([2, 1]);
  expect(nobody).toMatch(/unknown member pg-3/);
});

test('drain --yes --json: the answer of each', async () => {
  const { code, out } = await cli(['drain', 'pg-2', '--yes', '--json', '--admin', `${all()},${absent}`]);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    pointsmen: [
      { admin: 'pointsman-1', exit_code: 0, answer: { member: 'pg-2', drained: true }, error: null },
      { admin: 'pointsman-2', exit_code: 0, answer: { member: 'pg-2', drained: true }, error: null },
      { admin: 'absent', exit_code: 1, answer: null },
    ],
  });
  const asked = await cli(['drain', 'pg-2', '--json', '--admin', all()]);
  expect([asked.code, asked.out]).toEqual([2, '']);
});

test('resume and accept go to each, without a question', async () => {
  const resumed = await cli(['resume', 'pg-2', '--admin', all()]);
  expect([resumed.code, done()]).toEqual([0, [['resume pg-2'], ['resume pg-2']]]);
  const accepted = await cli(['accept', '--admin', all()]);
  expect(accepted).toEqual({
    code: 0,
    out: expect.stringMatching(/^pointsman-1 +no primary is refused\npointsman-2 +no primary is refused$/m),
    err: '',
  });
});

test('status: the route of each pool at each of them', async () => {
  const { code, out } = await cli(['status', '--admin', all()]);
  expect(code).toBe(0);
  expect(out).toMatch(/^ADMIN +POOL +ROUTE +SESSIONS +WAITING\npointsman-1 +write +.*pg-1.*0 +0\n/);
  expect(out.match(/^pointsman-/gm)).toHaveLength(2);
  const { code: less, out: withAbsent } = await cli(['status', '--admin', `${all()},${absent}`]);
  expect(less).toBe(1);
  expect(withAbsent).toMatch(/^absent +no answer from/m);
});

test('a DNS name stands for all its addresses', async () => {
  const [first, second] = both;
  await second?.admin.close();
  const port = first?.address.split(':')[1] ?? '';
  const twin = await start(`127.0.0.2:${port}`);
  both = [first, twin].flatMap((one) => one ?? []);
  found.push(...['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 })), { address: '::1', family: 6 });
  const { code } = await cli(['resume', 'pg-2', '--admin', `pointsman.example:${port}`]);
  expect([code, done()]).toEqual([0, [['resume pg-2'], ['resume pg-2']]]);
});

test.each([
  [
    ['kill', '17'],
    /^pointsman: --admin: this command goes to one Pointsman, so name one address\. status, sessions, drain/,
  ],
  [['sessions'], /^pointsman: --admin: "b:x" is not an address: write host:port\n$/],
])('%j with a list that does not fit', async (argv, message) => {
  const { code, err } = await cli([...argv, '--admin', '127.0.0.1:1,b:x']);
  expect([code, err]).toEqual([2, expect.stringMatching(message)]);
});
