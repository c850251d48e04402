// The commands that query a running Pointsman, over real sockets: their output and their exit code.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { OwnOperationOutcome } from '../../../src/admin/endpoints/operation-endpoints.ts';
import type { Token } from '../../../src/admin/permission.ts';
import { noticesOf } from '../../../src/admin/notices.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { runCli } from '../../../src/cli/program.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { changesBetween } from '../../../src/monitor/changes.ts';
import { refusalMessage } from '../../../src/proxy/messages/refusal-message.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import {
  aList,
  aPolicy,
  aSnapshot,
  isPrimary,
  isReplica,
  poolOf,
  silent,
  aWritePool,
} from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const TOKEN = '0123456789abcdef-operator';
const NOW = 6000;
const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'replica-2');
const BEFORE = aSnapshot(POLICY, LIST, isPrimary('pg-1', 0), isReplica('replica-2', 0));
const SNAPSHOT = aSnapshot(POLICY, LIST, isPrimary('pg-1', 0), isReplica('replica-2', 5500), silent({ at: 1000 }));
const TABLE = decideRoutes(POLICY, SNAPSHOT, NOW);
const STATUS = buildStatus({
  ...STATUS_BASICS,
  version: '0',
  startedAt: 0,
  now: NOW,
  readiness: { ready: true },
  pools: POLICY.pools,
  table: TABLE,
  snapshot: SNAPSHOT,
  counts: new Map(),
});

const LOWER = { member: 'pg-1', refused_for: 'timeline', shown: 'timeline 5', expected: 'timeline 6' } as const;
const WHY = 'claims to be primary with timeline 5, but timeline 6 was seen before';

let status = STATUS;

function changed(own: Partial<StatusDocument>): StatusDocument {
  const document = { ...STATUS, ...own };
  return { ...document, notices: noticesOf(document) };
}

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  status = STATUS;
  for (const close of closing.splice(0)) await close();
});

const asked: string[] = [];

