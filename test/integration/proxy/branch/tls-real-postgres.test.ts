// TLS to a branch that is a real PostgreSQL, with psql and node-postgres: every client leg, every backend leg, and
// every wish for channel binding. The member of the pool is a server without TLS.
import { createServer, connect as connectTcp } from 'node:net';
import type { Server } from 'node:net';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { BranchLookup, BranchTls } from '../../../../src/model/branch.ts';
import type { Address } from '../../../../src/model/member.ts';
import type { ClientTls } from '../../../../src/model/policy.ts';
import { startKeptSandbox } from '../../../support/sandbox/kept-cluster.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { runTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { listen } from '../../../support/sockets/listen.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { speakTls } from '../../../support/sandbox/speak-tls.ts';
import { SSL_REQUEST, aCancelOf } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { foundAt } from '../../../support/values/branches.ts';
import { SERVER, tlsFile, tlsText } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';

const SERVERS_TLS = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
const VERIFIED = { ca: tlsText('ca.pem') };
const LEGS = ['passthrough', 'terminate'] as const;
const TLS_HANDSHAKE = 0x16;
const keySchema = z.object({ processID: z.number(), secretKey: z.number() });

describeUnless(missingForSandbox, 'TLS to a branch on a real PostgreSQL', () => {
  let sandbox: Sandbox;
  /** The server of the branches, with TLS. */
  let server: Address;
  /** On the way to it; `openings` is what its connections begin with. */
  let branch: Address;
  let tap: Server;
  let openings: Buffer[];
  const labs = new Map<string, ProxyLab>();
  const clients: Client[] = [];

  beforeAll(async () => {
    sandbox = await startKeptSandbox({ members: 2 });
    const [member, other] = sandbox.members;
    if (member === undefined || other === undefined) throw new Error('a sandbox without its members');
    server = { host: member.host, port: member.port };
    await speakTls({ ...server, ...sandbox.superuser, database: 'postgres' });
    branch = { host: '127.0.0.1', port: await startTap() };
    const plain = { [other.name]: { host: other.host, port: other.port } };
    const withTls = { [member.name]: server };
    for (const leg of LEGS) {
      const tls: ClientTls = leg === 'passthrough' ? { mode: leg } : { mode: leg, ...SERVER };
      for (const backends of ['off', 'require'] as const) {
        const lab = await startProxyLab({
          table: { write: { open: withTls }, read: { open: plain } },
          client: { tls },
          locateBranch: () => found(backends),
          branchCaFile: tlsFile('ca.pem'),
        });
        labs.set(`${leg} ${backends}`, lab);
      }
    }
  }, 120_000);

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    for (const lab of labs.values()) lab.proxy.close();
    tap.close();
    await sandbox.stop();
  });

  function found(tls: BranchTls): BranchLookup {
    const { backend, ...lookup } = foundAt(branch);
    return { ...lookup, backend: { ...backend, tls } };
  }

  async function startTap(): Promise<number> {
    openings = [];
    tap = createServer((near) => {
      const far = connectTcp(server);
      const at = openings.push(Buffer.alloc(0)) - 1;
      near.on('data', (chunk: Buffer) => {
        const seen = openings[at] ?? Buffer.alloc(0);
        if (seen.length <= SSL_REQUEST.length) openings[at] = Buffer.concat([seen, chunk]);
      });
      near.pipe(far).pipe(near);
      near.on('error', () => far.destroy()).on('close', () => far.destroy());
      far.on('error', () => near.destroy());
    });
    return await listen(tap);
  }

  function lab(leg: (typeof LEGS)[number], backends: BranchTls): ProxyLab {
    const found = labs.get(`${leg} ${backends}`);
    if (found === undefined) throw new Error(`no proxy for ${leg} and ${backends}`);
    return found;
  }

  async function connect(at: ProxyLab, more: ClientConfig = {}): Promise<Client> {
    const { app } = sandbox;
    const client = new Client({ ...at.address('read'), ...app, database: `${app.database}@pr-1`, ...more });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  }

  /** A proxy of its own. */
  async function labWith(options: ProxyLabOptions): Promise<ProxyLab> {
    const started = await startProxyLab({ locateBranch: () => found('require'), ...options });
    labs.set(`extra ${labs.size}`, started);
    return started;
  }

  /** The answer of psql, or its error. */
  async function ask(at: ProxyLab, options: string, pool = 'read'): Promise<string> {
    const { app } = sandbox;
    const target = { port: at.address(pool).port, as: app };
    const query = ['-At', '-d', `dbname=${app.database}@pr-1 ${options}`, '-c', SERVERS_TLS];
    return await runTool('psql', target, query).catch((error: unknown) => String(error));
  }

  describeUnless(whyNoTool('psql'), 'psql', () => {
    const noTls = /channel binding (?:is )?required, but SSL not in use/;
    const notOffered = /server did not offer an authentication method that supports channel binding/;

    // sslmode=prefer in passthrough: the member has no TLS, so the client goes on in plain text.
    test.each([
      ['passthrough', 'disable', 'off', 'disable', /^f$/],
      ['passthrough', 'disable', 'off', 'prefer', /^f$/],
      ['passthrough', 'disable', 'off', 'require', noTls],
      ['passthrough', 'disable', 'require', 'disable', /^t$/],
      ['passthrough', 'disable', 'require', 'prefer', /^t$/],
      ['passthrough', 'disable', 'require', 'require', noTls],
      ['passthrough', 'prefer', 'off', 'disable', /^f$/],
      ['passthrough', 'prefer', 'off', 'prefer', /^f$/],
      ['passthrough', 'prefer', 'off', 'require', noTls],
      ['passthrough', 'prefer', 'require', 'disable', /^t$/],
      ['passthrough', 'prefer', 'require', 'prefer', /^t$/],
      ['passthrough', 'prefer', 'require', 'require', noTls],
      ['terminate', 'require', 'off', 'disable', /^f$/],
      ['terminate', 'require', 'off', 'prefer', /^f$/],
      ['terminate', 'require', 'off', 'require', notOffered],
      ['terminate', 'require', 'require', 'disable', /^t$/],
      // One certificate on both sides, in this test.
      ['terminate', 'require', 'require', 'prefer', /^t$/],
      ['terminate', 'require', 'require', 'require', /^t$/],
    ] as const)(
      'clients %s, sslmode %s, backends.tls %s, channel_binding %s: %s',
      async (leg, ssl, backends, binding, expected) => {
        expect(await ask(lab(leg, backends), `sslmode=${ssl} channel_binding=${binding}`)).toMatch(expected);
      },
    );

    test('TLS between the client and a member hides the target: the member does not know such a database', async () => {
      const name = `${sandbox.app.database}@pr-1`;
      expect(await ask(lab('passthrough', 'require'), 'sslmode=require', 'write')).toContain(
        `database "${name}" does not exist`,
      );
    });
  });

  // pg_stat_ssl at the server.
  test.each<[string, (typeof LEGS)[number], BranchTls, ClientConfig, boolean]>([
    ['plain', 'passthrough', 'off', {}, false],
    ['plain, channel binding on', 'passthrough', 'off', { enableChannelBinding: true }, false],
    ['plain', 'passthrough', 'require', {}, true],
    ['TLS', 'terminate', 'off', { ssl: VERIFIED }, false],
    ['TLS, channel binding on', 'terminate', 'off', { ssl: VERIFIED, enableChannelBinding: true }, false],
  ])('node-postgres, %s: clients %s, backends.tls %s', async (_, leg, backends, options, expected) => {
    const client = await connect(lab(leg, backends), options);
    expect((await client.query<{ ssl: boolean }>(SERVERS_TLS)).rows[0]?.ssl).toBe(expected);
  });

  // It sends the flag `y` in plain text as well, which the server would take for an attack. The login covers the flag.
  test('node-postgres with channel binding on, in plain text: refused', async () => {
    const client = connect(lab('passthrough', 'require'), { enableChannelBinding: true });
    await expect(client).rejects.toMatchObject({ code: '28000', message: expect.stringContaining('login_unbound') });
  });

  test('a large value both ways, and a result of many rows', async () => {
    const client = await connect(lab('passthrough', 'require'));
    const big = 'é'.repeat(3_000_000);
    const { rows } = await client.query<{ back: string }>('select $1::text as back', [big]);
    expect(rows[0]?.back === big).toBe(true);
    const many = await client.query("select n, repeat('x', 1000) as filler from generate_series(1, 20000) as n");
    expect(many.rowCount).toBe(20_000);
  });

  test('G17: a cancel request reaches the session, inside TLS', async () => {
    const at = lab('passthrough', 'require');
    const client = await connect(at, { application_name: 'sleeper' });
    const other = await connect(at);
    const ended = expect(client.query('select pg_sleep(60)')).rejects.toMatchObject({ code: '57014' });
    const sleeps = "select 1 from pg_stat_activity where application_name = 'sleeper' and state = 'active'";
    await until('the query', async () => (await other.query(sleeps)).rowCount === 1);
    const before = openings.length;
    const { processID, secretKey } = keySchema.parse(client);
    const secret = Buffer.alloc(4);
    secret.writeInt32BE(secretKey);
    const canceller = await connectRaw(at.address('read'));
    canceller.socket.write(aCancelOf(processID, secret));
    await ended;
    canceller.socket.destroy();
    expect(at.events).toContainEqual(
      expect.objectContaining({
        kind: 'cancel_forwarded',
        key: 'known',
        branch: { id: 'br-aged-salad', name: 'pr-1' },
      }),
    );
    const [opening] = openings.slice(before);
    expect(opening?.subarray(0, SSL_REQUEST.length)).toEqual(SSL_REQUEST);
    expect(opening?.[SSL_REQUEST.length]).toBe(TLS_HANDSHAKE);
  });

  test('a wrong password is the error of the server', async () => {
    await expect(connect(lab('passthrough', 'require'), { password: 'wrong' })).rejects.toMatchObject({
      code: '28P01',
    });
  });

  test('a kill by the operator ends a statement with its session, by a cancel request inside TLS', async () => {
    const at = lab('passthrough', 'require');
    const client = await connect(at, { application_name: 'killed' });
    const other = await connect(at);
    const lost = expect(client.query('select pg_sleep(60)')).rejects.toThrow();
    const sleeping = "select 1 from pg_stat_activity where application_name = 'killed' and state = 'active'";
    await until('the query', async () => (await other.query(sleeping)).rowCount === 1);
    const { sessions } = await at.proxy.sessions({ limit: 100 });
    const session = sessions.find(({ application }) => application === 'killed');
    expect(await at.proxy.kill(session?.id ?? 0)).toMatchObject({ kind: 'killed', statement: 'cancel_sent' });
    await lost;
    await until('the end of the statement', async () => (await other.query(sleeping)).rowCount === 0);
  });

  test('an untrusted server: the client gets the reason at once, and its password stays here', async () => {
    const at = lab('passthrough', 'require');
    const client = connect(await labWith({ branchCaFile: tlsFile('other-ca.pem') }));
    await expect(client).rejects.toMatchObject({
      code: '57P03',
      detail: expect.stringContaining('no trusted authority has signed the certificate of the backend'),
    });
    expect(at.reasons()).not.toContain('internal_error');
  });

  test('a server that declines TLS: nothing goes to it in plain text', async () => {
    const [, other] = sandbox.members;
    const plain = foundAt({ host: other?.host ?? '', port: other?.port ?? 0 });
    const client = connect(
      await labWith({ locateBranch: () => ({ ...plain, backend: { ...plain.backend, tls: 'require' } }) }),
    );
    await expect(client).rejects.toMatchObject({
      code: '57P03',
      detail: expect.stringContaining('the backend has no TLS (branches.backends.tls is require)'),
    });
  });
});
