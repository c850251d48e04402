// `check --live` over real sockets: the members by pool, their PostgreSQL ports, and what makes it fail.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startFakeConsole } from '../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../support/branches/fake-console.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import type { FakeMemberKnobs } from '../../support/fakes/fake-member.ts';
import { startTlsBackend } from '../../support/fakes/tls-backend.ts';
import { closedPort, listen } from '../../support/sockets/listen.ts';
import { prepareServers, startAs } from '../../support/sandbox/postgres.ts';
import { checkConfig } from '../../support/processes/pointsman-process.ts';
import { OTHER, SERVER, tlsFile, type KeyPairPaths } from '../../support/values/tls-files.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A port that accepts, as PostgreSQL does. */
async function aPort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  closing.push(() => server.close());
  return await listen(server);
}

interface Given {
  readonly name: string;
  readonly port: number;
  readonly knobs: Partial<FakeMemberKnobs>;
}

/** Every member is a seed, so that its ports are allowed. */
async function checked(
  given: readonly Given[],
  more = '',
): Promise<{ code: number | string; out: string; err: string }> {
  const members = await Promise.all(given.map(({ name, knobs }) => FakeMember.start(name, knobs)));
  closing.push(() => Promise.all(members.map((member) => member.stop())));
  const entries = members.map((member, i) => member.entry({ port: given[i]?.port }));
  for (const member of members) member.set({ cluster: { scope: 'demo', members: entries } });
  const seeds = JSON.stringify(members.map(({ url }) => url));
  const pointsman = await checkConfig(`cluster: { seeds: ${seeds} }\n${more}`, '--live');
  closing.push(() => pointsman.stop());
  const code = await pointsman.exited();
  const out = pointsman.lines.map((line) => `${String(line['raw'])}\n`).join('');
  return { code, out, err: pointsman.stderr.join('') };
}

test('a healthy cluster: the pool of each member, exit code 0', async () => {
  const { code, out, err } = await checked([
    { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } },
  ]);
  expect(out).toMatch(/^pg-1 +127\.0\.0\.1:\d+ +accepts +primary +write$/m);
  expect(out).toMatch(/^pg-2 +127\.0\.0\.1:\d+ +accepts +replica +read$/m);
  expect(out).toContain('pool write (/primary): open on pg-1\npool read (/replica?lag=16MB): open on pg-2\n');
  expect([code, err]).toEqual([0, '']);
});

test('no primary: exit code 1', async () => {
  const { code, err } = await checked([{ name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } }]);
  expect(err).toContain('pool write would have no member now');
  expect(code).toBe(1);
});

test('the port of the primary refuses: exit code 1', async () => {
  const { code, out, err } = await checked([
    { name: 'pg-1', port: await closedPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } },
  ]);
  expect(out).toMatch(/^pg-1 .* refuses +primary +write$/m);
  expect(err).toMatch(
    /pool write: PostgreSQL of pg-1 at 127\.0\.0\.1:\d+ refuses connections from this host\n1 problem\./,
  );
  expect(code).toBe(1);
});

test('the port of a replica refuses: a warning', async () => {
  const { code, err } = await checked([
    { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await closedPort(), knobs: { role: 'replica' } },
  ]);
  expect(err).toMatch(/^warning: PostgreSQL of pg-2 at 127\.0\.0\.1:\d+ refuses connections from this host\n$/);
  expect(code).toBe(0);
});

test('a member in no pool: the reason', async () => {
  const { code, out } = await checked([
    { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aPort(), knobs: { role: 'replica', state: 'starting' } },
  ]);
  expect(out.replaceAll(/\s+/g, ' ')).toContain('none: PostgreSQL is not running');
  expect(code).toBe(0);
});

test('one answer is enough, whatever probe.rise says', async () => {
  const primary = { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } } as const;
  expect(await checked([primary], 'probe: { rise: 3 }\n')).toMatchObject({ code: 0 });
});

