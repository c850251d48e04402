// The errors that users of psql, node-postgres and postgres.js read when Pointsman refuses them, and libpq's choice
// when it has a second host. One case per SQLSTATE of ours.
import { Client } from 'pg';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freeAddresses } from '../../../support/labs/app-lab.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { runTool, startTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';

let server: FakeBackend;
let lab: ProxyLab;
let nobody: { readonly host: string; readonly port: number };

beforeAll(async () => {
  server = await startFakeBackend('obliging');
  const [free] = await freeAddresses(1);
  if (free === undefined) throw new Error('no free port');
  nobody = free;
});

afterEach(() => lab.proxy.close());

afterAll(() => server.stop());

interface Case {
  readonly database?: string;
  readonly start: () => Promise<ProxyLab>;
  readonly code: string;
  readonly message: RegExp;
  /** Undefined where the error has no DETAIL. */
  readonly detail: RegExp | undefined;
  readonly hint: RegExp;
  /** Whether libpq goes to its next host. */
  readonly movesOn: boolean;
  readonly isReady: 'rejecting connections' | 'accepting connections';
}

const replica = { others: { 'pg-2': { address: { host: '10.0.0.7', port: 5432 }, standing: DEMOTED } } };
const open = () => ({ write: { open: { 'pg-1': server.address } } });
const lateButSoon = /^Connect again in a few seconds\./;

const CASES: Readonly<Record<string, Case>> = {
  'no member to route to': {
    start: () => startProxyLab({ table: { write: { otherwise: 'closed', ...replica } } }),
    code: '57P03',
    message: /^pointsman: no primary available for pool "write" \(no_route\)$/,
    detail: /^members: pg-2 \(is a replica\)$/,
    hint: lateButSoon,
    movesOn: true,
    isReady: 'rejecting connections',
  },
  'no member within the hold': {
    start: () => startProxyLab({ hold: { clientTimeoutMs: 20 }, table: { write: replica } }),
    code: '57P03',
    message: /^pointsman: no primary available for pool "write" after waiting \d+ ms \(hold_timeout\)$/,
    detail: /^members: pg-2 \(is a replica\)$/,
    hint: lateButSoon,
    movesOn: true,
    isReady: 'rejecting connections',
  },
  'the proxy shuts down': {
    start: async () => {
      const polite = await startFakeBackend('polite');
      const draining = await startProxyLab({ table: { write: { open: { 'pg-1': polite.address } } } });
      const busy = await connectRaw(draining.address('write'));
      busy.socket.write(aStartup());
      await until('the session', () => draining.proxy.counts().get('write')?.states.relaying === 1);
      void draining.proxy.drain(60_000).then(() => polite.stop());
      return draining;
    },
    code: '57P03',
    message: /^pointsman: the proxy is shutting down \(shutdown\)$/,
    detail: undefined,
    hint: /^Connect to another proxy/,
    movesOn: true,
    isReady: 'rejecting connections',
  },
  'a connect that fails': {
    start: () => startProxyLab({ hold: { clientTimeoutMs: 20 }, table: { write: { open: { 'pg-1': nobody } } } }),
    code: '08006',
    message: /^pointsman: could not connect to a member of pool "write" after waiting \d+ ms \(connect_failed\)$/,
    detail: /^pg-1: connection refused; members: pg-1 \(passes the check\)$/,
    hint: lateButSoon,
    movesOn: false,
    isReady: 'accepting connections',
  },
  'too many sessions': {
    start: () => startProxyLab({ client: { maxSessions: 0 }, table: open() }),
    code: '53300',
    message: /^pointsman: too many client connections \(too_many_sessions\)$/,
    detail: /^the limit of 0 sessions is reached$/,
    hint: /max_sessions/,
    movesOn: false,
    isReady: 'accepting connections',
  },
  'too many who wait': {
    start: () => startProxyLab({ hold: { maxSessions: 0 }, table: { write: replica } }),
    code: '53300',
    message: /^pointsman: too many clients are waiting for pool "write" \(hold_full\)$/,
    detail: /^0 clients are waiting already; members: pg-2/,
    hint: lateButSoon,
    movesOn: false,
    isReady: 'accepting connections',
  },
  'an unknown target': {
    database: 'shop@nowhere',
    start: () => startProxyLab({ pools: [aWritePool(), aPool()], table: open() }),
    code: '3D000',
    message: /^pointsman: unknown pool \(unknown_pool\)$/,
    detail: /^no pool named "nowhere"; available: write, read, rw \(write\), ro \(read\)$/,
    hint: /^The part after the last @ of a database name selects the pool\./,
    movesOn: false,
    isReady: 'accepting connections',
  },
  'a startup packet that PostgreSQL would not take': {
    database: 'x'.repeat(10_000),
    start: () => startProxyLab({ table: open() }),
    code: '08P01',
    message: /^pointsman: invalid startup packet \(not_postgres\)$/,
    detail: /^invalid length of startup packet: 10\d\d\d$/,
    hint: /10000 bytes/,
    movesOn: false,
    isReady: 'accepting connections',
  },
};

function as(database = 'shop') {
  return { user: 'app', password: 'secret', database };
}

const PSQL = ['-X', '-At', '-c', 'select 1'];

async function failure(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each(Object.entries(CASES))('%s: node-postgres and postgres.js show the whole error', async (_, one) => {
  lab = await one.start();
  const to = { ...lab.address('write'), ...as(one.database) };
  const detail = one.detail === undefined ? {} : { detail: expect.stringMatching(one.detail) };
  const all = {
    code: one.code,
    message: expect.stringMatching(one.message),
    ...detail,
    hint: expect.stringMatching(one.hint),
  };
  const client = new Client(to);
  client.on('error', () => {});
  const error = await failure(client.connect());
  expect(error).toMatchObject({ severity: 'FATAL', ...all });

  const sql = postgres({ ...to, max: 1, fetch_types: false });
  const other = await failure(sql`select 1`.simple());
  expect(other).toMatchObject({ name: 'PostgresError', severity: 'FATAL', ...all });
  await sql.end();
});

async function isReady(port: number): Promise<string> {
  const { stdout, done } = startTool('pg_isready', { port, as: as() }, []);
  const said: string[] = [];
  stdout.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  await failure(done);
  return said.join('');
}

describeUnless(whyNoTool('psql'), 'by libpq', () => {
  test.each(Object.entries(CASES))('%s: psql shows message, DETAIL and HINT', async (_, one) => {
    lab = await one.start();
    const { port } = lab.address('write');
    const said = String(await failure(runTool('psql', { port, as: as(one.database) }, PSQL)));
    expect(/FATAL: {2}(.*)$/m.exec(said)?.[1]).toMatch(one.message);
    if (one.detail === undefined) expect(said).not.toContain('DETAIL');
    else expect(/^DETAIL: {2}(.*)$/m.exec(said)?.[1]).toMatch(one.detail);
    expect(/^HINT: {2}(.*)$/m.exec(said)?.[1]).toMatch(one.hint);
  });

  test.each(Object.entries(CASES))('%s: the second host of libpq, and pg_isready', async (_, one) => {
    lab = await one.start();
    const { port } = lab.address('write');
    const hosts = `host=127.0.0.1,127.0.0.1 port=${port},${server.address.port}`;
    const running = runTool('psql', { port, as: as(one.database) }, [
      ...PSQL,
      '-d',
      `${hosts} dbname=${one.database ?? 'shop'}`,
    ]);
    expect((await failure(running)) === undefined).toBe(one.movesOn);
    expect(await isReady(port)).toContain(one.isReady);
  });
});
