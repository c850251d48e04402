// Sessions with something that cannot go along: they stay where they are, with the reason, and lose nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { describeOnSandbox, type Legs } from '../clusters/describe-on-clusters.ts';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { failureOf } from './driven-session.ts';
import { prependHostAccess } from './host-access.ts';
import { move } from './move.ts';
import { besideLab, movingLab } from './moving-lab.ts';
import { nodePostgres } from './programs.ts';

interface Pinned {
  readonly name: string;
  readonly reason: string;
  /** `app` unless told. */
  readonly role?: string;
  readonly statements: readonly string[];
  /** Must give `true` as long as the session has it. */
  readonly has: string;
}

const LISTENS = 'select count(*) = 1 from pg_listening_channels()';
const TEMPORARY = `select count(*) > 0 from pg_class where relnamespace = pg_my_temp_schema()`;
const LOCKED = `select count(*) = 1 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`;
const ALIVE = 'select true';

const BACKEND = 'select pg_backend_pid()';
const SECRET = 'svc-secret';
const ROLES = `
  create role other login password '${SECRET}';
  create role svc_replication login replication password '${SECRET}';
  create role svc_password login password '${SECRET}';
  set password_encryption = 'md5';
  create role svc_md5 login password '${SECRET}';
  create function watch() returns void language sql security definer as
    $$ select set_config('log_statement', 'all', false) $$;
`;

const CASES: readonly Pinned[] = [
  { name: 'LISTEN', reason: 'listening', statements: ['listen jobs'], has: LISTENS },
  {
    name: 'a temporary table',
    reason: 'temporary_objects',
    statements: ['create temporary table draft (n int)'],
    has: TEMPORARY,
  },
  {
    name: 'a temporary view',
    reason: 'temporary_objects',
    statements: ['create temporary view draft as select 1 as n'],
    has: TEMPORARY,
  },
  {
    name: 'a temporary sequence',
    reason: 'temporary_objects',
    statements: ['create temporary sequence draft'],
    has: TEMPORARY,
  },
  {
    name: 'a function in the temporary schema',
    reason: 'temporary_objects',
    statements: ['create function pg_temp.one() returns int language sql as $$ select 1 $$'],
    has: 'select pg_temp.one() = 1',
  },
  {
    name: 'a type in the temporary schema',
    reason: 'temporary_objects',
    statements: [`create type pg_temp.mood as enum ('fine')`],
    has: `select 'fine'::pg_temp.mood is not null`,
  },
  {
    name: 'a cursor WITH HOLD',
    reason: 'holdable_cursors',
    statements: ['begin', 'declare held cursor with hold for select 1', 'commit'],
    has: 'select count(*) = 1 from pg_cursors where is_holdable',
  },
  {
    name: 'an advisory lock',
    reason: 'advisory_locks',
    statements: ['select pg_advisory_lock(4711)'],
    has: LOCKED,
  },
  {
    name: 'a shared advisory lock of two numbers',
    reason: 'advisory_locks',
    statements: ['select pg_advisory_lock_shared(47, 11)'],
    has: LOCKED,
  },
  {
    name: 'an advisory lock that a function took',
    reason: 'advisory_locks',
    statements: ['select claim(4712)'],
    has: LOCKED,
  },
  {
    name: 'a temporary replication slot',
    reason: 'temporary_slots',
    role: 'svc_replication',
    statements: [`select pg_create_physical_replication_slot('draft', false, true)`],
    has: 'select count(*) = 1 from pg_replication_slots where active_pid = pg_backend_pid()',
  },
  { name: 'LOAD', reason: 'hidden_state', role: 'postgres', statements: [`load 'plpgsql'`], has: ALIVE },
  {
    name: 'a backup that has begun',
    reason: 'hidden_state',
    role: 'postgres',
    statements: [`select pg_backup_start('nightly', true)`],
    has: 'select lsn is not null from pg_backup_stop(false)',
  },
  { name: 'setseed', reason: 'hidden_state', statements: ['select setseed(0.5)'], has: ALIVE },
  {
    name: 'a custom setting whose name is computed',
    reason: 'hidden_state',
    statements: [`select set_config('app.' || 'secret', 'kept', false)`],
    has: `select current_setting('app.secret') = 'kept'`,
  },
  {
    name: 'an origin of replication',
    reason: 'hidden_state',
    role: 'postgres',
    statements: [
      `select pg_replication_origin_create('elsewhere')`,
      `select pg_replication_origin_session_setup('elsewhere')`,
    ],
    has: 'select pg_replication_origin_session_is_setup()',
  },
  {
    name: 'SET SESSION AUTHORIZATION',
    reason: 'session_authorization',
    role: 'postgres',
    statements: ['set session authorization app'],
    has: `select session_user = 'app'`,
  },
  {
    name: 'more than 1,000 statements',
    reason: 'too_many_statements',
    statements: [
      `do $do$ begin for n in 1..1001 loop execute format('prepare many_%s as select 1', n); end loop; end $do$`,
    ],
    has: 'select count(*) > 1000 from pg_prepared_statements',
  },
  {
    name: 'more than max_state',
    reason: 'too_much_state',
    statements: [`select set_config('app.tenant', repeat('x', 100000), false)`],
    has: `select length(current_setting('app.tenant')) = 100000`,
  },
  {
    name: 'a setting that it may not set itself',
    reason: 'privileged_settings',
    statements: ['select watch()'],
    has: `select current_setting('log_statement') = 'all'`,
  },
  {
    name: 'SQL PREPARE in one text with another statement',
    reason: 'unclear_statement',
    statements: ['prepare one as select true; insert into numbers values (-2)'],
    has: 'execute one',
  },
  {
    name: 'SQL PREPARE whose backslash may have had another meaning',
    reason: 'unclear_statement',
    statements: [`prepare one as select 'a\\b' = e'a\\\\b'`, 'set standard_conforming_strings = off'],
    has: 'execute one',
  },
  { name: 'an open transaction', reason: 'busy', statements: ['begin'], has: ALIVE },
  { name: 'a role that is not named', reason: 'role_not_configured', role: 'other', statements: [], has: ALIVE },
  { name: 'a password login', reason: 'authentication', role: 'svc_password', statements: [], has: ALIVE },
  { name: 'an md5 login without consent', reason: 'authentication', role: 'svc_md5', statements: [], has: ALIVE },
];