/** A server with TLS and this certificate. */
async function withTls(pair: KeyPairPaths): Promise<number> {
  const backend = await startTlsBackend(pair);
  closing.push(() => backend.stop());
  return backend.address.port;
}

/** A server that says that it has no TLS. */
async function withoutTls(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end('N')));
  closing.push(() => server.close());
  return await listen(server);
}

function verifyFull(more = ''): string {
  return `backend: { tls: { mode: verify-full, ca_file: ${tlsFile('ca.pem')}${more} } }\n`;
}

test('backend.tls: which members it accepts, and why not the others', async () => {
  const members = [
    { name: 'pg-1', port: await withTls(SERVER), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await withTls(OTHER), knobs: { role: 'replica' } },
    { name: 'pg-3', port: await withoutTls(), knobs: { role: 'replica' } },
    { name: 'pg-4', port: await aPort(), knobs: { role: 'replica' } },
  ] as const;
  const { code, out, err } = await checked(members, verifyFull());
  expect(out).toContain('TLS with members: verify-full (backend.tls.mode)\n');
  expect(out).toMatch(/^pg-1 +verified +2\d{3}-\d\d-\d\d +pg-a\.test, 127\.0\.0\.1$/m);
  expect(out).toMatch(/^pg-2 +refused +2\d{3}-\d\d-\d\d +pg-b\.test, 127\.0\.0\.1$/m);
  expect(out).toMatch(/^pg-3 +refused *$/m);
  expect(err).toBe(
    'warning: TLS with pg-2: no trusted authority has signed the certificate of the server (backend.tls.ca_file)\n' +
      'warning: TLS with pg-3: the server has no TLS (backend.tls.mode is verify-full)\n' +
      'warning: TLS with pg-4: the server closed the connection after the request for TLS\n',
  );
  expect(code).toBe(0);
  const named = await checked(members.slice(0, 1), verifyFull(", server_name: '{member}.test'"));
  expect(named.err).toBe('pool write: TLS with pg-1: the certificate of the server is not for pg-1.test\n1 problem.\n');
  expect(named.code).toBe(1);
});

test('backend.tls is off: what the members offer, and what suits it', async () => {
  const primary = { name: 'pg-1', port: await withTls(SERVER), knobs: { role: 'primary' } } as const;
  const offered = await checked([primary]);
  expect(offered.out).toMatch(/^pg-1 +offered +2\d{3}-\d\d-\d\d +pg-a\.test, 127\.0\.0\.1$/m);
  expect(offered.out).toContain(
    'Every member offers TLS. These settings suit their certificates: ' +
      'backend.tls: { mode: verify-full, ca_file: FILE }\n',
  );
  const mixed = await checked([primary, { name: 'pg-2', port: await withoutTls(), knobs: { role: 'replica' } }]);
  expect(mixed.out).toMatch(/^pg-2 +none *$/m);
  expect(mixed.out).toContain('backend.tls needs TLS at every member, and pg-2 has none.\n');
  const none = await checked([{ ...primary, port: await withoutTls() }]);
  expect(none.out).toContain('TLS with members: off, and no member offers it\n');
  for (const { code, err } of [offered, mixed, none]) expect([code, err]).toEqual([0, '']);
});

/** A console with a root, a branch, and one whose name no host can have. */
async function aConsole(): Promise<{ console: FakeConsole; section: (key: string) => Promise<string> }> {
  const console = await startFakeConsole();
  for (const name of ['pr-1', 'feat/login']) console.addBranch({ name, parentId: console.root, parentLsn: '0/1' });
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-check-'));
  closing.push(
    () => console.stop(),
    () => rm(folder, { recursive: true }),
  );
  const file = join(folder, 'key');
  const source = { url: console.url, project: console.project, api_key_file: file };
  const backends = { template: '{name}.branches.test:5432' };
  const section = async (key: string): Promise<string> => {
    await writeFile(file, key, { mode: 0o600 });
    return `branches: ${JSON.stringify({ source: 'console', console: source, backends })}\n`;
  };
  return { console, section };
}

