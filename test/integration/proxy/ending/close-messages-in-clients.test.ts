// The message that users of psql, node-postgres and postgres.js read when Pointsman ends their relayed session.
import { PassThrough } from 'node:stream';
import { Client } from 'pg';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runTool, startTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';
import { itUnless } from '../../../support/runner/unless-missing.ts';

const AS = { user: 'app', password: 'secret', database: 'shop' };

let old: FakeBackend;
let next: FakeBackend;
let lab: ProxyLab;

beforeEach(async () => {
  [old, next] = await Promise.all([startFakeBackend('obliging'), startFakeBackend('obliging')]);
  lab = await startProxyLab({ table: { write: { open: { 'pg-1': old.address } } } });
});

afterEach(() => lab.end(old, next));

function demote(): void {
  lab.decide({
    write: {
      open: { 'pg-2': next.address },
      others: { 'pg-1': { address: old.address, standing: DEMOTED } },
    },
  });
}

const EVICTED = {
  message: 'pointsman: terminating connection: the server is no longer the primary (evicted_demoted)',
  detail: 'pg-1: is a replica',
  hint: 'No transaction was open. Connect again.',
};

test('57P01: node-postgres reports it, with DETAIL and HINT, and connects to the new primary', async () => {
  const client = new Client({ ...lab.address('write'), ...AS });
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  await client.connect();
  await client.query('select 1');
  demote();
  await until('the error', () => errors.length > 0);
  expect(errors[0]).toMatchObject({ severity: 'FATAL', code: '57P01', ...EVICTED });
  const again = new Client({ ...lab.address('write'), ...AS });
  await again.connect();
  await again.query('select 1');
  await again.end();
  expect(next.connections).toHaveLength(1);
});

test('57P01: postgres.js opens a new session for its next query, which does not fail', async () => {
  let hasClosed = false;
  const onclose = (): void => void (hasClosed = true);
  const sql = postgres({ ...lab.address('write'), ...AS, max: 1, fetch_types: false, onclose });
  await sql`select 1`.simple();
  demote();
  await until('the end', () => hasClosed);
  await sql`select 1`.simple();
  expect(next.connections).toHaveLength(1);
  await sql.end();
});

itUnless(whyNoTool('psql'), '57P01: psql shows it at the next command', async () => {
  const input = new PassThrough();
  const { port } = lab.address('write');
  const { stdout, done } = startTool('psql', { port, as: AS }, ['-X', '-At'], input);
  const printed: string[] = [];
  stdout.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  input.write('select 1;\n');
  await until('its answer', () => printed.join('').includes('SELECT 1'));
  demote();
  await until('the end', () => old.last().isClosed);
  input.end('select 2;\n');
  const { message, detail, hint } = EVICTED;
  await expect(done).rejects.toThrow(`FATAL:  ${message}\nDETAIL:  ${detail}\nHINT:  ${hint}\n`);
});

const LANDED = 'pointsman: the server of pool "write" is a standby (landed_on_standby)';
const ON = 'pg-1: in_hot_standby is on';

test('57P03: a server that reports to be a standby: node-postgres and postgres.js report it', async () => {
  old.behaviour = 'standby';
  const client = new Client({ ...lab.address('write'), ...AS });
  client.on('error', () => {});
  await expect(client.connect()).rejects.toMatchObject({ code: '57P03', message: LANDED, detail: ON });
  const sql = postgres({ ...lab.address('write'), ...AS, max: 1, fetch_types: false });
  await expect(sql`select 1`.simple()).rejects.toMatchObject({ code: '57P03', message: LANDED, detail: ON });
  await sql.end();
});

itUnless(whyNoTool('psql'), '57P03: the same in psql, which goes on to its next host if it has one', async () => {
  old.behaviour = 'standby';
  const { port } = lab.address('write');
  const alone = runTool('psql', { port, as: AS }, ['-X', '-At', '-c', 'select 1']);
  await expect(alone).rejects.toThrow(`FATAL:  ${LANDED}\nDETAIL:  ${ON}\n`);
  const hosts = `host=127.0.0.1,127.0.0.1 port=${port},${next.address.port}`;
  expect(await runTool('psql', { port, as: AS }, ['-X', '-At', '-c', 'select 1', '-d', hosts])).toBe('SELECT 1');
});
