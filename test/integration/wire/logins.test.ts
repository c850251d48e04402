// Real logins of real clients, repeated on a real server without the client.
import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { BackendLogin } from '../../../src/wire/talk/backend-login.ts';
import type { BackendLoginOptions, BackendLoginStep } from '../../../src/wire/talk/backend-login.ts';
import { LoginTranscript } from '../../../src/wire/follow/login-transcript.ts';
import { recognise } from '../../../src/wire/startup/startup.ts';
import { runTool, whyNoTool } from '../../support/applications/client-tools.ts';
import { listen } from '../../support/sockets/listen.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { describeOnEachPostgres } from '../../support/sandbox/each-postgres.ts';
import { startLoginServer } from '../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../support/sandbox/login-server.ts';
import { WireClient } from '../../support/sockets/wire-client.ts';
import { HASHES } from '../../support/values/hashes.ts';
import { until } from '../../support/waiting/until.ts';

interface Recorded {
  readonly startup: Uint8Array;
  readonly transcript: LoginTranscript;
}

interface Recorder {
  readonly port: number;
  /** The first whole login. */
  login(): Promise<Recorded>;
}

/** A proxy that records the login of each connection. */
async function startRecorder(server: Address): Promise<Recorder> {
  const recorded: Recorded[] = [];
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const upstream = connect(server);
    const transcript = new LoginTranscript();
    let startup: Buffer | undefined = Buffer.alloc(0);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.on('data', (chunk: Buffer) => {
      if (startup === undefined) {
        transcript.fromClient(chunk);
        upstream.write(chunk);
        return;
      }
      startup = Buffer.concat([startup, chunk]);
      const opening = recognise(startup);
      if (opening.kind === 'ssl_request') {
        startup = startup.subarray(opening.length);
        client.write('N');
      } else if (opening.kind === 'startup') {
        recorded.push({ startup: startup.subarray(0, opening.length), transcript });
        upstream.write(startup);
        startup = undefined;
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      transcript.fromBackend(chunk);
      client.write(chunk);
    });
  });
  const port = await listen(proxy);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { port, login: () => until('a login was recorded', () => recorded.find((one) => one.transcript.isDone())) };
}

async function nodePostgres(config: ClientConfig): Promise<void> {
  const client = new Client({ host: '127.0.0.1', database: 'postgres', ssl: false, ...config });
  client.on('error', () => {});
  await client.connect();
  await client.end();
}

async function start(choice: BinariesChoice): Promise<LoginServer> {
  const lab = await startLoginServer(choice);
  await lab.run("create role scram login password 'Süß, r=1'", 'create role "Odd,=ü" login password \'p\'');
  await lab.run("set password_encryption = md5; create role digest login password 'secret'; reset password_encryption");
  await lab.run('create role open login', "create role plain login password 'secret'");
  await lab.permit(
    'host all open 127.0.0.1/32 trust',
    'host all digest 127.0.0.1/32 md5',
    'host all plain 127.0.0.1/32 password',
  );
  return lab;
}

