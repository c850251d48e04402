// Changes by others between the login of a session and its move: the next login decides, as any login would. A session
// that cannot go on ends with the reason, and never goes on with less than it had.
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { describeOnSandbox, type Legs } from '../clusters/describe-on-clusters.ts';
import { userlist } from '../clusters/userlist.ts';
import { itUnless } from '../runner/unless-missing.ts';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { prependHostAccess } from './host-access.ts';
import { inTheGap, journeyOf, move } from './move.ts';
import { besideLab, MOVES_WHEN_DRAINED, movingLab } from './moving-lab.ts';
import { nodePostgres, psql, psycopg2 } from './programs.ts';
import { ADMIN_TOKEN } from '../values/canaries.ts';

const BACKEND = 'select pg_backend_pid()';
const SECRET = 'svc-secret';

interface Change {
  readonly name: string;
  readonly setUp?: readonly string[];
  /** By a superuser. */
  readonly between: readonly string[];
  readonly reason: string;
}

const FATAL: readonly Change[] = [
  { name: 'another password', between: [`alter role ROLE password 'another'`], reason: 'move_login' },
  { name: 'NOLOGIN', between: ['alter role ROLE nologin'], reason: 'move_login' },
  {
    name: 'no CONNECT for the database',
    // The verifiers are in the same database.
    between: ['grant connect on database app to pointsman_lookup', 'revoke connect on database app from public'],
    reason: 'move_login',
  },
  { name: 'the role is a superuser now', between: ['alter role ROLE superuser'], reason: 'move_login' },
  {
    name: 'the role that it had set is no longer granted',
    setUp: ['set role app_reader'],
    between: ['revoke app_reader from ROLE'],
    reason: 'move_restore',
  },
];
/** It notes who has logged in, and sets what no session has asked for. */
const LOGIN_TRIGGER = `
  create table logins (who text);
  create function note_login() returns event_trigger language plpgsql security definer as $$ begin
    insert into logins values (session_user); perform set_config('work_mem', '5MB', false),
      set_config('lock_timeout', '5s', false), set_config('TimeZone', 'Asia/Tokyo', false); end $$;
  create event trigger note_login on login execute function note_login()`;
/** Its old server refuses the statement as well, so it is not even parked. */
const STALE: Readonly<Record<string, string>> = {
  'the table of a prepared statement is gone': 'drop table stock_ROLE',
  'a prepared statement has other columns now': 'alter table stock_ROLE add column price numeric',
  'a column of a prepared statement has another name now': 'alter table stock_ROLE rename n to number',
};
const AFTER: Readonly<Record<string, string>> = {
  'no CONNECT for the database': 'grant connect on database app to public',
};