test('the branches: how many there are, and those without an address', async () => {
  const primary = { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } } as const;
  const { console, section } = await aConsole();
  const { code, out, err } = await checked([primary], await section(console.apiKey));
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    `branches of project calm-sea-1234 at ${console.url} (those with a parent), at {name}.branches.test:5432`,
  );
  expect(out).toContain('branches: 3 in the list, 1 of them can be reached as DATABASE@BRANCH\n');
  expect(err).toMatch(
    /^warning: branch feat\/login has no address: branches\.backends\.template .* use \{slug\} or \{id\}\n$/,
  );
  expect(code).toBe(0);
});

test('a key that the console refuses: exit code 1; a console that is down: a warning', async () => {
  const primary = { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } } as const;
  const { console, section } = await aConsole();
  const denied = await checked([primary], await section('another-key'));
  expect(denied.err).toMatch(/^the list of branches cannot be read: .*status 401.*\n1 problem\.\n$/);
  expect(denied.code).toBe(1);
  console.script = () => ({ status: 503 });
  const down = await checked([primary], await section(console.apiKey));
  expect(down.err).toMatch(/^warning: the list of branches cannot be read: .*status 503\n$/);
  expect(down.code).toBe(0);
  expect(denied.err + denied.out + down.err + down.out).not.toContain(console.apiKey);
  console.script = () => undefined;
});

test('verifiers of a file: the roles that it has, and those that cannot move', async () => {
  const primary = { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } } as const;
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-verifiers-'));
  closing.push(() => rm(folder, { recursive: true }));
  const file = join(folder, 'userlist.txt');
  const moves = (roles: readonly string[]): string => `moves: ${JSON.stringify({ roles, verifiers: { file } })}\n`;
  await writeFile(
    file,
    '"app" "SCRAM-SHA-256$4096:c2FsdA==$YQ==:Yg=="\n"old" "md50123456789abcdef0123456789abcdef"\n',
    { mode: 0o600 },
  );
  const read = await checked([primary], moves(['app', 'old', 'none', 'svc_*']));
  expect(read.out.replaceAll(/\s+/g, ' ')).toContain(
    `planned, sessions of app, old, none, svc_*, verifiers from ${file}`,
  );
  expect(read.out).toContain(`verifiers: ${file} has those of 1 of 3 roles: app\n`);
  expect(read.err).toBe(
    'warning: role old cannot move: its stored secret is an md5 hash, and moves.md5 is false\n' +
      `warning: role none cannot move: ${file} has no line for role "none"\n`,
  );
  expect(read.code).toBe(0);
  const patterns = await checked([primary], moves(['svc_*']));
  expect(patterns.out).toContain(`verifiers: ${file} answers; moves.roles has patterns alone, so no role was tried\n`);
  await rm(file);
  const gone = await checked([primary], moves(['app']));
  expect(gone.err).toContain(`verifiers cannot be read: ${file} cannot be read: there is no such file\n1 problem.\n`);
  expect(gone.code).toBe(1);
});