describeOnEachPostgres('logging in again', start, (lab) => {
  async function verifierOf(role: string): Promise<Buffer> {
    const [row] = await lab.server.query<{ v: string }>('select rolpassword as v from pg_authid where rolname = $1', [
      role,
    ]);
    return Buffer.from(row?.v ?? '');
  }

  async function record(user: string, password: string): Promise<Recorded> {
    const recorder = await startRecorder(lab.server);
    await nodePostgres({ port: recorder.port, user, password });
    return recorder.login();
  }

  type Changes = Partial<BackendLoginOptions>;

  async function logInAgain(
    { startup, transcript }: Recorded,
    role: string,
    changes: Changes = {},
  ): Promise<Extract<BackendLoginStep, { kind: 'done' }>> {
    const machine = new BackendLogin({
      startup,
      login: transcript.login(),
      negotiated: transcript.negotiated(),
      verifier: await verifierOf(role),
      nonce: randomBytes(18),
      serverHash: undefined,
      hashes: HASHES,
      ...changes,
    });
    return (await WireClient.open(lab.server)).drive(machine.start(), machine);
  }

  test.each([
    ['scram', 'Süß, r=1', 'scram_sha_256'],
    ['Odd,=ü', 'p', 'scram_sha_256'],
    ['digest', 'secret', 'md5'],
    ['open', '', 'trust'],
  ])('node-postgres as %s', async (user, password, method) => {
    const login = await record(user, password);
    expect(login.transcript.login().method).toBe(method);
    for (let times = 0; times < 3; times += 1) {
      const { result, parameters, rest } = await logInAgain(login, user);
      expect(result).toMatchObject({ kind: 'ready', cancelKey: { secret: expect.any(String) } });
      expect(parameters).toEqual(login.transcript.parameters());
      expect(rest).toHaveLength(0);
    }
  });

  test('postgres.js', async () => {
    const recorder = await startRecorder(lab.server);
    const pass = 'Süß, r=1';
    const sql = postgres({
      host: '127.0.0.1',
      port: recorder.port,
      user: 'scram',
      pass,
      database: 'postgres',
      max: 1,
    });
    await sql`select 1`;
    expect(await logInAgain(await recorder.login(), 'scram')).toMatchObject({ result: { kind: 'ready' } });
    await sql.end();
  });

  itUnless(whyNoTool('psql'), 'psql, whose login is of libpq', async () => {
    const recorder = await startRecorder(lab.server);
    const as = { user: 'scram', password: 'Süß, r=1', database: 'postgres' };
    await runTool('psql', { port: recorder.port, as }, ['-c', 'select 1']);
    expect(await logInAgain(await recorder.login(), 'scram')).toMatchObject({ result: { kind: 'ready' } });
  });

  test('a password in plain text is not kept', async () => {
    const { transcript } = await record('plain', 'secret');
    expect(transcript.login()).toEqual({ method: 'other' });
  });

  test('a transcript that was overwritten is of no use', async () => {
    const login = await record('scram', 'Süß, r=1');
    const before = login.transcript.login();
    login.transcript.clear();
    expect(login.transcript.login()).toEqual({ method: 'other' });
    expect(await logInAgain(login, 'scram', { login: before })).toMatchObject({ result: { kind: 'failed' } });
  });

  test('a changed password and NOLOGIN decide again', async () => {
    await lab.run("create role changing login password 'one'");
    const login = await record('changing', 'one');
    const old = await verifierOf('changing');
    await lab.run("alter role changing password 'two'");
    expect((await logInAgain(login, 'changing')).result).toMatchObject({
      kind: 'failed',
      why: 'the password has changed since the login',
    });
    expect((await logInAgain(login, 'changing', { verifier: old })).result).toMatchObject({
      kind: 'failed',
      why: 'the verifier is not the one of the server',
    });
    await lab.run(`alter role changing nologin password '${old.toString()}'`);
    expect((await logInAgain(login, 'changing')).result).toMatchObject({ kind: 'failed', sqlState: '28000' });
    await lab.run('alter role changing login');
    expect((await logInAgain(login, 'changing')).result).toMatchObject({ kind: 'ready' });
  });

  test('no verifier, or one of another method', async () => {
    const login = await record('scram', 'Süß, r=1');
    for (const verifier of [undefined, await verifierOf('digest')]) {
      const { result } = await logInAgain(login, 'scram', { verifier });
      expect(result).toMatchObject({ kind: 'failed', why: 'there is no verifier of SCRAM-SHA-256 for the role' });
    }
  });

  test('a server that asks for another method than before gets nothing', async () => {
    const scram = await record('scram', 'Süß, r=1');
    const open = await record('open', '');
    const asOpen = { startup: open.startup };
    expect(await logInAgain(scram, 'scram', asOpen)).toMatchObject({
      result: { kind: 'failed', why: 'the server no longer asks for a login' },
    });
    expect(await logInAgain(open, 'open', { startup: scram.startup })).toMatchObject({
      result: { kind: 'failed', why: 'the server now asks for SASL' },
    });
  });
});
