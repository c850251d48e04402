// Scenario 30: the drivers that applications use, each in its own program (test/e2e/drivers): in plain text, with TLS
// to the server, with TLS to Pointsman, with TLS on both legs, and with pools during a switchover.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import {
  type Driver,
  drivers,
  type DriverTarget,
  runCases,
  WorkingDriver,
} from '../support/applications/driver-programs.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import type { Credentials } from '../support/patroni/settings.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../support/processes/pointsman-process.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { switchOnTls } from '../support/clusters/switch-on-tls.ts';
import { SERVER, tlsFile } from '../support/values/tls-files.ts';
import { itUnless } from '../support/runner/unless-missing.ts';

const VALUES = {
  connect: '1',
  prepared: '42 42 42',
  transaction: '0 1',
  large: '50000 1250025000',
  error: '22012 1',
  copy: '1000 500500',
  cancel: '57014 1',
  recovery: 'false',
};
const SESSIONS = 3;
/** postgres.js may send the next statement on a session whose end it has already read: one end, two errors. */
const ERRORS = 2 * SESSIONS;
const WRITES_TABLE = 'create table driver_writes (id bigint generated always as identity primary key)';

describeOnSandbox('drivers', (on) => {
  const lab = on.clusterWithPointsman({ sql: WRITES_TABLE });
  const known = drivers();
  const ours: PointsmanProcess[] = [];
  let directory = '';
  let ports: Readonly<Record<'passthrough' | 'terminate' | 'require' | 'both', number>>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    await switchOnTls(lab.cluster);
    const required = { client: { tls: { mode: 'require', ...SERVER } } };
    const verified = { mode: 'verify-full', ca_file: tlsFile('ca.pem'), server_name: 'pg-a.test' };
    for (const sections of [
      { client: { tls: { mode: 'terminate', ...SERVER } } },
      required,
      { ...required, backend: { tls: verified } },
    ]) {
      ours.push(await startPointsman(configFor(lab.cluster, sections)));
    }
    for (const pointsman of [lab.pointsman, ...ours]) {
      await waitForMembers({ ...lab, pointsman }, 'read', await replicasOf(lab.cluster));
      await waitForMembers({ ...lab, pointsman }, 'write', [await lab.cluster.leader()]);
    }
    const [passthrough = 0, terminate = 0, require = 0, both = 0] = await Promise.all(
      [lab.pointsman, ...ours].map((pointsman) => pointsman.port('write')),
    );
    ports = { passthrough, terminate, require, both };
    for (const driver of known) if (driver.missing === undefined) await driver.prepare(directory);
  }, 120_000);
  afterAll(async () => {
    await Promise.all(ours.map((pointsman) => pointsman.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  const target = (port: number, sslmode: 'disable' | 'require', other: Partial<Credentials> = {}): DriverTarget => ({
    port,
    sslmode,
    as: { ...lab.cluster.app, ...other },
  });
  const cases = (driver: Driver, to: DriverTarget, ...names: readonly string[]) =>
    runCases(driver, directory, to, names);

  /** Cases that work through every listener, and errors that come from the server. */
  async function expectTheServer(driver: Driver, to: DriverTarget): Promise<void> {
    const names = Object.keys(VALUES).filter((name) => !driver.lacks.includes(name));
    const wanted = Object.entries(VALUES).filter(([name]) => names.includes(name));
    const [all, password, database] = await Promise.all([
      cases(driver, to, ...names),
      cases(driver, { ...to, as: { ...to.as, password: 'wrong' } }, 'connect'),
      cases(driver, { ...to, as: { ...to.as, database: 'nowhere' } }, 'connect'),
    ]);
    expect(all).toEqual(new Map(wanted.map(([name, value]) => [name, { value, error: undefined }])));
    expect(password.get('connect')?.error).toContain(`password authentication failed for user "${to.as.user}"`);
    expect(database.get('connect')?.error).toContain('database "nowhere" does not exist');
  }

  /** Cases in which Pointsman reads the startup packet: pools by name, and its own refusals with every field. */
  async function expectThePools(driver: Driver, to: DriverTarget): Promise<void> {
    const { database } = to.as;
    const [target, options, refused] = await Promise.all([
      cases(driver, { ...to, as: { ...to.as, database: `${database}@ro` } }, 'recovery'),
      cases(driver, to, 'pool'),
      cases(driver, { ...to, as: { ...to.as, database: `${database}@nope` } }, 'connect'),
    ]);
    expect(target.get('recovery')).toEqual({ value: 'true', error: undefined });
    expect(options.get('pool')).toEqual({ value: 'true', error: undefined });
    const { message, detail, hint } = await refusalOf({ ...to, as: { ...to.as, database: `${database}@nope` } });
    for (const part of [message, detail, hint]) expect(refused.get('connect')?.error).toContain(part);
  }

  for (const driver of known) {
    const itWith = (name: string, run: () => Promise<void>): void =>
      itUnless(driver.missing, `scenario 30: ${driver.name}, ${name}`, run);

    itWith('in plain text', async () => {
      await expectTheServer(driver, target(ports.passthrough, 'disable'));
      await expectThePools(driver, target(ports.passthrough, 'disable'));
    });

    itWith('with TLS to the server', () => expectTheServer(driver, target(ports.passthrough, 'require')));

    itWith('with TLS to Pointsman', async () => {
      await expectTheServer(driver, target(ports.terminate, 'require'));
      await expectThePools(driver, target(ports.terminate, 'require'));
    });

    // Their usual settings: libpq binds its login to the certificate, which is that of the server, too.
    itWith('with TLS on both legs, which show the same certificate', async () => {
      await expectTheServer(driver, target(ports.both, 'require'));
      await expectThePools(driver, target(ports.both, 'require'));
    });

    itWith('where TLS is required', async () => {
      const encrypted = await cases(driver, target(ports.require, 'require'), 'connect', 'recovery');
      expect([...encrypted.values()].map(({ value }) => value)).toEqual(['1', 'false']);
      const plain = target(ports.require, 'disable');
      const { message, detail, hint } = await refusalOf(plain);
      const refused = (await cases(driver, plain, 'connect')).get('connect');
      for (const part of [message, detail, hint]) expect(refused?.error).toContain(part);
    });
  }

  const absent = known.flatMap(({ missing }) => missing ?? []);
  itUnless(
    absent.length === 0 ? undefined : absent.join('; '),
    'scenarios 3, 30: the pools of every driver survive a switchover, and no reconnect fails',
    async () => {
      const { cluster, pointsman } = lab;
      const old = await cluster.leader();
      const to = target(ports.passthrough, 'disable');
      const working = known.map((driver) => new WorkingDriver(driver, directory, to));
      const areAllWritingOn = (server: string, sinceMs: number) => () =>
        working.every(
          ({ lines }) =>
            lines.filter(({ kind, said, atMs }) => kind === 'ok' && said === server && atMs > sinceMs).length >=
            SESSIONS,
        );
      try {
        await pointsman.waitFor('every driver writing', areAllWritingOn(serverName(old), 0), 60_000);
        const direct = await HeldSession.open(old.port, cluster.app, old.host);
        const next = await cluster.switchover();
        await pointsman.waitFor('the end of the direct session', () => direct.endedAtMs !== undefined);
        const beganMs = direct.endedAtMs ?? Number.NaN;
        await pointsman
          .waitFor('every driver writing again', areAllWritingOn(serverName(next), beganMs), 60_000)
          .catch((error: unknown) => {
            const last = working.map(
              ({ driver, lines }) => `${driver.name}: ${JSON.stringify(lines.slice(-SESSIONS))}`,
            );
            throw new Error(last.join('\n'), { cause: error });
          });
        for (const { driver, lines } of working) {
          const after = lines.filter(({ kind, said }) => kind === 'ok' && said === serverName(next));
          const last = lines.findLast(({ kind, said }) => kind === 'ok' && said === serverName(old));
          const errors = lines.filter(({ kind }) => kind === 'statement-error').map(({ said }) => said);
          const gap = Math.round((after[0]?.atMs ?? Number.NaN) - (last?.atMs ?? Number.NaN));
          console.log(
            `switchover, ${driver.name}: gap ${gap} ms, errors ${errors.length}: ${[...new Set(errors)].join('; ')}`,
          );
          expect(
            lines.filter(({ kind }) => kind === 'connect-error'),
            `${driver.name}\n${pointsman.explain()}`,
          ).toEqual([]);
          expect(errors.length, `${driver.name}: ${errors.join('; ')}`).toBeLessThanOrEqual(ERRORS);
        }
      } finally {
        await Promise.all(working.map((one) => one.stop()));
      }
    },
    120_000,
  );
});

/** The fields of Pointsman's refusal. */
async function refusalOf({
  port,
  as,
  sslmode,
}: DriverTarget): Promise<{ message: string; detail: string; hint: string }> {
  const ssl = sslmode === 'disable' ? false : { rejectUnauthorized: false };
  const client = new Client({ host: '127.0.0.1', port, ...as, ssl });
  const refused = await client.connect().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refused instanceof DatabaseError)) throw new Error(`no refusal: ${String(refused)}`);
  const { message, detail = '', hint = '' } = refused;
  return { message, detail, hint };
}
