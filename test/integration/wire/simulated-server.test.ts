// The server of the simulation against real ones: random streams of the statements that it knows have the same answers,
// message by message.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeOnEachPostgres } from '../../support/sandbox/each-postgres.ts';
import { startLoginServer, type LoginServer } from '../../support/sandbox/login-server.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { rounds } from '../../support/runner/ci.ts';
import { until } from '../../support/waiting/until.ts';
import { aMessage, SYNC, TERMINATE } from '../../support/sockets/messages.ts';
import type { ServerMessage } from '../../support/sockets/wire-client.ts';
import { ServerBench } from '../../simulation/postgres/server-bench.ts';
import { aBind, anExecute, aParse, aQuery, aStartup, Frames } from '../../simulation/postgres/messages.ts';
import { createWorld } from '../../simulation/world/world.ts';

const STREAMS = rounds(40, 120);

const SETUP = [
  'create role app login',
  'create role auditor',
  'create role reader',
  'grant auditor, reader to app',
  'create table writes (client text, number int)',
  'create table accounts (id int primary key, balance int)',
  'insert into accounts select id, 1000 from generate_series(1, 5) as id',
  `create function transfer(client text, number int, account int, amount int) returns void language sql as
    'insert into writes values ($1, $2); update accounts set balance = balance + $4 where id = $3'`,
  'grant all on writes, accounts to public',
];

async function start(choice: BinariesChoice): Promise<LoginServer> {
  const lab = await startLoginServer(choice);
  await lab.run(...SETUP);
  await lab.permit('host all all 127.0.0.1/32 trust');
  return lab;
}

const NUMBERS = "SELECT number FROM writes WHERE client = 'c'";
const SQL = [
  'BEGIN',
  'BEGIN',
  'COMMIT',
  'ROLLBACK',
  "INSERT INTO writes VALUES ('c', 1)",
  "INSERT INTO writes VALUES ('c', 2)",
  "SELECT transfer('c', 3, 1, -20)",
  NUMBERS,
  'SELECT 1',
  'nonsense',
  "SET app.tenant = 'acme'",
  'SHOW app.tenant',
  "SET work_mem = '8MB'",
  "SET LOCAL work_mem = '16MB'",
  'RESET work_mem',
  'SHOW work_mem',
  "SET TimeZone = 'America/Lima'",
  'SET no_setting = 1',
  'SET ROLE auditor',
  'SET ROLE none',
  'SELECT session_user, current_user, current_database()',
  `PREPARE q AS ${NUMBERS}`,
  'EXECUTE q',
  'DEALLOCATE q',
  'LISTEN news',
  'UNLISTEN *',
  'SELECT pg_listening_channels()',
  'SELECT pg_advisory_lock(7)',
  "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
  'SELECT pg_advisory_unlock_all()',
  "BEGIN; INSERT INTO writes VALUES ('c', 4); COMMIT",
  "INSERT INTO writes VALUES ('c', 5); nonsense",
  "SET work_mem = '9MB'; nonsense",
  '',
];

const query = fc.constantFrom(...SQL).map((sql) => ({ name: `Query ${sql}`, bytes: aQuery(sql) }));
const name = fc.constantFrom('', 'p');
const part = fc.oneof(
  fc
    .tuple(
      name,
      fc.constantFrom(NUMBERS, "INSERT INTO writes VALUES ('c', $1)", 'SELECT 1', 'BEGIN', 'COMMIT', 'nonsense'),
    )
    .map(([to, sql]) => ({ name: `Parse ${to}: ${sql}`, bytes: aParse(to, sql) })),
  name.map((to) => ({ name: `Bind ${to}, Execute`, bytes: Buffer.concat([aBind(to, []), anExecute()]) })),
  name.map((to) => ({ name: `Bind ${to} 7, Execute`, bytes: Buffer.concat([aBind(to, ['7']), anExecute()]) })),
  name.map((to) => ({ name: `Describe ${to}`, bytes: aMessage('D', Buffer.from(`S${to}\0`)) })),
  name.map((to) => ({ name: `Close ${to}`, bytes: aMessage('C', Buffer.from(`S${to}\0`)) })),
);
const batch = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => ({
  name: `${parts.map((one) => one.name).join(', ')}, Sync`,
  bytes: Buffer.concat([...parts.map(({ bytes }) => bytes), SYNC]),
}));
const stream = fc.array(fc.oneof({ weight: 3, arbitrary: query }, { weight: 2, arbitrary: batch }), {
  minLength: 4,
  maxLength: 12,
});

/** Texts of errors and notices are PostgreSQL's own, and so is the order of rows. */
function shape(messages: readonly ServerMessage[]): readonly string[] {
  const lines = messages
    .filter(({ type }) => type !== 'N')
    .map(({ type, body }) => {
      const text = body.toString('latin1');
      if (type === 'E') return `error ${/\0C(\w{5})/.exec(`\0${text}`)?.[1]}`;
      if (type === 'T') return `columns ${columns(body)}`;
      return `${type} ${text.replace('Etc/UTC', 'UTC').replaceAll('\0', ' ').trim()}`;
    });
  const rows = lines.filter((line) => line.startsWith('D ')).toSorted();
  return lines.map((line) => (line.startsWith('D ') ? (rows.shift() ?? '') : line));
}

/** Without the table that a column is of, and its number in it. */
function columns(body: Buffer): string {
  const names: string[] = [];
  for (let at = 2; at < body.length; at += 18) {
    const end = body.indexOf(0, at);
    names.push(`${body.toString('latin1', at, end)}:${body.readInt32BE(end + 7)}`);
    at = end + 1;
  }
  return names.join(' ');
}

describeOnEachPostgres('the server of the simulation', start, (lab, logIn) => {
  test('answers as PostgreSQL does', async () => {
    await fc.assert(
      fc.asyncProperty(stream, async (requests) => {
        await lab.run('truncate writes');
        const real = await logIn();
        const simulated = await answers(requests.map(({ bytes }) => bytes));
        for (const [index, { name, bytes }] of requests.entries()) {
          const expected = shape(await real.exchange(bytes));
          expect([name, ...(simulated[index] ?? [])]).toEqual([name, ...expected]);
        }
        // Its locks are gone before the next session asks for them.
        real.socket.end(TERMINATE);
        await until('the end of the session', () => real.socket.closed);
      }),
      { numRuns: STREAMS },
    );
  });
});

/** One session of a simulated server; the answer to each request. */
async function answers(requests: readonly Buffer[]): Promise<readonly (readonly string[])[]> {
  const world = createWorld(1);
  const bench = new ServerBench(world);
  await world.run(400);
  const socket = bench.client.connect(5432, bench.server.host);
  const frames = new Frames(false);
  socket.on('data', (chunk: Buffer) => frames.add(chunk));
  socket.on('connect', () => socket.write(aStartup({ user: 'app', database: 'postgres' })));
  await world.run(50);
  while (frames.next() !== undefined);
  const all: (readonly string[])[] = [];
  for (const request of requests) {
    socket.write(request);
    await world.run(30);
    const messages: ServerMessage[] = [];
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) messages.push(frame);
    all.push(shape(messages));
  }
  socket.destroy();
  return all;
}
