// Logins on two TLS connections at real servers: each flag of psql and node-postgres, each way, and the old and the new
// PostgreSQL. The server stays the judge of every password.
import { spawn } from 'node:child_process';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { MemberTls } from '../../../../src/model/member-tls.ts';
import { verifierOpener } from '../../../../src/verifiers/batch.ts';
import { runTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { drivers, runCases, type Driver, type DriverTarget } from '../../../support/applications/driver-programs.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { whyNoOlderPostgres } from '../../../support/moves/system-postgres.ts';
import { describeUnless, itUnless } from '../../../support/runner/unless-missing.ts';
import { ask } from '../../../support/sandbox/postgres.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { speakTls } from '../../../support/sandbox/speak-tls.ts';
import { startStranger } from '../../../support/sockets/stranger.ts';
import { OTHER, SERVER, tlsFile, tlsText } from '../../../support/values/tls-files.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';

const MAIN = new URL('memory-main.ts', import.meta.url).pathname;
const SSL = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
const LOOKUP = `create function verifier(name text) returns text language sql security definer as
  'select rolpassword from pg_authid where rolname = $1 and not rolsuper'`;
const MEMBER_TLS: MemberTls = {
  mode: 'verify-full',
  caFile: tlsFile('ca.pem'),
  crlFile: undefined,
  pair: undefined,
  serverName: 'pg-a.test',
  negotiation: 'request',
  minVersion: 'TLSv1.2',
};
const LOGINS = {
  roles: ['app', 'nobody', 'without'],
  verifiers: {
    kind: 'query',
    user: 'lookup',
    passwordFile: undefined,
    database: 'postgres',
    query: 'select verifier($1)',
  },
} as const;
const APP = { user: 'app', password: 'secret', database: 'postgres' };
type Role = typeof APP;
const DRIVER_RUNS = [
  ['verifier', 'system'],
  ['verifier', 'embedded'],
  ['unbound', 'system'],
] as const;
const CASES = { connect: '1', prepared: '42 42 42', cancel: '57014 1' };
/** How clients and members are encrypted. `shared`: both show one certificate. */
const SETTINGS = {
  verifier: {
    client: { tls: { mode: 'terminate', ...OTHER } },
    logins: LOGINS,
    moves: { verifiers: LOGINS.verifiers },
  },
  unbound: { client: { tls: { mode: 'terminate', ...OTHER } } },
  shared: { client: { tls: { mode: 'terminate', ...SERVER } } },
} satisfies Record<string, Pick<ProxyLabOptions, 'client' | 'logins' | 'moves'>>;
type Setting = keyof typeof SETTINGS;
const BOUND = { ...APP, ssl: { rejectUnauthorized: false }, enableChannelBinding: true };
const NOT_OFFERED = /did not offer an authentication method that supports channel binding/;

function labFor({ server }: LoginServer, setting: ProxyLabOptions): Promise<ProxyLab> {
  const { name, host, port } = server;
  return startProxyLab({
    backend: { tls: MEMBER_TLS },
    openVerifiers: verifierOpener(systemClock),
    table: { write: { open: { [name]: { host, port } } } },
    ...setting,
  });
}

async function connect(at: ProxyLab, config: ClientConfig): Promise<boolean | undefined> {
  const client = new Client({ ...at.address('write'), ...config });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<{ ssl: boolean }>(SSL)).rows[0]?.ssl;
  } finally {
    await client.end();
  }
}

function psql(at: ProxyLab, ssl: string, binding: string, role: Role = APP): Promise<string> {
  const target = { port: at.address('write').port, as: role };
  const info = `dbname=postgres sslmode=${ssl} channel_binding=${binding}`;
  return runTool('psql', target, ['-At', '-d', info, '-c', SSL]).catch((error: unknown) => String(error));
}

async function counts(lines: AsyncIterator<string, unknown>): Promise<readonly number[]> {
  return z.array(z.number()).parse(JSON.parse(String((await lines.next()).value)));
}

function strip(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace('SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256-NONE'), 'latin1');
}

