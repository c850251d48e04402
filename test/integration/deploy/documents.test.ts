// Every command in the documents exists. This test runs Pointsman's own commands, with the program's command line and
// against an admin server on a real socket. Each command of another program has a line below with the reason why the
// test does not run it.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import type { OwnOperationOutcome } from '../../../src/admin/endpoints/operation-endpoints.ts';
import type { CliIo, SandboxParts } from '../../../src/cli/io.ts';
import type { CheckSeeds } from '../../../src/cli/live-check.ts';
import { EXIT } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { TRAFFIC, VERBS } from '../../../src/sandbox/console/verb-list.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { aBranch, FakeSource, MAIN } from '../../support/fakes/branches-cli.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { fakeCluster } from '../../support/fakes/fake-cluster.ts';
import { commandLines, commandsIn, pointsmanArguments } from '../../support/documents/commands.ts';
import type { CommandLine } from '../../support/documents/commands.ts';
import { documents, inlineCode } from '../../support/documents/markdown.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

/** Programs in the documents that this test does not run, with the reason or the test that runs them. */
const NOT_RUN: Readonly<Record<string, string>> = {
  curl: 'test/integration/admin/operations.test.ts sends the same requests',
  docker:
    'test/e2e/image.test.ts builds and runs the image; test/integration/deploy/compose.test.ts reads the compose file',
  grep: 'reads a file of the reader',
  helm: 'test/integration/deploy/chart.test.ts renders the chart with these values',
  install: 'writes to /etc',
  openssl: 'needs a member with TLS',
  psql: 'needs a cluster; test/record-session.ts recorded deploy/try.md, test/e2e runs psql',
  systemctl: 'no systemd runs here; test/integration/deploy/units.test.ts reads the units',
};

/** npm's own commands. Commands with `run` are looked up in the manifest. */
const NPM = ['ci', 'install', 'pack', 'start', 'test'];

const DOCUMENTS = documents();
const BLOCKS = DOCUMENTS.flatMap(({ blocks }) => blocks.filter(({ language }) => /^(?:sh|console)$/.test(language)));
const LINES = BLOCKS.flatMap(commandLines);
/** Commands in the text and its tables; `…` marks a part that the reader fills in. */
const INLINE: readonly CommandLine[] = DOCUMENTS.flatMap((document) =>
  inlineCode(document)
    .filter((code) => /^(?:pointsman |npm run )/.test(code) && !code.includes('…'))
    .flatMap((code) => commandsIn(code).map((words) => ({ file: document.file, line: 0, env: {}, words }))),
);

const where = ({ file, line, words }: CommandLine): string =>
  `${file}${line === 0 ? '' : `:${line}`}: ${words.join(' ')}`;

