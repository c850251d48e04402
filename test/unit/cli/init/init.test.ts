// The command: which kind of source it sees, what it adds from a live cluster, where it writes, and its exit codes.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { init } from '../../../../src/cli/init/init.ts';
import type { InitOptions } from '../../../../src/cli/init/init.ts';
import type { CheckSeeds, ProbedMember } from '../../../../src/cli/live-check.ts';
import type { Config } from '../../../../src/config/config.ts';
import type { Member } from '../../../../src/model/member.ts';
import { tlsFile } from '../../../support/values/tls-files.ts';

const HAPROXY = 'listen w\n bind *:5000\n option httpchk\n server a 10.0.0.11:5432 check port 8008\n';
const FILES: Record<string, string> = {
  'haproxy.cfg': HAPROXY,
  'patroni.yml': 'scope: batman\nrestapi: { connect_address: "10.0.0.11:8008" }\n',
  'notes.txt': 'hello',
};

const directories: string[] = [];
afterEach(() => {
  for (const one of directories.splice(0)) rmSync(one, { recursive: true, force: true });
});

function aFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-init-'));
  directories.push(directory);
  return join(directory, 'p.yaml');
}

function aMember(n: number, apiPort = 8008): Member {
  const host = `10.0.0.1${n}`;
  return {
    name: `pg-${n}`,
    api: { url: `http://${host}:${apiPort}`, address: { host, port: apiPort } },
    postgres: { host, port: 5432 },
    origin: 'discovered',
  };
}

const MEMBERS = [aMember(1), aMember(2), aMember(3), aMember(4, 8010)];

/** Refuses what the allow rules and the seeds do not name, one reason at a time. */
const cluster: CheckSeeds = ({ cluster: { seeds, allow } }: Config) => {
  const ports = [...allow.ports, 8008];
  const used = MEMBERS.filter(
    ({ api }) => ports.includes(api.address.port) || seeds.some(({ url }) => url === api.url),
  );
  const refused = MEMBERS.filter((member) => !used.includes(member)).map(({ name, api }) => ({
    name,
    reason: 'api_port' as const,
    why: `port ${api.address.port}`,
    remedy: { hosts: [], ports: [api.address.port] },
  }));
  const members = used.map(({ name, api }, i): ProbedMember => ({
    name,
    api: api.url,
    postgres: `${api.address.host}:5432`,
    port: 'accepts',
    role: i === 0 ? 'primary' : 'replica',
    pools: [i === 0 ? 'write' : 'read'],
    why: undefined,
  }));
  return Promise.resolve({
    scope: 'batman',
    seeds: seeds.map(({ url }) => ({
      kind: 'found',
      url,
      scope: 'batman',
      leader: 'pg-1',
      contactPoints: [],
      members: used,
      refused,
    })),
    members,
    pools: [{ name: 'write', check: '/primary', exclusive: true, members: ['pg-1'], why: 'open on pg-1' }],
  });
};

const silent: CheckSeeds = ({ cluster: { seeds } }) =>
  Promise.resolve({
    scope: undefined,
    seeds: seeds.map(({ url }) => ({ kind: 'failed', url, why: 'connection refused' })),
    members: [],
    pools: [],
  });

const mixed: CheckSeeds = async (config) => {
  const report = await cluster(config);
  return {
    ...report,
    seeds: report.seeds.map((seed, i) => (seed.kind === 'found' ? { ...seed, scope: `cluster-${i}` } : seed)),
  };
};

