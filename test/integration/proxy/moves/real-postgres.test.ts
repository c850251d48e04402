// A live session goes from a real PostgreSQL server to the same server, between two transactions: its client notices
// nothing, and everything it had is still there.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { MemberTls } from '../../../../src/model/member-tls.ts';
import type { VerifierPolicy } from '../../../../src/model/moves.ts';
import { verifierOpener } from '../../../../src/verifiers/batch.ts';
import { cancelRequestOf } from '../../../support/applications/cancel-key.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { ask } from '../../../support/sandbox/postgres.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { SERVER } from '../../../support/values/tls-files.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';

interface Way {
  readonly lab: Pick<ProxyLabOptions, 'client' | 'relay'>;
  readonly client: ClientConfig;
  /** TLS to the server. */
  readonly negotiation?: MemberTls['negotiation'];
}

const TRUST: ClientConfig = { user: 'trusted' };
const SCRAM: ClientConfig = { user: 'mover', password: 'secret' };
const TLS = { tls: { mode: 'terminate', ...SERVER } } as const;

const WAYS: readonly (readonly [string, Way])[] = [
  ['trust, direct pipes', { lab: { relay: 'auto' }, client: TRUST }],
  ['trust, streams', { lab: { relay: 'streams' }, client: TRUST }],
  ['SCRAM, direct pipes', { lab: { relay: 'auto' }, client: SCRAM }],
  ['SCRAM, streams', { lab: { relay: 'streams' }, client: SCRAM }],
  [
    'SCRAM, TLS of the proxy',
    { lab: { relay: 'auto', client: TLS }, client: { ...SCRAM, ssl: { rejectUnauthorized: false } } },
  ],
  ['SCRAM, TLS to the server', { lab: { relay: 'auto' }, client: SCRAM, negotiation: 'direct' }],
  [
    'SCRAM, TLS on both legs',
    {
      lab: { relay: 'auto', client: TLS },
      client: { ...SCRAM, ssl: { rejectUnauthorized: false } },
      negotiation: 'request',
    },
  ],
];

const ROWS = 50;

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

/** With the simple protocol, the extended one, and prepared statements. Returns how many rows were acknowledged. */
async function insertRows(client: Client, at: number): Promise<number> {
  let acknowledged = 0;
  for (; acknowledged < ROWS; acknowledged += 1) {
    const insert = { text: 'insert into loaded values ($1)', values: [acknowledged] };
    if (at === 0) await client.query('begin; insert into loaded values (1); commit');
    else if (at === 1) await client.query(insert);
    else await client.query({ ...insert, name: 'insert' });
  }
  return acknowledged;
}

