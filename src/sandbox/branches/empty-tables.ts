// Makes a branch of `init_source: schema-only`: the definitions of its parent, and no rows.
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Credentials } from '../postgres/settings-files.ts';
import { openSql } from '../postgres/sql.ts';

const DATABASES = 'select datname from pg_database where datallowconn and not datistemplate';

const EMPTY = `do $$
declare
  one record;
  tables text;
begin
  select string_agg(format('%I.%I', nspname, relname), ', ') into tables
  from pg_class join pg_namespace n on n.oid = relnamespace
  where relkind in ('r', 'p') and nspname <> 'information_schema' and nspname !~ '^pg_';
  if tables is not null then
    execute 'truncate ' || tables || ' restart identity cascade';
  end if;
  for one in select schemaname, matviewname from pg_matviews loop
    execute format('refresh materialized view %I.%I with no data', one.schemaname, one.matviewname);
  end loop;
  perform lo_unlink(oid) from pg_largeobject_metadata;
end $$`;

const EMPTY_WITHIN_MS = 60_000;

/** In every database. */
export async function emptyTables(server: PostgresServer, superuser: Credentials): Promise<void> {
  const { host, port } = server;
  for (const { datname: database } of await server.query<{ datname: string }>(DATABASES)) {
    const sql = openSql({ host, port, ...superuser, database });
    try {
      await sql.query(EMPTY, [], EMPTY_WITHIN_MS);
    } finally {
      sql.reset();
    }
  }
}
