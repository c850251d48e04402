// Scenario 30: common PostgreSQL clients through Pointsman, in plain text and with TLS to the server. Taps on both
// sides of Pointsman record each connection, and the bytes are equal.
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { connect } from 'node:tls';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { runTool, startTool, whyNoTool } from '../support/applications/client-tools.ts';
import type { ClientTool } from '../support/applications/client-tools.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import type { Lab } from '../support/clusters/describe-on-clusters.ts';
import type { ConfigOverrides } from '../support/processes/pointsman-config.ts';
import { aStartup } from '../support/sockets/packets.ts';
import { startTap } from '../support/sockets/tap.ts';
import type { Tap } from '../support/sockets/tap.ts';
import { switchOnTls } from '../support/clusters/switch-on-tls.ts';
import { itUnless } from '../support/runner/unless-missing.ts';
import { until } from '../support/waiting/until.ts';

const TLS = new URL('../fixtures/tls/', import.meta.url);
const CA = new URL('ca.pem', TLS).pathname;
const COUNT_SSL = 'select ssl::text from pg_stat_ssl where pid = pg_backend_pid()';

const said = (taps: readonly Tap[]): readonly string[] => taps.flatMap((tap) => tap.transcripts()).toSorted();
const open = (taps: readonly Tap[]): number => taps.reduce((sum, tap) => sum + tap.open(), 0);

/** A cluster with Pointsman before it, and a tap on each wire. */
function tappedCluster(on: Lab) {
  const behind: Tap[] = [];
  const before: Tap[] = [];
  const lab = on.clusterWithPointsman({
    pointsman: async (cluster): Promise<ConfigOverrides> => {
      const members = [];
      for (const { name, api, host, port } of cluster.members()) {
        const tap = await startTap({ host, port });
        behind.push(tap);
        members.push({ name, api, postgres: `127.0.0.1:${tap.address.port}` });
      }
      return { cluster: { scope: cluster.scope, discovery: 'static', members } };
    },
  });
  beforeAll(async () => {
    for (const pool of ['write', 'read']) {
      before.push(await startTap({ host: '127.0.0.1', port: await lab.pointsman.port(pool) }));
    }
    await lab.pointsman.waitUntilReady();
    const { name } = await lab.cluster.leader();
    await lab.cluster.sql(name, `alter role ${lab.cluster.app.user} replication`);
  });
  afterAll(() => {
    for (const tap of [...before, ...behind]) tap.stop();
  });
  return {
    lab,
    port: (pool: 'write' | 'read') => before[pool === 'write' ? 0 : 1]?.address.port ?? 0,
    async expectEqualWires(): Promise<void> {
      await until('the end of all connections', () => open(before) + open(behind) === 0, 10_000);
      expect(said(before).length).toBeGreaterThan(0);
      expect(said(behind)).toEqual(said(before));
    },
  };
}

const itWith = (tool: ClientTool, name: string, run: () => Promise<void>): void =>
  itUnless(whyNoTool(tool), `scenario 30: ${name}`, run);

