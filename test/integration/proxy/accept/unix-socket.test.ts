// Listeners on Unix sockets: their files, and their clients.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explainBind } from '../../../../src/proxy/accept/bind-failure.ts';
import { Listeners, type PreparedListeners } from '../../../../src/proxy/accept/listeners.ts';
import { socketPath } from '../../../../src/model/unix-socket.ts';
import type { ListenerPolicy } from '../../../../src/model/policy.ts';
import { runTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { startFakeBackend, type FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab, type ProxyLab, type ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { itUnless } from '../../../support/runner/unless-missing.ts';
import { aStartup, errorFields, GSSENC_REQUEST, SSL_REQUEST } from '../../../support/sockets/packets.ts';
import { watch, type RawClient } from '../../../support/sockets/raw-client.ts';
import { aWritePool } from '../../../support/values/builders.ts';
import { SERVER } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';

const PORT = 6432;
const FILE = `.s.PGSQL.${PORT}`;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const aListener = (changes: Partial<ListenerPolicy> = {}): ListenerPolicy => ({
  address: { host: directory, port: PORT },
  pool: 'write',
  ...changes,
});

/** A socket whose process was killed: nobody listens, and its file is there. */
async function leaveStaleFile(): Promise<void> {
  const path = join(directory, FILE);
  const ended = "() => process.kill(process.pid, 'SIGKILL')";
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, ${ended})`;
  spawnSync(process.execPath, ['-e', script]);
  expect((await stat(path)).isSocket()).toBe(true);
}

describe('its file', () => {
  const opened: { close: () => void }[] = [];
  const accepted: string[] = [];

  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
    accepted.length = 0;
  });

  async function prepare(name: string, policy: ListenerPolicy): Promise<PreparedListeners> {
    const listeners = new Listeners({
      onConnection: (_, client) => {
        accepted.push(name);
        client.destroy();
      },
      onFailure: (_, detail) => accepted.push(`${name}: ${detail}`),
    });
    listeners.serve();
    opened.push(listeners);
    const prepared = await listeners.prepare([policy]);
    return prepared;
  }

  async function open(name: string, policy = aListener()): Promise<string | undefined> {
    const prepared = await prepare(name, policy);
    if (prepared.kind === 'failed') return prepared.message;
    prepared.apply();
    return undefined;
  }

  async function visit(): Promise<string | undefined> {
    const before = accepted.length;
    const client = connect(socketPath(aListener().address));
    await once(client, 'close');
    return accepted.slice(before).join();
  }

  async function serve(): Promise<Server> {
    const server = createServer((client) => client.end());
    opened.push(server);
    await new Promise<void>((resolve) => server.listen(join(directory, FILE), resolve));
    return server;
  }

  test('it has the mode, is there while the listener is, and nothing else is', async () => {
    expect(await open('a', aListener({ unixSocketMode: 0o750 }))).toBeUndefined();
    expect(await readdir(directory)).toEqual([FILE]);
    expect((await stat(join(directory, FILE))).mode & 0o777).toBe(0o750);
    expect(await visit()).toBe('a');
    opened[0]?.close();
    expect(await readdir(directory)).toEqual([]);
  });

  test('everybody may connect unless a mode is set, as with PostgreSQL', async () => {
    await open('a');
    expect((await stat(join(directory, FILE))).mode & 0o777).toBe(0o777);
  });

  test('the file of a dead process is replaced', async () => {
    await leaveStaleFile();
    expect(await open('a')).toBeUndefined();
    expect([await visit(), await readdir(directory)]).toEqual(['a', [FILE]]);
  });

  test('that of a process that serves is an error, and stays', async () => {
    await serve();
    const remedy = 'take another port, or reuse_port to take the file over from it';
    const inUse = `another process serves ${directory}/${FILE}: ${remedy}`;
    expect(await open('a')).toBe(`${directory}:${PORT}: ${inUse}`);
    expect(await readdir(directory)).toEqual([FILE]);
  });

  test('what is no socket is an error, and stays', async () => {
    await writeFile(join(directory, FILE), 'data');
    expect(await open('a')).toContain('is no socket: remove it, or take another port');
    expect(await readdir(directory)).toEqual([FILE]);
  });

  test('a directory that does not exist is an error', async () => {
    const address = { host: `${directory}/none`, port: PORT };
    expect(await open('a', aListener({ address }))).toContain(`there is no directory ${directory}/none`);
  });

  test('with reuse_port the next process takes it over, and the end of the last one leaves it alone', async () => {
    const shared = aListener({ reusePort: true });
    await open('old', shared);
    await open('new', shared);
    expect(await visit()).toBe('new');
    opened[0]?.close();
    expect([await visit(), await readdir(directory)]).toEqual(['new', [FILE]]);
  });

  test('a next process that does not start after all leaves the last one its clients', async () => {
    const shared = aListener({ reusePort: true });
    await open('old', shared);
    const prepared = await prepare('new', shared);
    if (prepared.kind === 'prepared') prepared.abandon();
    expect([await visit(), await readdir(directory)]).toEqual(['old', [FILE]]);
  });

  test('a name that cannot be had at the last moment is reported', async () => {
    const prepared = await prepare('a', aListener());
    await rm(directory, { recursive: true });
    if (prepared.kind === 'prepared') prepared.apply();
    expect(accepted).toEqual([expect.stringContaining('ENOENT')]);
  });

  test('what this user may not do is said so', () => {
    const error = Object.assign(new Error('no'), { code: 'EACCES' });
    const failure = { ...aListener(), reusePort: false, error, own: undefined };
    const file = `${directory}/${FILE}`;
    expect(explainBind(failure)).toBe(`${directory}:${PORT}: this user may not make, replace or use ${file}`);
  });
});

describe('its clients', () => {
  let backend: FakeBackend;
  let lab: ProxyLab;
  const clients: RawClient[] = [];

  beforeEach(async () => {
    backend = await startFakeBackend('echo');
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await lab.end(backend);
    expect(lab.reasons()).not.toContain('internal_error');
    expect(await readdir(directory)).toEqual([]);
  });

  async function start(options: ProxyLabOptions = {}): Promise<void> {
    const table = { write: { open: { 'pg-1': backend.address } } };
    lab = await startProxyLab({ host: directory, port: PORT, pools: [aWritePool()], table, ...options });
  }

  async function dial(...packets: readonly Uint8Array[]): Promise<RawClient> {
    const socket = connect({ path: socketPath(lab.address('write')), allowHalfOpen: true });
    const client = watch(socket);
    clients.push(client);
    await once(socket, 'connect');
    for (const packet of packets) socket.write(packet);
    return client;
  }

  test.each(['auto', 'streams'] as const)(
    'relay %s: all bytes arrive, in order, both ways, and so does the end',
    async (relay) => {
      await start({ relay });
      const sent = Buffer.concat([aStartup(), Buffer.alloc(5_000_000, 'abcdefgh')]);
      const client = await dial(sent);
      client.socket.end();
      await until('the end', () => client.isClosed, 30_000);
      expect(client.received().equals(sent)).toBe(true);
      await until('the end of the session', () => lab.reasons().length > 0);
      expect(lab.closed()).toMatchObject([{ reason: 'client_closed', client: '[local]', tls: 'none' }]);
    },
  );

  test('a server that resets, and an operator that kills, end the session', async () => {
    await start();
    const one = await dial(aStartup());
    await until('its answer', () => one.received().length > 0);
    backend.last().socket.resetAndDestroy();
    await until('its end', () => one.hasEnded);
    one.socket.end();
    await until('the end of its session', () => lab.reasons().length === 1);
    const two = await dial(aStartup());
    await until('its answer', () => two.received().length > 0);
    const { sessions } = await lab.proxy.sessions({ limit: 10 });
    expect(sessions).toMatchObject([{ client: '[local]', listener: `${directory}:${PORT}` }]);
    await lab.proxy.kill(sessions[0]?.id ?? 0);
    await until('its end', () => two.hasEnded);
    two.socket.end();
    await until('the end of its session', () => lab.reasons().length === 2);
    expect(lab.reasons()).toEqual(['backend_reset', 'killed_by_operator']);
  });

  test('a reload makes and removes them', async () => {
    await start();
    const address = { host: directory, port: PORT + 1 };
    await lab.reload({ listeners: [{ address, pool: 'write' }] });
    expect(await readdir(directory)).toEqual([`.s.PGSQL.${PORT + 1}`]);
  });

  test('all of them have one address for the limit', async () => {
    await start({ client: { maxSessionsPerAddress: 1 } });
    const one = await dial(aStartup());
    await until('its answer', () => one.received().length > 0);
    const two = await dial(aStartup());
    await until('its refusal', () => two.hasEnded);
    expect(errorFields(two.received())).toMatchObject({ C: '53300', D: expect.stringContaining('[local]') });
  });

  test.each(['passthrough', 'require'] as const)(
    'client.tls.mode %s: as with PostgreSQL there is no TLS',
    async (mode) => {
      await start({ client: { tls: mode === 'passthrough' ? { mode } : { mode, ...SERVER } } });
      const client = await dial(SSL_REQUEST);
      await until('the answer', () => client.received().toString() === 'N');
      client.socket.write(GSSENC_REQUEST);
      await until('the answer', () => client.received().toString() === 'NN');
      client.socket.write(aStartup());
      await until('the session', () => client.received().length > 2);
      expect(client.received().subarray(2)).toEqual(aStartup());
      const direct = await dial(Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]));
      await until('the end', () => direct.hasEnded);
      direct.socket.end();
      await until('the end of its session', () => lab.reasons().length === 1);
      expect(lab.closed()).toMatchObject([{ reason: 'not_postgres', detail: 'TLS on a Unix socket' }]);
    },
  );

  itUnless(whyNoTool('psql'), 'libpq finds it by directory and port, even with sslmode=require', async () => {
    backend.behaviour = 'obliging';
    await start();
    const to = { host: directory, port: PORT, as: { user: 'app', password: '', database: 'app' } };
    const said = await runTool('psql', to, ['--no-psqlrc', '-Atc', 'select 1', 'dbname=app sslmode=require']);
    expect(said).toBe('SELECT 1');
  });
});
