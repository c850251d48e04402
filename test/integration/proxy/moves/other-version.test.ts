// A session goes to a server of another major version, as with an upgrade by logical replication: it has its state
// there and its client is told what is different, or it ends with the reason.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Connection } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifierOpener } from '../../../../src/verifiers/batch.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { whyNoOlderPostgres } from '../../../support/moves/system-postgres.ts';
import { WireSession } from '../../../support/moves/wire-session.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { ask } from '../../../support/sandbox/postgres.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';
import { until } from '../../../support/waiting/until.ts';

declare module 'pg' {
  interface Client {
    /** The published types lack it. */
    readonly connection: Connection;
  }
}

const PATIENCE_MS = 20_000;
const PROTOCOL_3_2 = 0x00030002;
const TWICE = { name: 'twice', text: 'select $1::int * 2 as n' };
const SUM = 'select sum(n)::int as sum from (values (1), (2)) as v(n)';

describeUnless(await whyNoOlderPostgres(), 'moves between the PostgreSQL of the system and PostgreSQL 18', () => {
  const servers: Record<'system' | 'embedded', LoginServer | undefined> = { system: undefined, embedded: undefined };
  const clients: Client[] = [];
  let directory: string;
  let file: string;
  let lab: ProxyLab;

  beforeAll(async () => {
    servers.system = await startLoginServer('system');
    servers.embedded = await startLoginServer('embedded');
    await server('system').run("create role mover login password 'secret'", 'create role trusted login');
    const verifier = await ask(server('system').server, "select rolpassword from pg_authid where rolname = 'mover'");
    // The verifier is copied with the role.
    await server('embedded').run(`create role mover login password '${verifier}'`, 'create role trusted login');
    for (const name of ['system', 'embedded'] as const) {
      await server(name).permit('host all trusted 127.0.0.1/32 trust', 'host all mover 127.0.0.1/32 scram-sha-256');
    }
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    file = join(directory, 'userlist.txt');
    await writeFile(file, `"mover" "${verifier}"\n`);
  }, 60_000);

  beforeEach(async () => {
    lab = await startProxyLab({
      moves: { verifiers: { kind: 'file', file } },
      openVerifiers: verifierOpener(systemClock),
    });
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    await lab.end();
  });

  afterAll(async () => {
    for (const one of Object.values(servers)) await one?.close();
    await rm(directory, { recursive: true });
  });

  function server(name: 'system' | 'embedded'): LoginServer {
    const found = servers[name];
    if (found === undefined) throw new Error(`no server ${name}`);
    return found;
  }

  function address(name: 'system' | 'embedded') {
    const { host, port } = server(name).server;
    return { host, port };
  }

  /** The session's server leaves, and the other one is the primary then. */
  async function upgrade(from: 'system' | 'embedded', to: 'system' | 'embedded'): Promise<void> {
    lab.decide({ write: { others: { [from]: { address: address(from), standing: HANDING_OVER } } } });
    await until('the park', () => lab.events.some(({ kind }) => kind === 'session_parked'), PATIENCE_MS);
    await writeBeyond(from, to);
    lab.decide({ write: { open: { [to]: address(to) } } });
  }

  /** Both are on their first timeline: with less WAL than the old server the next one would lack something. */
  async function writeBeyond(from: 'system' | 'embedded', to: 'system' | 'embedded'): Promise<void> {
    const written = await ask(server(from).server, 'select pg_current_wal_insert_lsn()');
    const isBeyond = async (): Promise<boolean> => {
      await server(to).run('select pg_logical_emit_message(false, $$more$$, $$WAL$$)', 'select pg_switch_wal()');
      return (await ask(server(to).server, `select pg_current_wal_insert_lsn() > '${written}'`)) === 'true';
    };
    await until('more WAL', isBeyond, PATIENCE_MS);
  }

  test.each([
    ['system', 'embedded'],
    ['embedded', 'system'],
  ] as const)(
    'G24: from %s to %s: the state goes along, and the client is told what is different',
    async (from, to) => {
      lab.decide({ write: { open: { [from]: address(from) } } });
      const client = new Client({ ...lab.address('write'), user: 'mover', password: 'secret', database: 'postgres' });
      clients.push(client);
      const told = new Map<string, string>();
      const surprises: unknown[] = [];
      client.on('error', (error) => surprises.push(error)).on('notice', (notice) => surprises.push(notice));
      client.connection.on('parameterStatus', (parameter: { parameterName: string; parameterValue: string }) => {
        told.set(parameter.parameterName, parameter.parameterValue);
      });
      await client.connect();
      const before = told.get('server_version');
      await client.query("set work_mem = '7MB'");
      await client.query("set app.tenant = 'blue'");
      await client.query({ ...TWICE, values: [1] });
      await client.query(`prepare added as ${SUM}`);
      const answer = upgrade(from, to).then(() => client.query({ ...TWICE, values: [21] }));
      expect((await answer).rows).toEqual([{ n: 42 }]);
      expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
      expect((await client.query("select current_setting('app.tenant') as tenant")).rows).toEqual([{ tenant: 'blue' }]);
      expect((await client.query('execute added')).rows).toEqual([{ sum: 3 }]);
      expect(told.get('server_version')).not.toBe(before);
      expect(told.get('server_version')).toBe(await ask(server(to).server, 'show server_version'));
      expect(surprises).toEqual([]);
      expect(lab.reasons()).toEqual([]);
    },
  );

  test('a session of protocol 3.2 ends at a server that declines it', async () => {
    lab.decide({ write: { open: { embedded: address('embedded') } } });
    const parameters = { user: 'trusted', database: 'postgres' };
    const session = await WireSession.open(lab.address('write'), parameters, PROTOCOL_3_2);
    await upgrade('embedded', 'system');
    await until('the end', () => session.isEnded && lab.reasons().length > 0, PATIENCE_MS);
    expect(lab.reasons()).toEqual(['move_login']);
    const [error] = session.unasked;
    expect(error?.type).toBe('E');
    expect(error?.body.toString()).toContain('the server agrees on another version of the protocol');
  });
});