describeOnEveryCluster('clients of the field', (on) => {
  const wires = tappedCluster(on);
  let directory = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  });
  afterEach(() => wires.expectEqualWires());
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const to = (pool: 'write' | 'read' = 'write') => ({ port: wires.port(pool), as: wires.lab.cluster.app });

  const psql = (...commands: readonly string[]): Promise<string> =>
    runTool('psql', to(), ['-X', '-At', '-v', 'ON_ERROR_STOP=1', ...commands.flatMap((command) => ['-c', command])]);

  async function connected(more: ClientConfig = {}): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port: wires.port('write'), ...wires.lab.cluster.app, ...more });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  const sqlOf = (more: postgres.Options<Record<string, postgres.PostgresType>> = {}) =>
    postgres({ host: '127.0.0.1', port: wires.port('write'), max: 2, ...wires.lab.cluster.app, ...more });

  async function onLeader(sql: string): Promise<unknown> {
    const [row] = await wires.lab.cluster.sql((await wires.lab.cluster.leader()).name, sql);
    return Object.values(row ?? {})[0];
  }

  itWith('psql', 'psql: results, errors, NOTICE, NOTIFY', async () => {
    expect(await psql('select 1', 'select 2')).toBe('1\n2');
    await expect(psql('select 1/0')).rejects.toThrow('division by zero');
    expect(await psql('listen news', "notify news, 'word'", 'select 3')).toContain('"news" with payload "word"');
  });

  itWith('psql', 'psql: COPY in and out, large objects in and out', async () => {
    const rows = Array.from({ length: 50_000 }, (_, n) => `${n}\t${'x'.repeat(n % 50)}\n`).join('');
    await psql('create table copied (n int, word text)');
    await startTool('psql', to(), ['-X', '-q', '-c', 'copy copied from stdin'], Readable.from([rows])).done;
    const { stdout, done } = startTool('psql', to(), ['-X', '-c', 'copy (table copied order by n) to stdout']);
    const [back] = await Promise.all([text(stdout), done]);
    expect(back === rows).toBe(true);

    const [given, returned] = [join(directory, 'given'), join(directory, 'returned')];
    await writeFile(given, rows);
    const oid = /\d+/.exec(await psql(`\\lo_import ${given}`))?.[0];
    await psql(`\\lo_export ${oid} ${returned}`, `\\lo_unlink ${oid}`);
    expect((await readFile(returned, 'utf8')) === rows).toBe(true);
  });

  for (const protocol of ['simple', 'extended', 'prepared']) {
    itWith('pgbench', `pgbench, ${protocol} protocol, through both listeners`, async () => {
      if (protocol === 'simple') await runTool('pgbench', to(), ['-i', '-q', '-s', '1']);
      const options = ['-M', protocol, '-c', '8', '-t', '50', '-n'];
      expect(await runTool('pgbench', to(), options)).toContain('number of failed transactions: 0');
      await wires.lab.pointsman.waitFor('the tables on the replicas', async () => {
        const behind = 'select count(*) from pg_stat_replication where replay_lsn < pg_current_wal_flush_lsn()';
        return String(await onLeader(behind)) === '0';
      });
      const reads = await runTool('pgbench', to('read'), [...options, '-S']);
      expect(reads).toContain('number of failed transactions: 0');
    });
  }

  it('scenario 30: node-postgres: named statements, errors, a large value, LISTEN', async () => {
    const [client, other] = [await connected(), await connected()];
    const heard: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => heard.push(payload));
    await client.query('listen news');
    for (const n of [1, 2]) {
      const named = { name: 'twice', text: 'select $1::int * 2 as n', values: [n] };
      expect((await client.query(named)).rows).toEqual([{ n: n * 2 }]);
    }
    await expect(client.query('select 1/0')).rejects.toMatchObject({ code: '22012' });
    const large = 'é'.repeat(2_000_000);
    expect((await client.query<{ back: string }>('select $1::text as back', [large])).rows[0]?.back).toBe(large);
    await other.query("notify news, 'word'");
    await until('the notification', () => heard.length > 0);
    expect(heard).toEqual(['word']);
    await Promise.all([client.end(), other.end()]);
  });

  it('scenario 30: postgres.js: prepared and pipelined queries, a cursor, COPY both ways, LISTEN', async () => {
    const sql = sqlOf();
    const squares = await Promise.all(
      Array.from({ length: 50 }, (_, n) => sql`select ${n}::int * ${n}::int as square`),
    );
    expect(squares.map(([row]) => row?.['square'] as unknown)).toEqual(squares.map((_, n) => n * n));
    const seen: number[] = [];
    await sql`select generate_series(1, 1000) as n`.cursor(100, (rows) => {
      seen.push(rows.length);
    });
    expect(seen).toEqual(Array.from({ length: 10 }, () => 100));
    await sql`create table lines (line text)`;
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`);
    await pipeline(Readable.from(lines), await sql`copy lines from stdin`.writable());
    expect(await text(await sql`copy lines to stdout`.readable())).toBe(lines.join(''));
    const heard: string[] = [];
    const listening = await sql.listen('news', (word) => heard.push(word));
    await sql.notify('news', 'word');
    await until('the notification', () => heard.length > 0);
    await listening.unlisten();
    await expect(sql`select 1/0`).rejects.toMatchObject({ code: '22012' });
    await sql.end();
  });

  // pg_receivewal refuses a server with a newer version than its own, and the sandbox may run one.
  const itStreams = on.kind === 'Patroni' ? itWith : () => undefined;
  itStreams('pg_receivewal', 'pg_receivewal: a physical replication connection', async () => {
    await onLeader('create table written as select generate_series(1, 20000) as n');
    const end = String(await onLeader('select pg_current_wal_flush_lsn()'));
    const file = String(await onLeader(`select pg_walfile_name('${end}')`));
    await runTool('pg_receivewal', to(), ['-D', directory, '-s', '1', '--no-loop', '--no-sync', `--endpos=${end}`]);
    expect((await stat(join(directory, `${file}.partial`))).size).toBe(16 * 1024 * 1024);
  });

  itWith('pg_recvlogical', 'pg_recvlogical: a logical replication connection', async () => {
    await onLeader('create table told (word text)');
    await onLeader('create publication news for table told');
    const stream = ['--slot=news', '-d', wires.lab.cluster.app.database];
    await runTool('pg_recvlogical', to(), [...stream, '--create-slot', '-P', 'pgoutput']);
    await onLeader("insert into told values ('the word that was told')");
    const end = String(await onLeader('select pg_current_wal_flush_lsn()'));
    const options = ['-o', 'proto_version=1', '-o', 'publication_names=news', '--no-loop', `--endpos=${end}`];
    const out = await runTool('pg_recvlogical', to(), [...stream, '--start', '-f', '-', ...options]);
    expect(out).toContain('the word that was told');
    await runTool('pg_recvlogical', to(), [...stream, '--drop-slot']);
  });

  it('scenario 30: the servers switch TLS on without a restart', async () => {
    await switchOnTls(wires.lab.cluster);
    expect(await psql('select 1')).toBe('1');
  });

  for (const [mode, isEncrypted] of [
    ['disable', false],
    ['allow', false],
    ['prefer', true],
    ['require', true],
    ['verify-ca', true],
    ['verify-full', true],
  ] as const) {
    itWith('psql', `psql, sslmode=${mode}${isEncrypted ? ', with and without channel binding' : ''}`, async () => {
      for (const binding of isEncrypted ? ['disable', 'require'] : ['disable']) {
        const info = `host=pg-a.test hostaddr=127.0.0.1 sslmode=${mode} sslrootcert=${CA} channel_binding=${binding}`;
        expect(await runTool('psql', to(), ['-X', '-At', '-d', info, '-c', COUNT_SSL])).toBe(String(isEncrypted));
      }
    });
  }

  it('scenario 31: the server accepts or refuses direct TLS', async () => {
    const { host, port } = await wires.lab.cluster.leader();
    const ca = await readFile(CA, 'utf8');
    const hello = async (to: { readonly host: string; readonly port: number }): Promise<string> => {
      const socket = connect({ ...to, ca, servername: 'pg-a.test', ALPNProtocols: ['postgresql'] });
      try {
        await once(socket, 'secureConnect');
        const { user, database } = wires.lab.cluster.app;
        socket.write(aStartup({ user, database }));
        const [words] = z.tuple([z.instanceof(Buffer)]).parse(await once(socket, 'data'));
        return words.toString();
      } catch (error) {
        return String(error);
      } finally {
        socket.destroy();
      }
    };
    const direct = await hello({ host, port });
    expect(direct).toMatch(on.kind === 'Patroni' ? /ECONNRESET|disconnected/ : /SCRAM-SHA-256-PLUS/);
    expect(await hello({ host: '127.0.0.1', port: wires.port('write') })).toBe(direct);
  });

  it('scenario 30: node-postgres (with channel binding) and postgres.js verify the certificate', async () => {
    const [ca, servername] = [await readFile(CA, 'utf8'), 'pg-a.test'];
    const client = await connected({ ssl: { ca, servername }, enableChannelBinding: true });
    expect((await client.query(COUNT_SSL)).rows).toEqual([{ ssl: 'true' }]);
    await client.end();
    const sql = sqlOf({ ssl: { ca, servername } });
    expect([...(await sql.unsafe(COUNT_SSL))]).toEqual([{ ssl: 'true' }]);
    await sql.end();
  });
});
