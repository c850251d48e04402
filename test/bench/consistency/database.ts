// The tables of the application, and log lines of the server for each write, which survive a rewind.
import { z } from 'zod';
import { SERVER_NAME } from '../../support/clusters/server-name.ts';
import type { Place, Sight, StoredWrite } from './history.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';

export const ACCOUNTS = 10;
const BALANCE = 1000;
export const SUM = ACCOUNTS * BALANCE;

const COLUMNS = 'client int not null, n int not null, server text, timeline int, lsn pg_lsn, transaction text';

/** As the application. No table has a unique key: a write that happened twice must show. */
const SCHEMA = `
  create table written (${COLUMNS});
  create index on written (client, n);
  create table accounts (id int primary key, balance bigint not null);
  insert into accounts select id, ${BALANCE} from generate_series(1, ${ACCOUNTS}) id;
  create table transfers (${COLUMNS}, source int not null, target int not null, amount int not null);
  create table direct (${COLUMNS});
  create function sign_write() returns trigger language plpgsql as $$
    declare position pg_lsn := pg_current_wal_insert_lsn();
    begin
      new.server := host(inet_server_addr()) || ':' || inet_server_port();
      new.timeline := ('x' || left(pg_walfile_name(position), 8))::bit(32)::int;
      new.lsn := position;
      new.transaction := pg_current_xact_id()::text;
      raise log 'executed % % %', new.client, new.n, new.timeline;
      return new;
    end $$;
  create function log_commit() returns trigger language plpgsql as $$
    begin
      raise log 'committing % % % %', new.client, new.n, new.timeline, pg_current_wal_insert_lsn();
      return null;
    end $$;
  create trigger sign before insert on written for each row execute function sign_write();
  create trigger sign before insert on transfers for each row execute function sign_write();
  create trigger sign before insert on direct for each row execute function sign_write();
  create constraint trigger log_commit after insert on written initially deferred
    for each row execute function log_commit();
  create constraint trigger log_commit after insert on transfers initially deferred
    for each row execute function log_commit();
`;

/** Every server logs the time of a line in seconds, and a line for each write and for its COMMIT. */
export const SERVER_PARAMETERS = {
  // A server that was cut off does not learn that its session was reset, and keeps its locks for two hours.
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  log_line_prefix: '%n [%p] ',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

export async function createTables(cluster: PatroniCluster): Promise<void> {
  const { name } = await cluster.leader();
  await cluster.sql(name, SCHEMA, { as: cluster.app, timeoutMs: 20_000 });
}

/** Answers with its Place in JSON. */
export function insertNumber(client: number, n: number): string {
  return `insert into written (client, n) values (${client}, ${n}) returning ${PLACE}`;
}

export function insertDirect(client: number, n: number): string {
  return `insert into direct (client, n) values (${client}, ${n})`;
}

export interface Transfer {
  readonly source: number;
  readonly target: number;
  readonly amount: number;
}

/** Between BEGIN and COMMIT; the last one answers with its Place. Always the lower account first: no deadlocks. */
export function transferStatements(client: number, n: number, transfer: Transfer): readonly string[] {
  const { source, target, amount } = transfer;
  const changes = [
    { id: source, by: -amount },
    { id: target, by: amount },
  ].toSorted((a, b) => a.id - b.id);
  return [
    ...changes.map(({ id, by }) => `update accounts set balance = balance + (${by}) where id = ${id}`),
    `insert into transfers (client, n, source, target, amount)
       values (${client}, ${n}, ${source}, ${target}, ${amount}) returning ${PLACE}`,
  ];
}

const PLACE = `json_build_object('client', client, 'n', n, 'server', server, 'timeline', timeline, 'lsn', lsn,
  'transaction', transaction)::text`;
const place = z.object({
  client: z.number(),
  n: z.number(),
  server: z.string(),
  timeline: z.number(),
  lsn: z.string(),
  transaction: z.string(),
});

export function parsePlace(text: string): Place {
  return place.parse(JSON.parse(text));
}

const TIMELINE = `('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int`;

/** Everything that a session sees in one snapshot, in JSON. */
export function look(clients: readonly number[]): string {
  return `select json_build_object(
    'seen', (select json_agg(json_build_array(client,
        coalesce((select max(n) from written where written.client = one.client), 0)))
      from unnest('{${clients.join(',')}}'::int[]) one (client)),
    'sum', (select sum(balance)::int from accounts),
    'primary', case when not pg_is_in_recovery() then json_build_object(
      'server', ${SERVER_NAME},
      'timeline', ${TIMELINE},
      'atMs', floor(extract(epoch from clock_timestamp()) * 1000)) end)::text`;
}

const seen = z.object({
  seen: z.array(z.tuple([z.number(), z.number()])),
  sum: z.number(),
  primary: z.object({ server: z.string(), timeline: z.number(), atMs: z.number() }).nullable(),
});

export function parseLook(text: string): Pick<Sight, 'seen' | 'primary'> & { readonly sum: number } {
  const { seen: pairs, sum, primary } = seen.parse(JSON.parse(text));
  return { seen: new Map(pairs), sum, primary: primary ?? undefined };
}

const PATIENCE = { timeoutMs: 30_000 };

export async function storedWrites(cluster: PatroniCluster, member: string): Promise<readonly StoredWrite[]> {
  const rows = await cluster.sql(
    member,
    `select client, n, kind, count(*)::int as copies from (
       select client, n, 'insert' as kind from written union all select client, n, 'transfer' from transfers) as writes
     group by client, n, kind order by client, n`,
    PATIENCE,
  );
  return z
    .array(z.object({ client: z.number(), n: z.number(), kind: z.enum(['insert', 'transfer']), copies: z.number() }))
    .parse(rows);
}

export async function balances(cluster: PatroniCluster, member: string): Promise<{ sum: number; wrong: number }> {
  const [row] = await cluster.sql(
    member,
    `select sum(balance)::int as sum, count(*) filter (where balance <> ${BALANCE} + made)::int as wrong
     from accounts, lateral (select coalesce(sum(case when target = id then amount else -amount end), 0) as made
       from transfers where id in (source, target)) as sums`,
    PATIENCE,
  );
  return z.object({ sum: z.number(), wrong: z.number() }).parse(row);
}

/** By timeline, the servers that wrote the rows that are there. */
export async function rowWriters(
  cluster: PatroniCluster,
  member: string,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const tables = ['written', 'transfers', 'direct'].map((table) => `select timeline, server from ${table}`);
  const sql = `select timeline, array_agg(distinct server) as servers from (${tables.join(' union ')}) as rows
    group by timeline`;
  const rows = z.array(z.object({ timeline: z.number(), servers: z.array(z.string()) }));
  const read = rows.parse(await cluster.sql(member, sql, PATIENCE));
  return new Map(read.map(({ timeline, servers }) => [timeline, servers]));
}

/** Equal for equal rows. */
export async function digest(cluster: PatroniCluster, member: string): Promise<string> {
  const tables = ['written', 'transfers', 'accounts', 'direct'];
  const digests = tables.map(
    (table) => `(select count(*) || ' ' || md5(string_agg(row::text, ',' order by row::text)) from ${table} as row)`,
  );
  const [row] = await cluster.sql(member, `select concat_ws(', ', ${digests.join(',')}) as digest`, PATIENCE);
  return z.object({ digest: z.string() }).parse(row).digest;
}
