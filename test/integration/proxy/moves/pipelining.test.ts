// A client that sends its next statements before the answers to the last ones is never idle by itself. It moves all the
// same, between two of its transactions.
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import { aMessage } from '../../../support/sockets/messages.ts';
import { WireClient, aParse, aRun } from '../../../support/sockets/wire-client.ts';

/** Transactions, in one write. */
const SENT = 1_500;
/** So long that no buffer on the way holds all statements. */
const PADDING = `/* ${'x'.repeat(20_000)} */`;
const SYNC = aMessage('S');

function aQuery(sql: string): Buffer {
  return aMessage('Q', Buffer.from(`${sql}\0`));
}

/** Each inserts one row. `answers`: its ReadyForQuery. */
const TRANSACTIONS = [
  { bytes: aQuery(`${PADDING} begin; insert into piped values (pg_backend_pid()); commit`), answers: 1 },
  {
    bytes: Buffer.concat([
      aQuery(`${PADDING} begin`),
      aQuery('insert into piped values (pg_backend_pid())'),
      aQuery('commit'),
    ]),
    answers: 3,
  },
  // A longer unnamed statement would keep the session where it is.
  { bytes: Buffer.concat([aParse('', 'insert into piped values (pg_backend_pid())'), aRun(''), SYNC]), answers: 1 },
  { bytes: Buffer.concat([aRun('named'), SYNC]), answers: 1 },
];

describeUnless(missingForSandbox, 'a client that sends ahead', () => {
  test.each(['streams', 'auto'] as const)('moves, relayed by %s', { timeout: 60_000 }, async (relay) => {
    const login = await startLoginServer('embedded');
    onTestFinished(() => login.close());
    await login.run('create role trusted login', 'create table piped (id int)', 'grant all on piped to public');
    await login.permit('host all trusted 127.0.0.1/32 trust');
    const { name, host, port } = login.server;
    const table = { write: { open: { [name]: { host, port } } } };
    const lab = await startProxyLab({ relay, moves: {}, table });
    onTestFinished(() => lab.proxy.close());
    const client = await WireClient.connect(lab.address('write'), { user: 'trusted', database: 'postgres' });
    await client.exchange(aParse('named', 'insert into piped values (pg_backend_pid())'), SYNC);
    const blocker = new Client({ host, port, user: 'trusted', database: 'postgres' });
    onTestFinished(() => blocker.end());
    await blocker.connect();
    await blocker.query('begin; lock table piped');
    const transactions = Array.from({ length: SENT }, (_, at) => TRANSACTIONS[at % TRANSACTIONS.length]);
    client.socket.write(Buffer.concat(transactions.map((one) => one?.bytes ?? SYNC)));
    const waiting = "select 1 from pg_locks where relation = 'piped'::regclass and not granted";
    const isWaiting = async (): Promise<boolean> => (await login.server.query(waiting)).length > 0;
    await waitUntil('the first transaction', isWaiting, { timeoutMs: 10_000 });
    const moved = lab.proxy.move(1);
    await blocker.query('commit');
    expect(await moved).toMatchObject({ kind: 'moved' });
    for (let due = transactions.reduce((sum, one) => sum + (one?.answers ?? 0), 0); due > 0; due -= 1) {
      const messages = await client.answer();
      expect(messages.filter(({ type }) => type === 'E').map(({ body }) => body.toString())).toEqual([]);
    }
    expect(await client.query('select count(*) from piped')).toEqual([String(SENT)]);
    // It was idle behind one of the first transactions, not behind the last one.
    expect(await client.query('select count(distinct id) from piped')).toEqual(['2']);
  });
});
