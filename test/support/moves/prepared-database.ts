// The database of the applications whose sessions move: tables, roles and functions that leave state in a session; and
// the function that gives out verifiers, with the configuration for it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { ADMIN_TOKEN, LOOKUP_PASSWORD } from '../values/canaries.ts';

const LOOKUP = { user: 'pointsman_lookup', password: LOOKUP_PASSWORD };
/** The custom setting whose name no statement and no function shows. */
export const COMPUTED = 'app.computed';

/** As the application's user. */
export const APPLICATION_SQL = `
  create table numbers (n int);
  create table loaded (id bigint generated always as identity primary key, source text not null);
  create table notes (tenant text not null, note text not null);
  insert into notes values ('blue', 'for blue'), ('green', 'for green');
  alter table notes enable row level security;
  alter table notes force row level security;
  create policy own on notes using (tenant = current_setting('app.tenant', true));
  create function act_for(tenant text) returns void language plpgsql as
    $$ begin perform set_config('app.tenant', tenant, false); end $$;
  create function speak(language text) returns void language plpgsql as
    $$ begin perform set_config('app.' || 'computed', language, false); end $$;
  create function hurry() returns void language plpgsql as
    $$ begin set work_mem = '7MB'; end $$;
  create function claim(job bigint) returns void language sql as $$ select pg_advisory_lock(job) $$;
`;

/** As superuser in the application's database. */
function administratorSql(app: string): string {
  return `
    create role app_reader;
    grant app_reader to ${app};
    grant select on notes to app_reader;
    create role ${LOOKUP.user} login password '${LOOKUP.password}' connection limit 4;
    create schema pointsman;
    create function pointsman.verifier(role name) returns text
      language sql security definer set search_path = pg_catalog as $$
        select rolpassword from pg_authid where rolname = role and rolcanlogin and not rolsuper and not rolreplication
      $$;
    revoke all on function pointsman.verifier(name) from public;
    grant usage on schema pointsman to ${LOOKUP.user};
    grant execute on function pointsman.verifier(name) to ${LOOKUP.user};
  `;
}

/** Once, on the primary. */
export async function prepareDatabase(cluster: ClusterUnderTest): Promise<void> {
  const { name } = await cluster.leader();
  await cluster.sql(name, APPLICATION_SQL, { as: cluster.app, timeoutMs: 20_000 });
  await cluster.sql(name, administratorSql(cluster.app.user), { timeoutMs: 20_000 });
}

/** The sections of a configuration with moves. `directory`: for the file with the password. */
export function movesConfig(
  cluster: ClusterUnderTest,
  directory: string,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const file = join(directory, 'lookup-password');
  writeFileSync(file, `${LOOKUP.password}\n`, { mode: 0o600 });
  const verifiers = { user: LOOKUP.user, password_file: file, database: cluster.app.database };
  const moves: Record<string, unknown> = {
    roles: [cluster.app.user, 'svc_*'],
    verifiers,
    settings: [COMPUTED],
    // Longer than a slow machine needs.
    wait: '60s',
    park_timeout: '120s',
    ...more,
  };
  return {
    admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
    moves,
    ...(cluster.tls && moves['verifiers'] !== undefined && { logins: { roles: moves['roles'] } }),
  };
}
