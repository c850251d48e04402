// Client-side TLS with a real server that has TLS itself: the proxy's TLS in front, the server's TLS through the proxy.
// The answers are equal.
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Address } from '../../../../src/model/member.ts';
import type { ClientTls } from '../../../../src/model/policy.ts';
import { startKeptSandbox } from '../../../support/sandbox/kept-cluster.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { runTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aPacket, errorFields } from '../../../support/sockets/packets.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { speakTls } from '../../../support/sandbox/speak-tls.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { beginTls, connectDirect, connectTls } from '../../../support/sockets/tls-client.ts';
import { SERVER, tlsFile, tlsText } from '../../../support/values/tls-files.ts';
import { describeUnless, itUnless } from '../../../support/runner/unless-missing.ts';
import { until } from '../../../support/waiting/until.ts';

const MODES = ['passthrough', 'terminate', 'require'] as const;
const VERIFIED = { ca: tlsText('ca.pem') };
const SLEEPING = "select 1 from pg_stat_activity where query = 'select pg_sleep(60)'";
const keySchema = z.object({ processID: z.number(), secretKey: z.number() });

/** The option exists in node-postgres, but not in its types. */
const DIRECT = { ssl: VERIFIED, sslnegotiation: 'direct' } as ClientConfig;

/** The answer that the client read: plain bytes, an SQLSTATE, or a closed connection. */
async function outcome(client: RawClient, from = 0): Promise<string> {
  await until('an answer', () => client.received().length > from || client.hasEnded || client.isClosed, 10_000);
  const said = client.received().subarray(from);
  if (said[0] !== 0x45) return said.length === 0 ? 'closed' : said.toString('latin1');
  const fields = await until('the error', () => errorFields(said));
  return fields['C'] ?? '';
}

/** The answer after each of these packets. */
async function said(client: RawClient, ...packets: readonly Uint8Array[]): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const packet of packets) {
    const from = client.received().length;
    client.socket.write(packet);
    seen.push(await outcome(client, from));
  }
  client.socket.destroy();
  return seen;
}

/** Whether the server itself uses TLS in this session. */
async function isServersTls(client: Client): Promise<unknown> {
  const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
  return rows[0]?.ssl;
}