async function serve(token: Token = { kind: 'token', value: TOKEN }, outcome?: OwnOperationOutcome): Promise<string> {
  asked.length = 0;
  const does = (what: string, result: Readonly<Record<string, unknown>>): OwnOperationOutcome => {
    asked.push(what);
    return outcome ?? { kind: 'done', result };
  };
  const pools = { write: 'open on pg-1', reports: 'open on pg-3' };
  const options = adminOptions({
    status: () => status,
    token: () => Promise.resolve(token),
    operations: {
      refresh: () => does('refresh', { merged: false }),
      reload: () =>
        Promise.resolve(
          does('reload', {
            changed: ['probe.interval 1s -> 2s'],
            needs_restart: ['log.format auto -> json'],
            warnings: [],
          }),
        ),
      drain: (member) => does(`drain ${member}`, { member, drained: true, pools }),
      resume: (member) => does(`resume ${member}`, { member, drained: false, pools }),
      accept: (kind) => does(`accept ${kind}`, { member: 'pg-1', accepted: 'timeline 5 instead of timeline 6', pools }),
    },
  });
  const admin = createAdmin(options);
  closing.push(() => admin.close());
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  return `127.0.0.1:${listening.address.port}`;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command with a configuration file whose admin section is `admin`. */
async function cli(argv: readonly string[], admin = '', env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  let [out, err] = ['', ''];
  const io = {
    env: { COLUMNS: '1000', ...(admin === '' ? {} : { POINTSMAN_CONFIG: 'p.yaml' }), ...env },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: () => `cluster: { seeds: [http://pg1:8008] }\nadmin: ${admin}\n`,
  };
  const code = await runCli(argv, io, cliParts());
  return { code, out, err };
}

describe('explain', () => {
  test('the route of each pool, and the reason for each member’s standing in it', async () => {
    const address = await serve();
    const { code, out, err } = await cli(['explain'], `{ address: ${address} }`);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^cluster lab {2}timeline 1 {2}no primary +seen by ${address}, up 6 s$`)),
      '',
      'pool write (/primary): no eligible member, clients wait',
      '  pg-1       no new sessions  no answer for 5 s: no answer within 800 ms; ' +
        'last passed /primary 6 s ago; no new sessions after 5 s; existing ones close after 15 s',
      '  replica-2  is a replica     is a replica; answered 200 to /replica?lag=16MB 500 ms ago',
      '',
      'pool read (/replica?lag=16MB): open on replica-2',
      '  pg-1       no new sessions  serves an exclusive pool: pool write; answered 200 to /primary 6 s ago',
      '  replica-2  routed           answered 200 to /replica?lag=16MB 500 ms ago; ' +
        'estimated lag 0 B (limit 16 MB)',
      '',
      'ATTENTION',
      'no route   Pool write: no eligible member, clients wait.',
      'no answer  No answer: pg-1.',
      '',
    ]);
    expect([code, err]).toEqual([0, '']);
  });

  test('agrees with /status, the DETAIL of a refusal and the log line of the change', async () => {
    const address = await serve();
    const { out } = await cli(['explain', '--pool', 'write', '--admin', address]);
    const words = STATUS.members[0]?.pools['write']?.why ?? '';
    expect(words).toMatch(/^no answer for 5 s: /);
    expect(out).toContain(`  ${words}\n`);
    const facts = {
      pool: aWritePool(),
      decision: poolOf(TABLE, 'write'),
      now: NOW,
      waitedMs: 0,
      detail: undefined,
    };
    expect(refusalMessage('hold_timeout', facts).detail).toContain(`pg-1 (${words})`);
    const changes = changesBetween(decideRoutes(POLICY, BEFORE, 100), TABLE).map((event) =>
      logLine(event, true).text(),
    );
    expect(changes).toContain(`pool write: pg-1: no new sessions: ${words}`);
  });

  test('below the pools the unused members, each with the setting that would allow it', async () => {
    const why = 'PostgreSQL port 5433 is not allowed: add 5433 to cluster.allow.ports to allow it';
    const refused = [
      { name: 'pg-3', reason: 'postgres_port' as const, why },
      { name: 'replica-4', reason: 'unreadable' as const, why: '/cluster has no API URL for it' },
    ];
    status = changed({ refused_members: refused });
    const address = await serve();
    for (const pool of [[], ['--pool', 'read']]) {
      const { out } = await cli(['explain', '--admin', address, ...pool]);
      expect(out).toMatch(
        /\n\nnot used:\n {2}pg-3 {7}PostgreSQL port 5433 .*\n {2}replica-4 {2}\/cluster has no API URL for it\n\n/,
      );
    }
    const { out } = await cli(['explain', '--json', '--admin', address]);
    expect(JSON.parse(out)).toMatchObject({ refused_members: refused });
  });

  test('--json: this part of the status document', async () => {
    const address = await serve();
    const all = await cli(['explain', '--json', '--admin', address]);
    const { pools, members: known, notices } = STATUS;
    expect(JSON.parse(all.out)).toEqual({ api_version: 1, pools, refused_members: [], members: known, notices });
    const { out } = await cli(['explain', '--json', '--pool', 'read', '--admin', address]);
    const members = STATUS.members.map((member) => ({ ...member, pools: { read: member.pools['read'] } }));
    expect(JSON.parse(out)).toEqual({
      api_version: 1,
      pools: [STATUS.pools[1]],
      refused_members: [],
      members,
      notices: notices.filter(({ pool }) => pool !== 'write'),
    });
  });

  test('an unknown pool: the known ones, exit code 2', async () => {
    const { code, out, err } = await cli(['explain', '--pool', 'wriet', '--admin', await serve()]);
    expect([code, out, err]).toEqual([
      2,
      '',
      'pointsman: unknown pool wriet: did you mean write? The pools are write, read\n',
    ]);
  });
});

describe('no server', () => {
  test('the address and the remedy, exit code 1', async () => {
    const address = await serve();
    await closing.pop()?.();
    const { code, err } = await cli(['explain'], `{ address: ${address} }`);
    expect(err).toBe(
      `pointsman: no answer from ${address} (connection refused). ` +
        'Is Pointsman running with this admin.address? Use --admin HOST:PORT for another address.\n',
    );
    expect(code).toBe(1);
  });

  test.each<[string, (server: Server) => void]>([
    ['something else', (server) => server.on('request', (_, response) => response.end('<html>'))],
    ['other JSON', (server) => server.on('request', (_, response) => response.end('{"status":"up"}'))],
    ['a reset', (server) => server.on('connection', (socket) => socket.resetAndDestroy())],
  ])('%s at that address', async (_, behave) => {
    const server = createServer();
    behave(server);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => void server.close(resolve)));
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const { code, out, err } = await cli(['explain', '--admin', `127.0.0.1:${port}`]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`127.0.0.1:${port}`);
  });

  test.each([
    [['explain', '--admin', 'nonsense'], '--admin: nonsense has no port: write nonsense:PORT'],
    [['explain', '-c', 'p.yaml'], 'admin.address has port 0'],
  ])('%j is exit code 2', async (argv, message) => {
    const { code, err } = await cli(argv, '{ address: "127.0.0.1:0" }');
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  test('without a configuration the command uses the default address', async () => {
    const { err } = await cli(['explain', '--admin', '127.0.0.1:1']);
    expect(err).toContain('127.0.0.1:1 (connection refused)');
    const { err: env } = await cli(['explain'], '', { POINTSMAN_ADMIN_ADDRESS: '*:1' });
    expect(env).toContain('no answer from 127.0.0.1:1 (connection refused)');
  });
});

describe('operations', () => {
  test.each([
    [
      ['refresh'],
      'refresh',
      'MEMBER     ROLE         STATE    TL  LAG  ANSWER\n' +
        'pg-1       was primary  running   1    –  no answer within 800 ms\n' +
        'replica-2  replica      running   1  0 B  0.5 s ago\n',
    ],
    [['reload'], 'reload', 'probe.interval 1s -> 2s\nneeds a restart: log.format auto -> json\n'],
    [
      ['drain', 'pg-2'],
      'drain pg-2',
      'pg-2 drained: no new sessions until it is resumed\n  pool write    open on pg-1\n' +
        '  pool reports  open on pg-3\nit has no sessions\n',
    ],
    [
      ['resume', 'a/b c'],
      'resume a/b c',
      'a/b c resumed\n  pool write    open on pg-1\n  pool reports  open on pg-3\n',
    ],
    [
      ['accept', 'timeline'],
      'accept timeline',
      'pg-1 accepted as primary with timeline 5 instead of timeline 6\n' +
        '  pool write    open on pg-1\n  pool reports  open on pg-3\n',
    ],
  ])('%j', async (argv, what, text) => {
    const address = await serve();
    const { code, out, err } = await cli(argv, `{ address: ${address}, token: ${TOKEN} }`);
    expect([asked, code, out, err]).toEqual([[what], 0, text, '']);
  });

  test('accept alone lists the refused primaries and their remedies, and changes nothing', async () => {
    const address = await serve();
    const nothing = await cli(['accept', '--admin', address]);
    expect(nothing).toEqual({ code: 0, out: 'no primary is refused\n', err: '' });
    const refused = { ...LOWER, why: WHY, for_seconds: 40, ends_by: ['A', 'B'] };
    status = changed({ cluster: { ...STATUS.cluster, refused_primaries: [refused] } });
    const shown = await cli(['accept', '--admin', address]);
    expect(shown).toEqual({
      code: 0,
      err: '',
      out: `pg-1  ${WHY} (for 40 s)\n      ends with A\n      ends with B\n`,
    });
    expect((await cli(['explain', '--admin', address])).out).toContain(`pg-1 is refused as primary: it ${WHY}.`);
    expect(asked).toEqual([]);
  });

  test('accept without a refusal: exit code 1; of an unknown kind: 2', async () => {
    const why = 'nothing to accept: no primary is refused for its timeline';
    const address = await serve(undefined, { kind: 'refused', why });
    const { code, err } = await cli(['accept', 'timeline', '--admin', address], '', { POINTSMAN_ADMIN_TOKEN: TOKEN });
    expect([code, err]).toEqual([1, `pointsman: ${why}\n`]);
    expect((await cli(['accept', 'scope'])).code).toBe(2);
  });

  test('the token may come from the environment', async () => {
    const { code } = await cli(['refresh', '--admin', await serve()], '', { POINTSMAN_ADMIN_TOKEN: TOKEN });
    expect([asked, code]).toEqual([['refresh'], 0]);
  });

  test('without a token: the way to name one, exit code 2, and no request', async () => {
    const { code, err } = await cli(['drain', 'pg-2', '--admin', await serve()]);
    expect([asked, code]).toEqual([[], 2]);
    expect(err).toContain('admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE)');
  });

  test('a refusal: the words of the server', async () => {
    const wrong = await cli(['refresh', '--admin', await serve()], '', { POINTSMAN_ADMIN_TOKEN: `${TOKEN}x` });
    expect([wrong.code, wrong.err]).toEqual([1, 'pointsman: wrong token\n']);
    const address = await serve(undefined, { kind: 'unknown_member', known: ['pg-1'] });
    const unknown = await cli(['drain', 'pg-9', '--admin', address], '', { POINTSMAN_ADMIN_TOKEN: TOKEN });
    expect([unknown.code, unknown.err]).toEqual([
      2,
      'pointsman: unknown member pg-9: did you mean pg-1? The members are pg-1\n',
    ]);
  });

  test('a failed reload: every problem', async () => {
    const address = await serve(undefined, {
      kind: 'refused',
      why: 'nothing changed',
      problems: ['p.yaml:1: a', 'p.yaml:2: b'],
    });
    const { code, err } = await cli(['reload', '--admin', address], '', { POINTSMAN_ADMIN_TOKEN: TOKEN });
    expect([code, err]).toEqual([1, 'pointsman: nothing changed\np.yaml:1: a\np.yaml:2: b\n']);
  });

  test('a member must be named', async () => {
    const { code, err } = await cli(['drain']);
    expect(err).toBe("pointsman: missing required argument 'member'\nRun `pointsman drain --help` for usage.\n");
    expect(code).toBe(2);
  });
});