test('verifiers of the primary: a real server, its function and the lookup role', { timeout: 60_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  await startAs(server, undefined);
  await server.query(await readFile(new URL('../../../deploy/moves.sql', import.meta.url), 'utf8'), [], 15_000);
  await server.query(`ALTER ROLE pointsman_lookup PASSWORD 'lookup-1';
    CREATE ROLE app LOGIN PASSWORD 'app-1' IN ROLE pointsman_movable`);
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-verifiers-'));
  closing.push(() => rm(folder, { recursive: true }));
  const file = join(folder, 'password');
  const primary = { name: 'pg-1', port: server.port, knobs: { role: 'primary' } } as const;
  const roles = ['app', 'postgres'];
  const moves = `moves: ${JSON.stringify({ roles, verifiers: { user: 'pointsman_lookup', password_file: file } })}\n`;
  const who = `role "pointsman_lookup" on 127.0.0.1:${server.port}`;
  await writeFile(file, 'lookup-1\n', { mode: 0o600 });
  // Each replica may be the next primary.
  const replicas = [
    { name: 'pg-2', port: server.port, knobs: { role: 'replica' } },
    { name: 'pg-3', port: await aPort(), knobs: { role: 'replica' } },
  ] as const;
  const read = await checked([primary, ...replicas], moves);
  expect(read.out).toContain(`verifiers: ${who} has those of 1 of 2 roles: app\n`);
  const [rolesWarning, memberWarning, ...others] = read.err.split('\n');
  expect(rolesWarning).toBe(
    `warning: role postgres cannot move: ${who} got no verifier for role "postgres": it must be ` +
      'a member of pointsman_movable, with a password that has not expired, and no superuser',
  );
  expect(memberWarning).toMatch(
    /^warning: no session with a password can move to pg-3: verifiers cannot be read from /,
  );
  expect(others).toEqual(['']);
  expect(read.code).toBe(0);
  // A login looks in the member of its session.
  const encrypted = `client: { tls: { mode: require, cert: ${SERVER.cert}, key: ${SERVER.key} } }\n`;
  const logins = moves.replace('moves:', 'logins:');
  const bound = await checked([primary, ...replicas], `${encrypted}${logins}`);
  expect(bound.err).toMatch(
    /^warning: no login can bind to a certificate at pg-3: verifiers cannot be read from it: role/m,
  );
  await writeFile(file, 'lookup-2\n', { mode: 0o600 });
  const denied = await checked([primary], moves);
  expect(denied.err).toContain(`verifiers cannot be read: ${who}: password authentication failed`);
  expect(denied.code).toBe(1);
  for (const { out, err } of [read, bound, denied]) expect(out + err).not.toMatch(/lookup-[12]|SCRAM/);
});

test('positions: a real server, with the role of deploy/reads.sql', { timeout: 60_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  await startAs(server, undefined);
  await server.query(await readFile(new URL('../../../deploy/reads.sql', import.meta.url), 'utf8'), [], 15_000);
  await server.query("ALTER ROLE pointsman_monitor PASSWORD 'monitor-1'");
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-positions-'));
  closing.push(() => rm(folder, { recursive: true }));
  const file = join(folder, 'password');
  await writeFile(file, 'monitor-1\n', { mode: 0o600 });
  const members = [
    { name: 'pg-1', port: server.port, knobs: { role: 'primary' } },
    // The same server, which is no standby.
    { name: 'pg-2', port: server.port, knobs: { role: 'replica' } },
  ] as const;
  const questions = `questions: { user: pointsman_monitor, password_file: ${file} }\n`;
  const asked = await checked(members, questions);
  expect(asked.out).toContain('positions: 1 of 2 members can be asked: pg-1\n');
  expect(asked.err).toBe(
    'warning: causal reads on pg-2 are late: pg-2 cannot be asked for its position: it is not in recovery\n',
  );
  expect(asked.code).toBe(0);
  await writeFile(file, 'monitor-2\n', { mode: 0o600 });
  const denied = await checked(members, questions);
  expect(denied.err).toContain(
    'all causal reads are late: pg-1 cannot be asked for its position: password authentication failed for user ' +
      '"pointsman_monitor" (28P01)\n1 problem.\n',
  );
  expect(denied.code).toBe(1);
  for (const { out, err } of [asked, denied]) expect(out + err).not.toMatch(/monitor-[12]/);
});

test('verifiers of the primary, and there is none: a warning beside the problem', async () => {
  const { code, err } = await checked(
    [{ name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } }],
    'moves: { roles: [app], verifiers: { user: pm } }\n',
  );
  expect(err).toContain('warning: verifiers were not tried: there is no primary to ask for verifiers\n');
  expect(code).toBe(1);
});
