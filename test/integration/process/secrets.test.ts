// Every secret that Pointsman gets, in one process and at the same time: none is in its log, its documents or its
// incidents, and its memory keeps those alone that are in use. `.github/SECURITY.md` names them.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startFakeConsole } from '../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../support/branches/fake-console.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { FakeApiServer } from '../../support/fakes/kubernetes/api-server.ts';
import { aPod, PODS } from '../../support/fakes/kubernetes/objects.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { countInMemory, hasProcessMemory } from '../../support/processes/process-memory.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../support/sandbox/login-server.ts';
import { ask } from '../../support/sandbox/postgres.ts';
import { speakTls } from '../../support/sandbox/speak-tls.ts';
import * as canaries from '../../support/values/canaries.ts';
import { OTHER, tlsFile } from '../../support/values/tls-files.ts';

const { ADMIN_TOKEN, API_PASSWORD, APP_PASSWORD, BRANCHES_KEY, LOOKUP_PASSWORD, PLATFORM_KEY } = canaries;
const { expectNoCanary, secretLineOf } = canaries;
const SQL = new URL('../../../deploy/moves.sql', import.meta.url);
const HOST = '127.0.0.11';
/** One role for each method of pg_hba.conf. */
const METHODS = { clear: 'password', md5: 'md5', scram: 'scram-sha-256' } as const;
/** A buffer that is used again may keep the end of a password alone. */
const endOf = (role: string): string => `0123456789-end-of-${role}`;
const passwordOf = (role: string): string => `${APP_PASSWORD}-${endOf(role)}`;
/** In each session, and no secret. */
const SEEN = 'application-of-this-test';
/**
 * The token is the password of the console. The connection of the lookup role stays open for the next login, and the
 * request that watches the pods is never over.
 */
const IN_USE = ['ADMIN_TOKEN', 'KEY', 'KUBERNETES_TOKEN', 'LOOKUP_PASSWORD'];

const sessionList = z.object({ sessions: z.array(z.object({ id: z.number(), user: z.string() })) });
const openApi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