describeUnless(missingForSandbox, 'TLS before and behind a real PostgreSQL', () => {
  let sandbox: Sandbox;
  let server: Address;
  const labs = new Map<string, ProxyLab>();
  const clients: Client[] = [];

  beforeAll(async () => {
    sandbox = await startKeptSandbox({ members: 1 });
    const [member] = sandbox.members;
    if (member === undefined) throw new Error('a sandbox without a member');
    const { name, host, port } = member;
    server = { host, port };
    const open = { [name]: { host, port } };
    for (const mode of MODES) {
      const tls: ClientTls = mode === 'passthrough' ? { mode } : { mode, ...SERVER };
      labs.set(mode, await startProxyLab({ table: { write: { open }, read: { open } }, client: { tls } }));
    }
    await speakTls({ ...server, ...sandbox.superuser, database: 'postgres' });
  }, 60_000);

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    for (const lab of labs.values()) lab.proxy.close();
    await sandbox.stop();
  });

  function lab(mode: (typeof MODES)[number]): ProxyLab {
    const found = labs.get(mode);
    if (found === undefined) throw new Error(`no proxy for ${mode}`);
    return found;
  }

  async function connect(to: Address, more: ClientConfig = {}): Promise<Client> {
    const client = new Client({ ...to, ...sandbox.app, ...more });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  }

  /** The output of psql. */
  async function ask(mode: (typeof MODES)[number], options: string, statement = 'select 1'): Promise<string> {
    const target = { port: lab(mode).address('write').port, as: sandbox.app };
    return await runTool('psql', target, ['-At', '-d', `dbname=${sandbox.app.database} ${options}`, '-c', statement]);
  }

  test.each([
    ['SSLRequest', { ssl: VERIFIED }],
    ['direct TLS', DIRECT],
  ])('node-postgres by %s: TLS of the server in passthrough, else of the proxy', async (_, options) => {
    expect(await isServersTls(await connect(lab('passthrough').address('write'), options))).toBe(true);
    expect(await isServersTls(await connect(lab('terminate').address('write'), options))).toBe(false);
    expect(await isServersTls(await connect(lab('require').address('write'), options))).toBe(false);
  });

  test('a large value both ways, and a target', async () => {
    const { database } = sandbox.app;
    const client = await connect(lab('terminate').address('write'), { ssl: VERIFIED, database: `${database}@ro` });
    const big = 'é'.repeat(3_000_000);
    const { rows } = await client.query<{ back: string }>('select $1::text as back', [big]);
    expect(rows[0]?.back === big).toBe(true);
    expect(lab('terminate').events).toContainEqual(
      expect.objectContaining({ kind: 'session_opened', pool: 'read', database }),
    );
  });

  test('G17: a cancel request inside TLS finds its session by key', async () => {
    const client = await connect(lab('terminate').address('write'), { ssl: VERIFIED });
    const other = await connect(server);
    const ended = expect(client.query('select pg_sleep(60)')).rejects.toMatchObject({ code: '57014' });
    await waitUntil('the query', async () => (await other.query(SLEEPING)).rowCount === 1, { timeoutMs: 5_000 });
    const { processID, secretKey } = keySchema.parse(client);
    const key = Buffer.alloc(8);
    key.writeInt32BE(processID, 0);
    key.writeInt32BE(secretKey, 4);
    const canceller = await connectTls(lab('terminate').address('write'));
    canceller.socket.write(aPacket(80877102, key));
    await ended;
    expect(lab('terminate').events).toContainEqual(expect.objectContaining({ kind: 'cancel_forwarded', key: 'known' }));
  });

  test('postgres.js', async () => {
    const { user, password, database } = sandbox.app;
    const { host, port } = lab('require').address('write');
    const sql = postgres({
      host,
      port,
      user,
      password,
      database,
      ssl: { ...VERIFIED, servername: 'pg-a.test' },
      max: 1,
    });
    expect(await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`).toEqual([{ ssl: false }]);
    await sql.end();
    const plain = postgres({ host, port, user, password, database, ssl: false, max: 1 });
    await expect(plain`select 1`).rejects.toMatchObject({ code: '28000' });
    await plain.end();
  });

  test('node-postgres in plain text where TLS is required', async () => {
    const client = new Client({ ...lab('require').address('write'), ...sandbox.app, ssl: false });
    client.on('error', () => {});
    await expect(client.connect()).rejects.toMatchObject({
      code: '28000',
      message: 'pointsman: TLS is required (tls_required)',
      hint: expect.stringContaining('sslmode=require'),
    });
  });

  describe('scenario 31: the answers equal those of the server', () => {
    test.each<[string, (at: Address) => Promise<unknown>]>([
      ['SSLRequest', async (at) => said(await connectRaw(at), SSL_REQUEST)],
      ['GSSENCRequest, then SSLRequest', async (at) => said(await connectRaw(at), GSSENC_REQUEST, SSL_REQUEST)],
      ['GSSENCRequest twice', async (at) => said(await connectRaw(at), GSSENC_REQUEST, GSSENC_REQUEST)],
      ['SSLRequest in TLS', async (at) => said(await connectTls(at), SSL_REQUEST)],
      ['GSSENCRequest in TLS', async (at) => said(await connectTls(at), GSSENC_REQUEST)],
      ['SSLRequest in direct TLS', async (at) => said(await connectDirect(at), SSL_REQUEST)],
      ['SSLRequest twice in direct TLS', async (at) => said(await connectDirect(at), SSL_REQUEST, SSL_REQUEST)],
      ['direct TLS without ALPN', async (at) => outcome(await connectDirect(at, { ALPNProtocols: [] }))],
      ['another protocol by ALPN', async (at) => outcome(await beginTls(at, { ALPNProtocols: ['h2'] }))],
      [
        'protocol 4.0 in TLS',
        async (at) => said(await connectTls(at), aPacket(0x00040000, Buffer.from('user\0app\0\0'))),
      ],
    ])('%s', async (_, run) => {
      expect(await run(lab('terminate').address('write'))).toEqual(await run(server));
    });
  });

  describe('libpq', () => {
    const psql = whyNoTool('psql');

    const verified = `sslmode=verify-full sslrootcert=${tlsFile('ca.pem')}`;
    const servers = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

    itUnless(psql, "scenario 30: verify-full, with the proxy’s TLS and the server's", async () => {
      expect(await ask('terminate', verified, servers)).toBe('f');
      expect(await ask('passthrough', verified, servers)).toBe('t');
    });

    itUnless(psql, 'scenario 30: channel binding, preferred and required', async () => {
      expect(await ask('terminate', `${verified} channel_binding=prefer`)).toBe('1');
      expect(await ask('passthrough', `${verified} channel_binding=require`)).toBe('1');
      await expect(ask('terminate', `${verified} channel_binding=require`)).rejects.toThrow(
        /channel binding is required, but server did not offer an authentication method that supports channel binding/,
      );
    });

    itUnless(psql, 'an authority that is not trusted: the client refuses', async () => {
      const options = `sslmode=verify-full sslrootcert=${tlsFile('other-ca.pem')}`;
      await expect(ask('terminate', options)).rejects.toThrow('certificate verify failed');
      await until('the reason', () =>
        lab('terminate')
          .closed()
          .some(({ detail }) => detail === 'tlsv1 alert unknown ca'),
      );
    });

    itUnless(psql, 'require: plain text gets an error with the remedy, prefer gets TLS', async () => {
      await expect(ask('require', 'sslmode=disable')).rejects.toThrow(
        /TLS is required \(tls_required\)[^]*HINT:.*sslmode=require/,
      );
      expect(await ask('require', 'sslmode=prefer', servers)).toBe('f');
    });
  });

  test('no session ended with an internal error', async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    for (const one of labs.values()) {
      await until('every session closed', () => (one.proxy.counts().get('write')?.states.relaying ?? 0) === 0);
      expect(one.reasons()).not.toContain('internal_error');
    }
  });
});