export function describePinned(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  legs?: readonly Legs[],
): void {
  describeOnSandbox({ name: `sessions that stay, PostgreSQL ${version}`, legs }, (on) => {
    const lab = movingLab(on, { cluster: { postgres }, moves: { roles: ['app', 'svc_*', 'postgres'], wait: '500ms' } });
    const withoutVerifiers = besideLab(lab, async () => ({ moves: { verifiers: undefined } }));
    const running = new Map<string, RunningProgram>();
    beforeAll(async () => {
      const { name } = await lab.cluster.leader();
      await lab.cluster.sql(name, ROLES, { timeoutMs: 10_000 });
      await prependHostAccess(lab.cluster, [
        'host all svc_password 127.0.0.1/32 password',
        'host all svc_md5 127.0.0.1/32 md5',
      ]);
    });
    afterAll(async () => {
      await Promise.all([...running.values()].map((program) => program.stop()));
    });

    async function open(name: string, role: string): Promise<DrivenSession> {
      const as =
        role === 'app' ? {} : { user: role, password: role === 'postgres' ? lab.cluster.superuser.password : SECRET };
      const program = running.get(role) ?? nodePostgres().start(lab.directory, await lab.target(lab.moving, as));
      running.set(role, program);
      return program.open(name);
    }

    it.each(CASES.map((one, at) => [one.name, one, at] as const))('%s', async (_, pinned, at) => {
      const session = await open(`pinned-${at}`, pinned.role ?? 'app');
      for (const statement of pinned.statements) await session.run(statement);
      const backend = await session.value(BACKEND);
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'stayed', reason: pinned.reason });
      expect(await session.value(BACKEND)).toBe(backend);
      expect(await session.value(pinned.has)).toBe('true');
      expect(session.events).toEqual([]);
    });

    it('a login by SCRAM, and no source of verifiers', async () => {
      const to = { ...(await lab.target(withoutVerifiers())), isBound: false };
      const program = nodePostgres().start(lab.directory, to);
      running.set('no verifiers', program);
      const session = await program.open('pinned-unverified');
      const backend = await session.value(BACKEND);
      expect(await move(withoutVerifiers(), session.name)).toMatchObject({
        result: 'stayed',
        reason: 'authentication',
      });
      expect(await session.value(BACKEND)).toBe(backend);
      expect(session.events).toEqual([]);
    });

    it('a transaction that failed', async () => {
      const session = await open('pinned-failed', 'app');
      await session.run('begin');
      expect((await failureOf(session.run('select 1/0'))).state).toBe('22012');
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'stayed', reason: 'busy' });
      await session.run('rollback');
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
      expect(session.events).toEqual([]);
    });
  });
}