export function describeChanges(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  legs?: readonly Legs[],
): void {
  describeOnSandbox({ name: `changes before a move, PostgreSQL ${version}`, legs }, (on) => {
    const lab = movingLab(on, { cluster: { postgres }, moves: { md5: true }, pointsman: MOVES_WHEN_DRAINED });
    /** It has the verifier of `app` alone. */
    const withFile = besideLab(lab, async () => ({
      moves: { verifiers: { file: await userlist(lab.cluster, lab.directory) } },
    }));
    const impatient = besideLab(lab, async () => ({ moves: { park_timeout: '1s' }, pointsman: MOVES_WHEN_DRAINED }));
    const running: RunningProgram[] = [];
    let roles = 0;

    beforeAll(async () => {
      await administer(`set password_encryption = 'md5'; create role svc_md5 login password '${SECRET}'`);
      await administer('create role svc_trust login');
      await prependHostAccess(lab.cluster, [
        'host all svc_md5 127.0.0.1/32 md5',
        'host all svc_trust 127.0.0.1/32 trust',
      ]);
    });
    afterAll(async () => {
      await Promise.all(running.map((program) => program.stop()));
    });

    async function administer(...statements: readonly string[]): Promise<void> {
      const { name } = await lab.cluster.leader();
      for (const statement of statements) await lab.cluster.sql(name, statement, { timeoutMs: 10_000 });
    }

    async function openAs(user: string): Promise<DrivenSession> {
      const program = nodePostgres().start(lab.directory, await lab.target(lab.moving, { user, password: SECRET }));
      running.push(program);
      return program.open(user);
    }

    /** A role of its own for each test. */
    async function aRole(more = ''): Promise<string> {
      roles += 1;
      const role = `svc_${roles}`;
      await administer(
        `create role ${role} login password '${SECRET}' ${more}`,
        `grant app_reader to ${role}`,
        `create table stock_${role} (n int)`,
        `grant select on stock_${role} to ${role}`,
      );
      return role;
    }

    it.each(FATAL.map((one) => [one.name, one] as const))('ends with the reason: %s', async (name, change) => {
      const role = await aRole();
      const session = await openAs(role);
      for (const statement of change.setUp ?? []) await session.run(statement.replaceAll('ROLE', role));
      await administer(...change.between.map((statement) => statement.replaceAll('ROLE', role)));
      const { result, reason } = await move(lab.moving, session.name);
      if (AFTER[name] !== undefined) await administer(AFTER[name]);
      expect({ result, reason }).toEqual({ result: 'failed', reason: change.reason });
      await lab.moving.waitFor('the end at the client', () => session.events.includes('end'));
      expect(session.events[0]).toMatch(/^error 57P01 pointsman: /);
      expect(session.events[0]).toContain(`(${change.reason})`);
      await expect(session.value('select 1')).rejects.toThrow();
    });

    it.each(Object.entries(STALE))('stays where it is: %s', async (_, between) => {
      const role = await aRole();
      const session = await openAs(role);
      await session.run(`prepare stock as select * from stock_${role}`);
      await administer(between.replaceAll('ROLE', role));
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'stayed', reason: 'question_failed' });
      await session.run('deallocate stock');
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
      expect(session.events).toEqual([]);
    });

    it('ends with the reason: pg_hba rejects it', async () => {
      const role = await aRole();
      const session = await openAs(role);
      await prependHostAccess(lab.cluster, [`host all ${role} 127.0.0.1/32 reject`]);
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'failed', reason: 'move_login' });
      await lab.moving.waitFor('the end at the client', () => session.events.includes('end'));
      expect(session.events[0]).toMatch(/^error 57P01 pointsman: /);
    });

    it('goes on at the connection limit of its role', async () => {
      const session = await openAs(await aRole('connection limit 1'));
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
      expect(await session.value('select 1')).toBe('1');
      expect(session.events).toEqual([]);
    });

    it('goes on with the new default of its role, and the client is told', async () => {
      const role = await aRole();
      const session = await openAs(role);
      expect(await session.ask('parameter', 'TimeZone')).not.toBe('Asia/Tokyo');
      await administer(`alter role ${role} set timezone = 'Asia/Tokyo'`, `alter role ${role} set work_mem = '9MB'`);
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
      expect(await session.value('show work_mem')).toBe('9MB');
      expect(await session.ask('parameter', 'TimeZone')).toBe('Asia/Tokyo');
      expect(session.events).toEqual([]);
    });

    it.each(['md5', 'trust'])('goes on after a login by %s', async (method) => {
      const session = await openAs(`svc_${method}`);
      await session.run(`set work_mem = '9MB'`);
      const backend = await session.value(BACKEND);
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
      expect(await session.value('show work_mem')).toBe('9MB');
      expect(await session.value(BACKEND)).not.toBe(backend);
      expect(session.events).toEqual([]);
    });

    it('says that currval is not there any more, and never gives another value', async () => {
      const role = await aRole();
      await administer(`create sequence ids_${role}`, `grant usage on sequence ids_${role} to ${role}`);
      const session = await openAs(role);
      expect(await session.value(`select nextval('ids_${role}')`)).toBe('1');
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved' });
      for (const question of [`currval('ids_${role}')`, 'lastval()']) {
        await expect(session.value(`select ${question}`)).rejects.toMatchObject({ state: '55000' });
      }
      expect(await session.value(`select nextval('ids_${role}')`)).toBe('2');
    });

    it('delivers pg_terminate_backend, before a move and after it', async () => {
      for (const isMoved of [false, true]) {
        const session = await openAs(await aRole());
        if (isMoved) expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved' });
        await administer(`select pg_terminate_backend(${await session.value(BACKEND)})`);
        await lab.moving.waitFor('the end at the client', () => session.events.includes('end'));
        expect(session.events[0]).toContain('57P01 terminating connection due to administrator command');
      }
    });

    it('goes on when the server has no place for its role at first', async () => {
      const role = await aRole('connection limit 1');
      const session = await openAs(role);
      const { name: member, host, port } = await lab.cluster.leader();
      const others: Client[] = [];
      /** The server has still to end the session that has left. */
      const takePlace = async (): Promise<boolean> => {
        const other = new Client({ ...lab.cluster.app, host, port, user: role, password: SECRET });
        other.on('error', () => undefined);
        others.push(other);
        return other.connect().then(
          () => true,
          () => false,
        );
      };
      await inTheGap(lab.moving, { session: session.name, member }, () => lab.moving.waitFor('its place', takePlace));
      try {
        await lab.moving.waitFor('an attempt', async () =>
          (await journeyOf(lab.moving, session.name))?.why?.includes('53300'),
        );
      } finally {
        await Promise.all(others.map((other) => other.end()));
      }
      expect(await session.value('select 1')).toBe('1');
      expect(session.events).toEqual([]);
    });

    it('ends with the reason: there is no next server in time', async () => {
      const program = nodePostgres().start(lab.directory, await lab.target(impatient()));
      running.push(program);
      const session = await program.open('impatient');
      const { name: member } = await lab.cluster.leader();
      await impatient().operate(`/members/${member}/drain`, ADMIN_TOKEN);
      await impatient().waitFor('the end at the client', () => session.events.includes('end'));
      expect(session.events[0]).toMatch(/^error 57P01 pointsman: /);
      expect(session.events[0]).toContain('(move_timeout)');
    });

    for (const program of [psql(), psycopg2(), nodePostgres()]) {
      itUnless(program.missing, `goes on with a verifier of a file: ${program.name}`, async () => {
        const started = program.start(lab.directory, await lab.target(withFile()));
        running.push(started);
        const session = await started.open(`file-${program.name}`);
        await session.run(`set work_mem = '9MB'`);
        const backend = await session.value(BACKEND);
        expect(await move(withFile(), session.name)).toMatchObject({ result: 'moved', reason: null });
        expect(await session.value('show work_mem')).toBe('9MB');
        expect(await session.value(BACKEND)).not.toBe(backend);
        expect(session.events).toEqual([]);
      });
    }

    it('ends with the reason: the file has the verifier of an old password', async () => {
      const program = nodePostgres().start(lab.directory, await lab.target(withFile()));
      running.push(program);
      const session = await program.open('file-old');
      const { name } = await lab.cluster.leader();
      const [row] = await lab.cluster.sql(name, `select rolpassword as old from pg_authid where rolname = 'app'`);
      await administer(`alter role app password 'another'`);
      const answer = await move(withFile(), session.name);
      await administer(`alter role app password '${String(row?.['old'])}'`);
      expect(answer).toMatchObject({ result: 'failed', reason: 'move_login' });
      await withFile().waitFor('the end at the client', () => session.events.includes('end'));
      expect(session.events[0]).toContain('(move_login)');
    });

    it('login event triggers of PostgreSQL 17 and later fire again, and the state of the session wins', async () => {
      const { name } = await lab.cluster.leader();
      const role = await aRole();
      const isThere = await administer(LOGIN_TRIGGER).then(
        () => true,
        (error: unknown) => (/unrecognized event name/.test(String(error)) ? false : Promise.reject(error)),
      );
      const [row] = await lab.cluster.sql(name, `select current_setting('server_version_num')::int as version`);
      expect(isThere).toBe(Number(row?.['version']) >= 170000);
      if (!isThere) return;
      try {
        const session = await openAs(role);
        expect(await session.value('show work_mem')).toBe('5MB');
        await session.run(`set work_mem = '9MB'`);
        for (const setting of ['lock_timeout', 'TimeZone']) await session.run(`reset ${setting}`);
        const before = await shownSettings(session);
        expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
        expect(await shownSettings(session)).toBe(before);
        expect(await session.value('show work_mem')).toBe('9MB');
        expect(await lab.cluster.sql(name, `select 1 from logins where who = '${role}'`)).toHaveLength(2);
        expect(session.events).toEqual([]);
      } finally {
        await administer('drop event trigger note_login');
      }
    });

    it('no log line has a verifier or a password', () => {
      const log = JSON.stringify(lab.moving.lines);
      for (const secret of ['SCRAM-SHA-256$', SECRET]) expect(log).not.toContain(secret);
    });
  });
}

/** All that the session can show; the transaction of the question is another one. */
function shownSettings(session: DrivenSession): Promise<string> {
  return session.value(`select string_agg(name || '=' || setting, ' ' order by name) from pg_settings`);
}
