// --dry-run sends nothing: a management API that counts, and the real control of the members' APIs.
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClusterAccess } from '../../../../src/app/cluster-access.ts';
import { runCli } from '../../../../src/cli/program.ts';
import { cliParts } from '../../../support/fakes/cli-parts.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';

const requests: string[] = [];
const servers: Server[] = [];
let port = 0;

const CONFIG = { ttl: 30, loop_wait: 10, postgresql: { parameters: { max_connections: '100' } } };
const SCHEDULE = '2099-01-31T12:00:00+00:00';

function documentFor(path: string): unknown {
  if (path === '/config') return CONFIG;
  if (path === '/history') return [];
  const own = { scheduled_restart: { schedule: SCHEDULE }, state: 'running', role: 'replica' };
  if (path !== '/cluster') return own;
  const member = (name: string, host: string, role: string) => ({
    ...own,
    name,
    role,
    state: role === 'leader' ? 'running' : 'streaming',
    api_url: `http://${host}:${port}/patroni`,
    host,
    port: 5432,
    timeline: 1,
    ...(role === 'leader' ? {} : { lag: 0 }),
  });
  return {
    scope: 'lab',
    members: [member('pg-1', '127.0.0.1', 'leader'), member('pg-2', '127.0.0.2', 'replica')],
    scheduled_switchover: { at: SCHEDULE, from: 'pg-1' },
  };
}

async function listenOn(host: string, at: number): Promise<number> {
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    response.end(request.method === 'GET' ? JSON.stringify(documentFor(request.url ?? '')) : '{}');
  });
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(at, host, resolve);
  });
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : 0;
}

beforeAll(async () => {
  port = await listenOn('127.0.0.1', 0);
  await listenOn('127.0.0.2', port);
});
afterAll(() => {
  for (const server of servers) server.close();
});
beforeEach(() => void (requests.length = 0));

async function cluster(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const io = {
    env: { EDITOR: "sed -i 's/ttl: 30/ttl: 40/'", PATH: process.env['PATH'] },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: () => 'ttl: 40\n',
  };
  const parts = cliParts({
    cluster: {
      openCluster: (config) =>
        createClusterAccess(config, { clock: systemClock, tell: () => {}, onHint: () => {} }).control(),
      now: () => new Date(),
      sleep: () => Promise.resolve(),
    },
  });
  const seeds = ['127.0.0.1', '127.0.0.2'].flatMap((host) => ['--seed', `http://${host}:${port}`]);
  const code = await runCli(['cluster', ...argv, ...seeds], io, parts);
  const [, kept] = /is kept in (\S+)/.exec(err) ?? [];
  if (kept !== undefined) await rm(dirname(kept), { recursive: true });
  return { code, out, err };
}

const CHANGES = [
  ['switchover', '--to', 'pg-2'],
  ['switchover', '--at', 'now+1h'],
  ['failover', '--to', 'pg-2'],
  ['restart', 'pg-2'],
  ['restart', '--role', 'any', '--pg-version', '18.4', '--timeout', '60'],
  ['reload'],
  ['reinit', 'pg-2', '--force'],
  ['pause'],
  ['resume'],
  ['cancel', 'switchover'],
  ['cancel', 'restart'],
  ['config', 'set', 'ttl=40'],
  ['config', 'replace', 'dynamic.yaml'],
  ['config', 'edit'],
];

describe.each([[[]], [['--yes']], [['--json']]])('--dry-run %j', (more) => {
  test.each(CHANGES.map((argv) => ({ argv, name: argv.join(' ') })))('$name', async ({ argv }) => {
    const { code, out, err } = await cluster(...argv, '--dry-run', ...more);
    expect(code, err).toBe(0);
    expect(out).toMatch(/(?:POST|PATCH|PUT|DELETE) http:|"method": "(?:POST|PATCH|PUT|DELETE)"/);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
  });
});

test('without --dry-run and with --yes the same request is sent', async () => {
  await cluster('reload', 'pg-2', '--yes');
  expect(requests.filter((request) => !request.startsWith('GET '))).toEqual(['POST /reload']);
});

test('the requests, with the API of each member', async () => {
  const { out } = await cluster('restart', '--role', 'any', '--timeout', '60', '--dry-run');
  expect(out).toMatch(
    new RegExp(
      `  POST http://127\\.0\\.0\\.2:${port}/restart\\n  \\{"timeout":60\\}\\n` +
        `  POST http://127\\.0\\.0\\.1:${port}/restart\\n  \\{"timeout":60\\}\\n$`,
    ),
  );
});