describeUnless(missingForSandbox, 'moves at a real PostgreSQL', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  let directory: string;
  let verifiers: VerifierPolicy;
  const clients: Client[] = [];

  beforeAll(async () => {
    login = await startLoginServer('embedded', true);
    await login.run('create role trusted login', "create role mover login password 'secret'");
    await login.permit('host all trusted 127.0.0.1/32 trust', 'host all mover 127.0.0.1/32 scram-sha-256');
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    verifiers = { kind: 'file', file: join(directory, 'userlist.txt') };
    const line = `select format('"%s" "%s"', rolname, rolpassword) from pg_authid where rolname = 'mover'`;
    await writeFile(verifiers.file, `${await ask(login.server, line)}\n`);
  }, 60_000);

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    lab.proxy.close();
  });

  afterAll(async () => {
    await login.close();
    await rm(directory, { recursive: true });
  });

  async function start({ lab: options, negotiation }: Pick<Way, 'lab' | 'negotiation'>): Promise<void> {
    const { name, host, port } = login.server;
    const table = { write: { open: { [name]: { host, port } } } };
    lab = await startProxyLab({
      ...options,
      ...(negotiation && { backend: { tls: memberTls(negotiation) } }),
      moves: { verifiers },
      openVerifiers: verifierOpener(systemClock),
      table,
    });
  }

  function memberTls(negotiation: MemberTls['negotiation']): MemberTls {
    const trust = { mode: 'verify-full', caFile: login.caFile, serverName: undefined } as const;
    return { ...trust, crlFile: undefined, pair: undefined, negotiation, minVersion: 'TLSv1.2' };
  }

  async function connect(config: ClientConfig): Promise<Client> {
    const client = new Client({ ...lab.address('write'), database: 'postgres', ...config });
    clients.push(client);
    await client.connect();
    return client;
  }

  async function move(session = 1): Promise<void> {
    expect(await lab.proxy.move(session)).toMatchObject({ kind: 'moved', from: 'node-1', to: 'node-1' });
  }

  /** Moves every session again and again. Returns how often each result came. */
  async function moveUntil(load: { readonly isOver: boolean }, sessions: number): Promise<Map<string, number>> {
    const results = new Map<string, number>();
    while (!load.isOver) {
      const ids = Array.from({ length: sessions }, (_, at) => at + 1);
      for (const { kind } of await Promise.all(ids.map((id) => lab.proxy.move(id)))) {
        results.set(kind, (results.get(kind) ?? 0) + 1);
      }
    }
    return results;
  }

  test.each(WAYS)('G24: %s: settings and prepared statements go along', async (_, way) => {
    await start(way);
    const client = await connect(way.client);
    const surprises: unknown[] = [];
    client.on('error', (error) => surprises.push(error)).on('notice', (notice) => surprises.push(notice));
    await client.query("set work_mem = '7MB'");
    const twice = { name: 'twice', text: 'select $1::int * 2 as n' };
    await client.query({ ...twice, values: [1] });
    const pids = new Set([await pidOf(client)]);
    const isEncrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    for (let round = 0; round < 3; round += 1) {
      await move();
      expect((await client.query({ ...twice, values: [round] })).rows).toEqual([{ n: round * 2 }]);
      expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
      expect((await client.query(isEncrypted)).rows).toEqual([{ ssl: way.negotiation !== undefined }]);
      pids.add(await pidOf(client));
    }
    expect(pids.size).toBe(4);
    expect(surprises).toEqual([]);
  });

  test.each(WAYS)('%s: a cancel request with the first key reaches the new server', async (_, way) => {
    await start(way);
    const client = await connect(way.client);
    await move();
    const pid = await pidOf(client);
    const slow = client.query('select pg_sleep(60)');
    const ended = expect(slow).rejects.toMatchObject({ code: '57014' });
    const isRunning = async (): Promise<boolean> => {
      const rows = await login.server.query(
        "select 1 from pg_stat_activity where pid = $1 and query = 'select pg_sleep(60)' and state = 'active'",
        [pid],
      );
      return rows.length === 1;
    };
    await waitUntil('the query', isRunning, { timeoutMs: 10_000 });
    const canceller = await connectRaw(lab.address('write'));
    canceller.socket.write(cancelRequestOf(client));
    await ended;
  });

  test('a session that is parked when a reload takes the section away still moves', async () => {
    await start({ lab: { relay: 'auto' } });
    const client = await connect(SCRAM);
    const pid = await pidOf(client);
    if (verifiers.kind !== 'file') throw new Error('no file');
    const userlist = await readFile(verifiers.file);
    await rm(verifiers.file);
    const moved = lab.proxy.move(1);
    const isTurnedAway = (): Promise<boolean> => Promise.resolve(lab.triggers.length > 0);
    await waitUntil('an attempt without a verifier', isTurnedAway, { timeoutMs: 10_000 });
    await lab.reload();
    await writeFile(verifiers.file, userlist);
    expect(await moved).toMatchObject({ kind: 'moved' });
    expect(await pidOf(client)).not.toBe(pid);
  });

  test.each(WAYS)(
    '%s: clients in full load lose nothing while they are moved again and again',
    async (_, way) => {
      await start(way);
      await login.run('drop table if exists loaded', 'create table loaded (id int)', 'grant all on loaded to public');
      const loaded = await Promise.all(Array.from({ length: 4 }, () => connect(way.client)));
      const load = { isOver: false };
      const moving = moveUntil(load, loaded.length);
      const counts = await Promise.all(loaded.map(insertRows));
      load.isOver = true;
      const moved = await moving;
      const rows = await login.server.query('select count(*)::int as n from loaded');
      expect(rows).toEqual([{ n: counts.reduce((sum, count) => sum + count, 0) }]);
      expect(moved.get('moved')).toBeGreaterThan(loaded.length);
      expect([...moved.keys()].filter((kind) => kind !== 'moved' && kind !== 'stayed')).toEqual([]);
    },
    120_000,
  );
});