describeUnless(await whyNoOlderPostgres(), 'logins on two TLS connections', () => {
  const servers = new Map<string, LoginServer>();
  const labs = new Map<string, ProxyLab>();
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    for (const choice of ['system', 'embedded'] as const) {
      const login = await startLoginServer(choice);
      servers.set(choice, login);
      await login.run("create role app login password 'secret'", "create role late login password 'secret'");
      await login.run(
        "alter role late valid until '2001-01-01'",
        'create role without login',
        'create role lookup login',
      );
      await login.run(LOOKUP, 'grant execute on function verifier to lookup');
      const { host, port } = login.server;
      await login.permit('host all postgres 127.0.0.1/32 trust');
      await speakTls({ host, port, user: 'postgres', database: 'postgres' });
      await login.permit('hostssl all lookup 127.0.0.1/32 trust', 'hostssl all all 127.0.0.1/32 scram-sha-256');
      for (const [name, setting] of Object.entries(SETTINGS))
        labs.set(`${choice} ${name}`, await labFor(login, setting));
      labs.set(`${choice} plain`, await labFor(login, { ...SETTINGS.verifier, backend: {} }));
    }
  }, 120_000);

  afterAll(async () => {
    for (const lab of labs.values()) await lab.end();
    for (const login of servers.values()) await login.close();
    await rm(directory, { recursive: true });
  });

  function lab(choice: string, setting: Setting): ProxyLab {
    const found = labs.get(`${choice} ${setting}`);
    if (found === undefined) throw new Error(`no proxy for ${choice} ${setting}`);
    return found;
  }

  describeUnless(whyNoTool('psql'), 'psql', () => {
    test.each([
      ['verifier', 'require', 'prefer', /^t$/],
      ['verifier', 'require', 'require', /^t$/],
      ['verifier', 'require', 'disable', /^t$/],
      ['verifier', 'disable', 'prefer', /^t$/],
      ['unbound', 'require', 'prefer', /TLS is on both sides of the proxy.*\(login_unbound\)/],
      ['unbound', 'require', 'require', NOT_OFFERED],
      ['unbound', 'require', 'disable', /^t$/],
      ['unbound', 'disable', 'prefer', /^t$/],
      ['shared', 'require', 'prefer', /^t$/],
      ['shared', 'require', 'require', /^t$/],
      ['shared', 'require', 'disable', /^t$/],
    ] as const)('%s: sslmode=%s channel_binding=%s: %s', async (setting, ssl, binding, expected) => {
      for (const choice of servers.keys()) {
        expect(await psql(lab(choice, setting), ssl, binding), choice).toMatch(expected);
        const wrong = await psql(lab(choice, setting), ssl, binding, { ...APP, password: 'wrong' });
        if (String(expected) === '/^t$/') expect(wrong).toContain('password authentication failed for user "app"');
      }
    });
  });

  for (const driver of drivers()) {
    itUnless(driver.missing, `${driver.name}: each way, bound where it can be`, () => runDriver(driver), 60_000);
  }

  async function runDriver(driver: Driver): Promise<void> {
    await driver.prepare(directory);
    const caFile = tlsFile('other-ca.pem');
    const as = { ...APP, ssl: { ca: tlsText('other-ca.pem'), caFile, servername: 'pg-b.test' } };
    for (const [setting, choice] of DRIVER_RUNS) {
      const { port } = lab(choice, setting).address('write');
      const verifying = { port, as, isBound: setting !== 'unbound' };
      // postgres.js verifies the name localhost for an address.
      const to: DriverTarget = driver.name === 'postgres.js' ? { ...verifying, sslmode: 'require' } : verifying;
      const results = await runCases(driver, directory, to, Object.keys(CASES));
      const said = [...results].map(([name, { value, error }]) => [name, value ?? error]);
      expect(Object.fromEntries(said), `${setting} ${choice}`).toEqual(CASES);
    }
  }

  test('node-postgres that binds, and that claims it in plain text', async () => {
    for (const choice of servers.keys()) {
      expect(await connect(lab(choice, 'verifier'), BOUND)).toBe(true);
      expect(await connect(lab(choice, 'shared'), BOUND)).toBe(true);
      const claim = connect(lab(choice, 'verifier'), { ...APP, enableChannelBinding: true });
      await expect(claim).rejects.toMatchObject({ code: '28000', message: expect.stringContaining('login_unbound') });
    }
  });

  test('a session that has bound its login moves to another session of the server', async () => {
    for (const choice of servers.keys()) {
      const at = lab(choice, 'verifier');
      const client = new Client({ ...at.address('write'), ...BOUND });
      await client.connect();
      const [pid] = (await client.query('select pg_backend_pid() as pid')).rows;
      const { sessions } = await at.proxy.sessions({ limit: 1 });
      expect(await at.proxy.move(sessions[0]?.id ?? 0)).toMatchObject({ kind: 'moved' });
      expect((await client.query('select pg_backend_pid() as pid')).rows).not.toEqual([pid]);
      expect((await client.query(SSL)).rows).toEqual([{ ssl: true }]);
      await client.end();
    }
  });

  test('a member in plain text: a client can bind to the certificate of Pointsman', async () => {
    const { server } = servers.get('embedded') ?? {};
    expect(server).toBeDefined();
    const ca = { ca: tlsText('other-ca.pem'), servername: 'pg-b.test' };
    expect(await connect(lab('embedded', 'verifier'), { ...BOUND, ssl: ca })).toBe(true);
  });

  test('G25: nobody, a role without a password and one whose password is over: the words of the server', async () => {
    for (const choice of servers.keys()) {
      for (const user of ['nobody', 'without']) {
        const login = connect(lab(choice, 'verifier'), { ...BOUND, user });
        await expect(login).rejects.toMatchObject({ code: '28P01', message: expect.stringContaining(user) });
      }
      const late = connect(lab(choice, 'shared'), { ...BOUND, user: 'late' });
      await expect(late).rejects.toMatchObject({ code: '28P01' });
    }
  });

  test('a stranger in front, who decrypts, or takes the offer to bind away: no login', async () => {
    const [at, other] = [lab('embedded', 'verifier'), lab('embedded', 'shared')];
    const strangers = [
      await startStranger(SERVER, at.address('write')),
      await startStranger(SERVER, at.address('write'), strip),
      await startStranger(OTHER, other.address('write')),
    ];
    const details = [/another certificate/, /did not get the offer/, /server certificate|check failed/];
    for (const [index, { address, stop }] of strangers.entries()) {
      const client = new Client({ ...BOUND, ...address });
      client.on('error', () => {});
      const refused = await client.connect().catch((error: unknown) => error);
      expect(refused, String(index)).toMatchObject({ code: '28000' });
      expect(`${JSON.stringify(refused)} ${String(refused)}`).toMatch(details[index] ?? /never/);
      stop();
    }
    expect(at.reasons()).toContain('binding_failed');
  });

  test('G25: a stranger behind, whose certificate the authority has signed: no login', async () => {
    const login = servers.get('embedded');
    if (login === undefined) throw new Error('no server');
    const { name, host, port } = login.server;
    const stranger = await startStranger(OTHER, { host, port });
    const at = await labFor(login, {
      ...SETTINGS.shared,
      logins: LOGINS,
      backend: { tls: { ...MEMBER_TLS, mode: 'verify-ca', caFile: tlsFile('other-ca.pem') } },
      table: { write: { open: { [name]: stranger.address } } },
    });
    labs.set('deceived', at);
    await expect(connect(at, BOUND)).rejects.toMatchObject({
      code: '28000',
      message: 'SCRAM channel binding check failed',
    });
    stranger.stop();
  });

  test('G25: the memory of a process after logins has no verifier, and no key of a client', async () => {
    const login = servers.get('embedded');
    if (login === undefined) throw new Error('no server');
    const { name, host, port } = login.server;
    const backend = { tls: MEMBER_TLS };
    const options = { ...SETTINGS.verifier, backend, table: { write: { open: { [name]: { host, port } } } } };
    const child = spawn(process.execPath, [MAIN, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const to = { host: '127.0.0.1', port: Number((await lines.next()).value) };
    for (let count = 0; count < 50; count += 1) {
      const client = new Client({ ...BOUND, ...to, password: count % 10 === 9 ? 'wrong' : APP.password });
      client.on('error', () => {});
      await client.connect().catch(() => {});
      await client.end();
    }
    const verifier = (await ask(login.server, "select rolpassword from pg_authid where rolname = 'app'")) ?? '';
    const [, iterations = '', salt = '', stored = '', serverKey = ''] = verifier.split(/[$:]/);
    const salted = pbkdf2Sync(APP.password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
    const clientKey = createHmac('sha256', salted).update('Client Key').digest();
    expect(createHash('sha256').update(clientKey).digest('base64')).toBe(stored);
    const keys = [stored, serverKey].flatMap((text) => [Buffer.from(text), Buffer.from(text, 'base64')]);
    const masked = [clientKey, ...keys].map((secret) => Buffer.from(secret.map((byte) => byte ^ 0x5a)).toString('hex'));
    child.stdin.end(`${masked.join(' ')}\n`.repeat(2));
    const [first, second] = [await counts(lines), await counts(lines)];
    // The one that is searched for; a search leaves traces of its own.
    expect(first.map((count, at) => Math.min(count, second[at] ?? 0))).toEqual(first.map(() => 1));
    await once(child, 'close');
  }, 60_000);

  test('a lookup that cannot be: the login is not answered with a wrong password', async () => {
    const login = servers.get('embedded');
    if (login === undefined) throw new Error('no server');
    const broken = { ...LOGINS, verifiers: { ...LOGINS.verifiers, user: 'nobody' } };
    const at = await labFor(login, { ...SETTINGS.verifier, logins: broken });
    labs.set('broken', at);
    await expect(connect(at, BOUND)).rejects.toMatchObject({
      code: '57P03',
      message: expect.stringContaining('login_unchecked'),
    });
    expect(at.events).toContainEqual(expect.objectContaining({ kind: 'login_ended', result: 'refused', role: 'app' }));
  });
});