test('every terminal session was recorded', () => {
  const typed = BLOCKS.filter(({ language, isRecorded }) => language === 'console' && !isRecorded);
  expect(typed.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});

test('every command is one of Pointsman, a script of the manifest, or of a listed program', () => {
  const unknown = [...LINES, ...INLINE].filter(({ words }) => {
    const [program = '', second = ''] = words[0] === 'time' ? words.slice(1) : words;
    if (program === '' || pointsmanArguments(words) !== undefined || Object.hasOwn(NOT_RUN, program)) return false;
    if (program === 'npm' && second === 'run') return !Object.hasOwn(manifest.scripts, scriptIn(words));
    return program !== 'npm' || !NPM.includes(second);
  });
  expect(unknown.map(where)).toEqual([]);
});

test('every program listed as not run is in some document', () => {
  const called = new Set(LINES.map(({ words }) => words[0]));
  expect(Object.keys(NOT_RUN).filter((program) => !called.has(program))).toEqual([]);
});

function scriptIn(words: readonly string[]): string {
  return words.slice(2).find((word) => !word.startsWith('-')) ?? '';
}

const done = (result: Readonly<Record<string, unknown>>): OwnOperationOutcome => ({ kind: 'done', result });
const checkSeeds: CheckSeeds = () => Promise.resolve({ scope: undefined, seeds: [], members: [], pools: [] });

/** The sources of `pointsman init` in the documents. */
const SOURCES: Readonly<Record<string, string>> = {
  '/etc/haproxy/haproxy.cfg': readFileSync('deploy/migration/haproxy.cfg', 'utf8'),
  '/etc/patroni/patroni.yml': readFileSync('deploy/compose/member/patroni.yml', 'utf8'),
};

/** These go on until Ctrl-C. */
const GOES_ON = /^top\b|--follow\b|--watch\b/;
const endAtOnce = (listener: (code: number) => void): (() => void) => {
  queueMicrotask(() => listener(EXIT.interrupted));
  return () => {};
};

const SECTIONS = `branches:
  source: storage
  storage: { url: http://pageserver:9898, tenant: t, names_file: /var/lib/pointsman/branches.json, pg_version: 17 }
  backends: { template: '{slug}.svc:5432' }
platform: { url: https://platform.internal, api_key_file: /run/secrets/platform, beta_header: vendor-beta }
`;

describe("Pointsman's commands", () => {
  const TOKEN = '0123456789abcdef-operator';
  const POLICY = aPolicy();
  const SNAPSHOT = aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0));
  const STATUS = buildStatus({
    ...STATUS_BASICS,
    version: '0',
    startedAt: 0,
    now: 0,
    readiness: { ready: true },
    pools: POLICY.pools,
    table: decideRoutes(POLICY, SNAPSHOT, 0),
    snapshot: SNAPSHOT,
    counts: new Map(),
  });
  const pools = { write: 'open on pg-1' };
  const { sessions, ...others } = adminOptions();
  const options = adminOptions({
    ...others,
    status: () => STATUS,
    sessions: { ...sessions, pools: () => ['write', 'read'], members: () => ['pg-1', 'pg-2'] },
    token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
    operations: {
      refresh: () => done({ merged: false }),
      reload: () => Promise.resolve(done({ changed: [], needs_restart: [], warnings: [] })),
      drain: (member) => done({ member, drained: true, pools }),
      resume: (member) => done({ member, drained: false, pools }),
      accept: () => done({ member: 'pg-1', accepted: 'timeline 5 instead of timeline 6', pools }),
    },
  });
  const admin = createAdmin(options);
  let address = '';
  beforeAll(async () => {
    const listening = await admin.listen();
    if (listening.kind === 'failed') throw new Error(listening.detail);
    address = `127.0.0.1:${listening.address.port}`;
  });
  afterAll(() => admin.close());

  const sandbox: SandboxParts = {
    verbs: [...VERBS, TRAFFIC],
    run: () => Promise.resolve(EXIT.ok),
    ask: () => Promise.resolve({ ok: true, text: '' }),
    sql: () => Promise.resolve({ ok: true, text: '' }),
    config: () => Promise.resolve({ ok: true, text: '' }),
  };
  const cluster = {
    openCluster: () => Promise.resolve(fakeCluster()),
    now: () => new Date(),
    sleep: () => Promise.resolve(),
  };
  const branches = { openSource: () => Promise.resolve(new FakeSource([MAIN, aBranch('masked')])) };
  const parts = cliParts({ runApp: () => Promise.resolve(EXIT.ok), checkSeeds, sandbox, cluster, branches });
  const ours = [...LINES, ...INLINE].flatMap((line) => {
    const given = pointsmanArguments(line.words);
    return given === undefined ? [] : [{ name: where(line), line, given }];
  });

  test('operate.md has every command', async () => {
    let help = '';
    const io: CliIo = { env: {}, stdout: (text) => void (help += text), stderr: () => {} };
    await runCli(['--help'], io, parts);
    const commands = [...help.replace(/^.*Commands:/s, '').matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
    const described = ours.filter(({ line }) => line.file === 'deploy/operate.md').map(({ given }) => given[0]);
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((name) => name !== 'pointsman' && !described.includes(name))).toEqual([]);
  });

  test('the documents have such commands', () => {
    expect(ours.length).toBeGreaterThan(40);
  });

  test.each(ours)('$name', async ({ line, given }) => {
    // Each placeholder of a document gets the file, the address or the member of this test.
    const argv = given.map((word) =>
      word === 'HOST:PORT'
        ? address
        : word
            .replace(/^MEMBER$/, 'pg-2')
            .replace(/^SESSION$/, '1')
            .replace(/^M$/, 'vendor-opus-5')
            .replace(/^N$/, '4000')
            .replace(/^SOURCE$/, 'http://pg-1:8008')
            .replace(/^COMMAND$/, 'run'),
    );
    let err = '';
    const io: CliIo = {
      env: { POINTSMAN_CONFIG: 'pointsman.yaml', EDITOR: 'true', ...line.env },
      stdout: () => {},
      stderr: (text) => void (err += text),
      readFile: (file) =>
        SOURCES[file] ??
        `cluster: { seeds: [http://pg-1:8008] }\nadmin: { address: ${address}, token: ${TOKEN} }\n${SECTIONS}`,
      writeFile: () => {},
      // Every question is declined.
      readLine: () => Promise.resolve(undefined),
      ...(GOES_ON.test(argv.join(' ')) && { onInterrupt: endAtOnce }),
    };
    const code = await runCli(argv, io, parts);
    expect(`${code === EXIT.usage ? 'wrong usage' : 'understood'} ${code === EXIT.usage ? err : ''}`).toBe(
      'understood ',
    );
  });
});