const never: CheckSeeds = () => Promise.reject(new Error('contacted'));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(from: string | readonly string[], more: Partial<InitOptions> = {}, check = cluster): Promise<Ran> {
  let [out, err] = ['', ''];
  const io = {
    env: {},
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: (file: string) => {
      const text = FILES[file];
      if (text === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
      return text;
    },
  };
  const code = await init({ from: [from].flat(), apiPort: '8008', ...more }, io, check);
  return { code, out, err };
}

describe('the kind of a source', () => {
  test.each([
    ['http://10.0.0.11:8008', 'the management API of a running cluster'],
    ['http+srv://_patroni._tcp.example.org', 'the management API of a running cluster'],
    ['haproxy.cfg', 'haproxy.cfg, a configuration of HAProxy'],
    ['patroni.yml', 'patroni.yml, a configuration of Patroni'],
    ['postgresql://app@pg1/app', 'a connection string of libpq'],
    ['host=pg1 dbname=app', 'a connection string of libpq'],
  ])('%s', async (from, name) => {
    const { code, out, err } = await run(from, { offline: true });
    expect([code, err]).toEqual([0, expect.stringContaining(name)]);
    expect(out).toMatch(/^# Written by pointsman init from /);
  });

  test.each([
    ['notes.txt', 'it is neither a configuration of HAProxy nor of Patroni'],
    ['gone.cfg', 'gone.cfg: cannot be read: there is no such file'],
    ['10.0.0.11:8008', 'for an API write http://10.0.0.11:8008'],
    ['pg1', 'for an API write http://pg1:8008'],
    ['http://10.0.0.11', 'has no port'],
    ['http://a:b@10.0.0.11:8008', 'credentials do not belong here'],
  ])('%s: exit code 2', async (from, message) => {
    const { code, out, err } = await run(from, { offline: true });
    expect(err).toContain(message);
    expect([code, out]).toEqual([2, '']);
  });

  test('several sources: only URLs', async () => {
    expect(await run(['haproxy.cfg', 'patroni.yml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('only URLs'),
    });
  });

  test('--kind overrides the content', async () => {
    const { code, err } = await run('notes.txt', { kind: 'haproxy' });
    expect([code, err]).toEqual([2, expect.stringContaining('nothing to convert')]);
  });

  test('--api-port must be a port', async () => {
    expect(await run('pg1', { apiPort: 'x' })).toMatchObject({ code: 2, err: expect.stringContaining('--api-port') });
  });
});

test('a live cluster adds its name, more seeds, and the rules that are still needed', async () => {
  const { code, out, err } = await run('http://10.0.0.11:8008');
  expect(out).toBe(`# Written by pointsman init from http://10.0.0.11:8008, the management API of a running cluster.
# Check it: pointsman check --live -c FILE
cluster:
  scope: batman # reported by http://10.0.0.11:8008
  seeds:
    - http://10.0.0.11:8008
    - http://10.0.0.12:8008 # pg-2
    - http://10.0.0.13:8008 # pg-3
  allow:
    ports:
      - 8010 # pg-4
# Writes: 127.0.0.1:6432, reads: 127.0.0.1:6433. For other addresses add listeners.
`);
  expect(err).toContain('pool write (/primary): open on pg-1\n');
  expect(code).toBe(0);
});

test('the scope of the source is kept', async () => {
  const { out } = await run('patroni.yml');
  expect(out).toContain('  scope: batman # patroni.yml:1\n');
});

test('with -o the report goes to standard output', async () => {
  const output = aFile();
  const { code, out, err } = await run('haproxy.cfg', { output });
  expect(out).toContain(`${output} is written, checked live. Run it: pointsman run -c ${output}\n`);
  expect(readFileSync(output, 'utf8')).toContain('{ address: "*:5000", pool: write } # haproxy.cfg:2');
  expect([code, err]).toEqual([0, '']);
});

test('a file that exists is overwritten only with --force', async () => {
  const output = aFile();
  await run('haproxy.cfg', { output });
  const before = readFileSync(output, 'utf8');
  expect(await run('patroni.yml', { output })).toMatchObject({
    code: 1,
    err: expect.stringContaining('exists already'),
  });
  expect(readFileSync(output, 'utf8')).toBe(before);
  expect(await run('patroni.yml', { output, force: true })).toMatchObject({ code: 0 });
  expect(readFileSync(output, 'utf8')).not.toBe(before);
});

test('a folder that does not exist', async () => {
  const { code, err } = await run('haproxy.cfg', { output: join(aFile(), 'p.yaml') });
  expect([code, err]).toEqual([1, expect.stringContaining('cannot be written')]);
});

test('a cluster that does not answer: the file is written, exit code 1', async () => {
  const output = aFile();
  const { code, out, err } = await run('haproxy.cfg', { output }, silent);
  expect(err).toContain('http://10.0.0.11:8008: connection refused\nno seed returned a member list');
  expect(out).toContain('is written, the check failed');
  expect([code, existsSync(output)]).toEqual([1, true]);
});

test('seeds of different clusters: nothing is written', async () => {
  const output = aFile();
  const { code, err } = await run(['http://10.0.0.11:8008', 'http://10.0.0.12:8008'], { output }, mixed);
  expect(err).toContain('the seeds belong to different clusters: cluster-0, cluster-1. Nothing is written');
  expect([code, existsSync(output)]).toEqual([1, false]);
});

test('a file for TLS that is not on this host: the configuration is written, exit code 1', async () => {
  const { code, out, err } = await run('https://10.0.0.11:8008', { ca: '/nowhere/ca.crt' });
  expect(out).toContain('  api:\n    tls:\n      ca: /nowhere/ca.crt # --ca\n');
  expect(err).toContain('cluster.api.tls.ca: /nowhere/ca.crt cannot be read: there is no such file\n');
  expect(code).toBe(1);
});

test('--offline contacts nothing', async () => {
  expect(await run('haproxy.cfg', { offline: true }, never)).toMatchObject({ code: 0 });
});

describe('members with TLS', () => {
  const CA = tlsFile('ca.pem');

  /** They accept this authority, where the name is right. */
  const encrypted =
    (names: (member: string) => readonly string[], isForHost: boolean): CheckSeeds =>
    async (config) => {
      const report = await cluster(config);
      const { tls } = config.backend;
      const whyOf = (member: string): string | undefined => {
        if (tls === undefined) return undefined;
        if (tls.caFile !== CA) return 'no trusted authority';
        const name = tls.serverName?.replace('{member}', member);
        const isRight = name === undefined ? isForHost : names(member).includes(name);
        return tls.mode === 'verify-ca' || isRight ? undefined : 'another name';
      };
      const members = report.members.map(({ name: member }) => ({
        member,
        offer: 'offered' as const,
        certificate: { names: names(member), expiresAt: 0, isForHost },
        why: whyOf(member),
      }));
      return { ...report, tls: { mode: tls?.mode ?? ('off' as const), members } };
    };

  test.each([
    ['for their addresses', encrypted(() => [], true), `  tls:\n    mode: verify-full # every member has shown such a`],
    ['with their names', encrypted((name) => [`${name}.db`], false), '    server_name: "{member}.db"\n'],
    ['without a name', encrypted(() => [], false), '  tls:\n    mode: verify-ca # every member has shown such a'],
  ])('a known authority, and certificates %s', async (_, check, text) => {
    const { code, out } = await run('http://10.0.0.11:8008', { ca: CA }, check);
    expect(out).toContain(text);
    expect(out).toContain(`    ca_file: ${CA} # --ca\n`);
    expect(out).toContain('let it end here: client.tls: { mode: require,');
    // The APIs have no TLS.
    expect(out).not.toContain('  api:');
    expect(code).toBe(0);
  });

  test('the authority of a connection string', async () => {
    const { out } = await run(
      `host=10.0.0.11 sslrootcert=${CA}`,
      {},
      encrypted(() => [], true),
    );
    expect(out).toContain(`    ca_file: ${CA} # sslrootcert\n`);
  });

  test.each([
    ['none', undefined, 'Every member offers TLS. No authority of their certificates is named (--ca FILE).'],
    ['another one', tlsFile('other-ca.pem'), 'does not do (TLS with pg-1: no trusted authority).'],
    [
      'a lost one',
      '/nowhere/ca.crt',
      'does not do (backend.tls.ca_file: /nowhere/ca.crt cannot be read: there is no such',
    ],
  ])('a recommendation where the authority is unknown: %s', async (_, ca, text) => {
    const { code, out } = await run(
      'http://10.0.0.11:8008',
      ca === undefined ? {} : { ca },
      encrypted(() => [], true),
    );
    const recommended = out.replaceAll('\n# ', ' ');
    expect(recommended).toContain(text);
    expect(recommended).toContain('backend.tls: { mode: verify-full, ca_file: FILE }.');
    expect(out).not.toMatch(/^backend:/m);
    expect(code).toBe(0);
  });
});
