// Connections of every kind: with TLS between client and server, for replication, and with another version of the
// protocol.
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from 'node:net';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { findBinaries } from '../../../src/sandbox/postgres/binaries.ts';
import { describeOnSandbox, type Legs } from '../clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { switchOnTls } from '../clusters/switch-on-tls.ts';
import type { Credentials } from '../patroni/settings.ts';
import { itUnless } from '../runner/unless-missing.ts';
import { aCancelOf } from '../sockets/packets.ts';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { prependHostAccess } from './host-access.ts';
import { listSessions, move, moveSession } from './move.ts';
import { movingLab } from './moving-lab.ts';
import { type KnownProgram, nodePostgres, type ProgramTarget, psql, psycopg2 } from './programs.ts';
import { query, rowsOf, typesOf, WireSession } from './wire-session.ts';

const BACKEND = 'select pg_backend_pid()';
const MOVED = { result: 'moved', reason: null };
const PROTOCOL_3_2 = 0x00030002;
const SECRET = 'svc-secret';
const ROLES = `
  create role svc_replication login replication password '${SECRET}';
  create role svc_walsender login replication;
  create role svc_trust login;
`;
const embedded = await findBinaries('embedded');

export function describeConnections(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  legs?: readonly Legs[],
): void {
  describeOnSandbox({ name: `connections of every kind, PostgreSQL ${version}`, legs }, (on) => {
    const lab = movingLab(on, { cluster: { postgres } });
    const running: RunningProgram[] = [];
    const sessions: WireSession[] = [];
    let major = 0;

    beforeAll(async () => {
      const { name } = await lab.cluster.leader();
      await lab.cluster.sql(name, ROLES, { timeoutMs: 10_000 });
      await prependHostAccess(lab.cluster, [
        'host replication svc_walsender 127.0.0.1/32 trust',
        'host all svc_trust 127.0.0.1/32 trust',
      ]);
      if (on.legs === 'plain') await switchOnTls(lab.cluster);
      const [row] = await lab.cluster.sql(name, `select current_setting('server_version_num')::int / 10000 as major`);
      major = Number(row?.['major']);
    });
    afterEach(async () => {
      for (const session of sessions.splice(0)) session.close();
      await Promise.all(running.splice(0).map((program) => program.stop()));
    });

    async function start(
      program: KnownProgram,
      as: Partial<Credentials> = {},
      more: Partial<ProgramTarget> = {},
    ): Promise<RunningProgram> {
      const started = program.start(lab.directory, { ...(await lab.target(lab.moving, as)), ...more });
      running.push(started);
      return started;
    }

    async function open(parameters: Readonly<Record<string, string>>, protocol?: number): Promise<WireSession> {
      const session = await WireSession.open(
        { port: await lab.moving.port('write'), ssl: lab.cluster.app.ssl },
        parameters,
        protocol,
      );
      sessions.push(session);
      return session;
    }

    async function expectStays(session: DrivenSession, id: number, reason: string): Promise<void> {
      const backend = await session.value(BACKEND);
      await session.run(`set work_mem = '9MB'`);
      expect(await moveSession(lab.moving, id)).toMatchObject({ result: 'stayed', reason });
      expect(await session.value(BACKEND)).toBe(backend);
      expect(await session.value('show work_mem')).toBe('9MB');
      expect(session.events).toEqual([]);
    }

    async function newest(): Promise<number> {
      return Math.max(...(await listSessions(lab.moving)).map(({ id }) => id));
    }

    // With TLS on both legs Pointsman reads every session.
    for (const program of on.legs === 'plain' ? [psql(), nodePostgres()] : []) {
      itUnless(program.missing, `${program.name} with TLS that its server answers stays`, async () => {
        const session = await (await start(program, {}, { sslmode: 'require' })).open('encrypted');
        expect(await session.value('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toMatch(/^t/);
        await expectStays(session, await newest(), 'unreadable');
      });
    }

    const replication = psql('replication=database');
    itUnless(replication.missing, 'psql on a logical replication connection stays', async () => {
      const as = { user: 'svc_replication', password: SECRET };
      const session = await (await start(replication, as)).open('logical');
      expect(await session.value('IDENTIFY_SYSTEM')).toContain(lab.cluster.app.database);
      await expectStays(session, await newest(), 'replication');
    });

    it('a physical replication connection stays', async () => {
      const session = await open({ user: 'svc_walsender', replication: 'true', application_name: 'physical' });
      expect(await move(lab.moving, 'physical')).toMatchObject({ result: 'stayed', reason: 'replication' });
      session.send(query('IDENTIFY_SYSTEM'));
      expect(typesOf(await session.answers(1))).toBe('TDCZ');
      expect(session.unasked).toEqual([]);
    });

    it('protocol 3.2, which an older server declines: it moves, and its first key still cancels', async () => {
      const { database } = lab.cluster.app;
      const session = await open({ user: 'svc_trust', database, application_name: 'newer' }, PROTOCOL_3_2);
      const key = session.greeting.find(({ type }) => type === 'K')?.body ?? Buffer.alloc(0);
      expect(typesOf(session.greeting)).toBe(major >= 18 ? 'RKZ' : 'vRKZ');
      expect(key).toHaveLength(4 + (major >= 18 ? 32 : 4));
      expect(await move(lab.moving, 'newer')).toMatchObject(MOVED);
      session.send(query(`set work_mem = '9MB'`), query('select pg_sleep(60)'));
      await session.answers(1);
      const { name } = await lab.cluster.leader();
      await lab.moving.waitFor('the sleep', async () => {
        const rows = `select 1 from pg_stat_activity where application_name = 'newer' and query like '%pg_sleep(60)'`;
        return (await lab.cluster.sql(name, rows)).length > 0;
      });
      const canceller = connect({ host: '127.0.0.1', port: await lab.moving.port('write') });
      canceller.on('error', () => undefined).end(aCancelOf(key.readInt32BE(0), key.subarray(4)));
      const cancelled = await session.answers(1);
      expect(cancelled.find(({ type }) => type === 'E')?.body.toString()).toContain('C57014');
      expect(await move(lab.moving, 'newer')).toMatchObject(MOVED);
      session.send(query('show work_mem'));
      expect(rowsOf(await session.answers(1))).toEqual(['9MB']);
      expect(session.unasked).toEqual([]);
    });

    it('an option of the protocol that the server does not know: it moves, and is told of it once', async () => {
      const { database } = lab.cluster.app;
      const session = await open({ user: 'svc_trust', database, application_name: 'optional', '_pq_.later': '1' });
      expect(typesOf(session.greeting)).toBe('vRKZ');
      expect(await move(lab.moving, 'optional')).toMatchObject(MOVED);
      session.send(query(BACKEND));
      expect(typesOf(await session.answers(1))).toBe('TDCZ');
      expect(session.unasked).toEqual([]);
    });

    if (embedded.kind !== 'found' || process.platform !== 'linux') return;
    const native = join(dirname(embedded.bin.postgres), '..', 'lib');
    for (const program of [psql(), psycopg2()]) {
      itUnless(program.missing, `${program.name} with libpq 18 and protocol 3.2 moves`, async () => {
        const libraries = join(lab.directory, program.name);
        mkdirSync(libraries);
        for (const library of ['libpq.so.5', 'libssl.so.1.1', 'libcrypto.so.1.1']) {
          symlinkSync(join(native, library), join(libraries, library));
        }
        const env = { LD_LIBRARY_PATH: libraries, PGMAXPROTOCOLVERSION: '3.2' };
        const strict = await start(program, {}, { env: { ...env, PGMINPROTOCOLVERSION: '3.2' } });
        if (major < 18) await expect(strict.open('strict')).rejects.toThrow('3.2');
        const session = await (major < 18 ? await start(program, {}, { env }) : strict).open(`libpq-${program.name}`);
        await session.ask('prepare', 'next', 'select $1::int + 1');
        await session.run(`set work_mem = '9MB'`);
        const backend = await session.value(BACKEND);
        expect(await move(lab.moving, session.name)).toMatchObject(MOVED);
        expect(await session.value('show work_mem')).toBe('9MB');
        expect(await session.ask('execute', 'next', 41)).toBe('42');
        expect(await session.value(BACKEND)).not.toBe(backend);
        if (!program.lacks.includes('cancel')) expect(await session.ask('cancel')).toBe('57014');
        expect(session.events).toEqual([]);
      });
    }
  });
}