const closing: (() => unknown)[] = [];
const clients = new Map<string, Client>();
let directory: string;
let incidents: string;
let pointsman: PointsmanProcess;
let member: FakeMember;
let kubernetes: FakeApiServer;
let branches: FakeConsole;
let verifier: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  incidents = join(directory, 'incidents');
  closing.push(() => rm(directory, { recursive: true }));
  const login = await startServer();
  const { host, port } = login.server;
  member = await FakeMember.start('pg-0', { role: 'primary' }, { host: HOST });
  closing.push(() => member.stop());
  member.set({ cluster: { scope: 'demo', members: [member.entry({ host, port })] } });
  kubernetes = await FakeApiServer.start();
  closing.push(() => kubernetes.stop());
  kubernetes.put(PODS, aPod('pg-0', HOST, { role: 'primary' }));
  branches = await startFakeConsole();
  closing.push(() => branches.stop());
  const NODE_OPTIONS = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}`;
  pointsman = await startPointsman(await configBefore(login), { NODE_OPTIONS });
  closing.push(() => pointsman.stop());
  await pointsman.waitUntilReady();
  for (const role of Object.keys(METHODS)) {
    const client = await connected({ user: role, password: passwordOf(role) });
    clients.set(role, client);
    closing.push(() => client.end());
  }
}, 120_000);

afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function startServer(): Promise<LoginServer> {
  const login = await startLoginServer('embedded');
  closing.push(() => login.close());
  await login.run(await readFile(SQL, 'utf8'), `alter role pointsman_lookup password '${LOOKUP_PASSWORD}'`);
  for (const role of Object.keys(METHODS)) {
    await login.run(`set password_encryption = '${role === 'md5' ? 'md5' : 'scram-sha-256'}';
      create role ${role} login password '${passwordOf(role)}'; grant pointsman_movable to ${role}`);
  }
  verifier = (await ask(login.server, "select rolpassword from pg_authid where rolname = 'scram'")) ?? '';
  const { host, port } = login.server;
  await login.permit('host all postgres 127.0.0.1/32 trust');
  await speakTls({ host, port, user: 'postgres', database: 'postgres' });
  await login.permit(...Object.entries(METHODS).map(([role, method]) => `hostssl all ${role} 127.0.0.1/32 ${method}`));
  return login;
}

/** Its path. */
async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `${text}\n`, { mode: 0o600 });
  return path;
}

async function configBefore({ server }: LoginServer): Promise<object> {
  const verifiers = { user: 'pointsman_lookup', password_file: await file('lookup', LOOKUP_PASSWORD) };
  const platform = await file('platform', PLATFORM_KEY);
  return {
    cluster: {
      scope: 'demo',
      kubernetes: { server: kubernetes.url, credentials: kubernetes.credentials, port: member.address.port },
      allow: { networks: ['127.0.0.0/8'], ports: [server.port] },
      api: { auth: { username: 'operator', password_file: await file('api', API_PASSWORD) } },
    },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: {
      address: '127.0.0.1:0',
      token_file: await file('token', ADMIN_TOKEN),
      console: { address: '127.0.0.1:0' },
    },
    client: { tls: { mode: 'require', cert: OTHER.cert, key: OTHER.key } },
    backend: { tls: { mode: 'verify-full', ca_file: tlsFile('ca.pem'), server_name: 'pg-a.test' } },
    logins: { roles: ['scram'], verifiers },
    moves: { roles: ['scram'], verifiers },
    branches: {
      source: 'console',
      console: { url: branches.url, project: branches.project, api_key_file: await file('key', branches.apiKey) },
      backends: { template: '{id}.example:5432' },
    },
    platform: { url: 'http://127.0.0.1:9', api_key_file: platform, beta_header: 'vendor-beta' },
    incidents: { directory: incidents },
    log: { level: 'trace', format: 'json', access: 'closed' },
  };
}

async function connected(config: ClientConfig): Promise<Client> {
  const client = new Client({
    host: '127.0.0.1',
    port: await pointsman.port('write'),
    database: 'postgres',
    application_name: SEEN,
    ssl: { rejectUnauthorized: false },
    enableChannelBinding: true,
    ...config,
  });
  // The outage ends the sessions.
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function snapshot(): Promise<string> {
  pointsman.signal('SIGUSR2');
  return pointsman.waitFor('the heap snapshot', async () => {
    const [file] = (await readdir(directory)).filter((one) => one.endsWith('.heapsnapshot'));
    if (file === undefined) return undefined;
    const text = await readFile(join(directory, file), 'utf8');
    // It is written in parts.
    return text.trimEnd().endsWith(']}') ? text : undefined;
  });
}

const HEADERS = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };

async function asOperator(method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
  const url = `http://127.0.0.1:${await pointsman.port('admin')}${path}`;
  const answer = await fetch(url, { method, headers: HEADERS, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  expectNoCanary(`the answer to ${method} ${path}`, text);
  return text;
}

/** Each secret was where it is meant to be, so there is something to leak. */
beforeAll(async () => {
  for (const [role, client] of clients) {
    const wrong = connected({ user: role, password: `wrong-of-${role}-0123456789` });
    await expect(wrong).rejects.toMatchObject({ code: '28P01' });
    expect((await client.query('select current_user as name')).rows).toEqual([{ name: role }]);
  }
  const { sessions } = sessionList.parse(JSON.parse(await asOperator('GET', '/sessions')));
  const { id } = sessions.find(({ user }) => user === 'scram') ?? {};
  expect(JSON.parse(await asOperator('POST', `/sessions/${id}/move`, {}))).toMatchObject({ result: 'moved' });
  await asOperator('POST', '/cluster/reload', { member: 'pg-0' });
  const basic = Buffer.from(`operator:${API_PASSWORD}`).toString('base64');
  expect(member.heads.filter((head) => head.includes(basic))).toHaveLength(1);
  expect(branches.requests[0]?.headers.authorization).toBe(`Bearer ${BRANCHES_KEY}`);
  expect(kubernetes.requests.length).toBeGreaterThan(0);
  const at = { host: '127.0.0.1', port: await pointsman.port('console'), database: 'pointsman' };
  const shell = new Client({ ...at, user: 'operator', password: ADMIN_TOKEN });
  await shell.connect();
  expectNoCanary('SHOW CONFIG', JSON.stringify((await shell.query('show config')).rows));
  await shell.end();
});

/** An outage that ends the sessions. */
async function makeAnIncident(): Promise<readonly string[]> {
  const isReady = async (): Promise<boolean> => (await pointsman.admin('/pools/write/ready')).status === 200;
  member.set({ role: 'replica', hasLock: false });
  await pointsman.waitFor('the outage', async () => !(await isReady()));
  member.set({ role: 'primary', hasLock: true });
  await pointsman.waitFor('its end', isReady);
  return pointsman.waitFor('the incident', async () => {
    const files = await readdir(incidents).catch(() => []);
    // A file that is being written gets its name at the end.
    return files.length > 0 && files.every((file) => !file.endsWith('.tmp')) && files;
  });
}

const missing = hasProcessMemory ? undefined : 'Linux, to read the memory of another process';
itUnless(
  missing,
  'its memory, and so a core file, has no password that md5 or SCRAM hides, no verifier, and no key of one',
  async () => {
    const keys = verifier.split(/[$:]/).slice(-2);
    const gone = [
      // A password in plain text passes as any other byte: its buffer keeps it until it is used again.
      ...['md5', 'scram'].map((role) => Buffer.from(endOf(role))),
      Buffer.from(verifier),
      ...keys.flatMap((key) => [Buffer.from(key), Buffer.from(key, 'base64')]),
    ];
    const [seen = 0, ...counts] = await countInMemory(pointsman.pid, [Buffer.from(SEEN), ...gone]);
    // It is the memory of these sessions.
    expect(seen).toBeGreaterThan(0);
    expect(counts).toEqual(gone.map(() => 0));
  },
);

test('its heap has those alone that are in use', async () => {
  const heap = await snapshot();
  expect(heap).toContain(SEEN);
  const { expectNoCanary: _, secretLineOf: __, ...secrets } = canaries;
  const texts = { ...secrets, VERIFIER: verifier, KEY: secretLineOf(OTHER.key) };
  const held = Object.entries(texts).filter(([, text]) => heap.includes(text));
  expect(held.map(([name]) => name).filter((name) => !IN_USE.includes(name))).toEqual([]);
  expect(held.length).toBeGreaterThan(0);
});

test('no line, no document and no incident has one', async () => {
  for (const file of await makeAnIncident()) expectNoCanary(file, await readFile(join(incidents, file), 'utf8'));
  const { paths } = openApi.parse(JSON.parse(await asOperator('GET', '/openapi.json')));
  const documents = Object.entries(paths).filter(
    ([path, of]) => 'get' in of && !path.includes('{') && path !== '/events',
  );
  expect(documents.length).toBeGreaterThan(10);
  for (const [path] of documents) await asOperator('GET', path);
  // The helper has searched each line. These are lines of the access log and of the most talkative level.
  expect(pointsman.lines.some(({ event, user }) => event === 'access' && user === 'md5')).toBe(true);
  expect(pointsman.stderr).toEqual([]);
});
