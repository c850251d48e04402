// Ten drivers write in three sessions each, which move again and again from the server to the same server: none sees an
// error, and each row is stored once. On the PostgreSQL of the sandbox, and, with TLS on both legs, on that of the
// system.
import { expect, onTestFinished } from 'vitest';
import { type Driver, drivers, WorkingDriver } from '../../support/applications/driver-programs.ts';
import { describeOnSandbox, type Legs } from '../../support/clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../../support/clusters/sandbox-cluster.ts';
import { lostSessions } from '../../support/moves/expect-kept.ts';
import { type ListedSession, listSessions, moveSession } from '../../support/moves/move.ts';
import { type MovingLab, movingLab } from '../../support/moves/moving-lab.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless, itUnless } from '../../support/runner/unless-missing.ts';

const SESSIONS = 3;
const ROUNDS = 5;
const WRITES_TABLE = 'create table driver_writes (id bigint generated always as identity primary key)';

describeWorkingDrivers('18', 'embedded', 'plain');
describeUnless(await whyNoSystemPostgres(), 'with the PostgreSQL of the system', () =>
  describeWorkingDrivers('of the system', 'system', 'encrypted'),
);

function describeWorkingDrivers(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  legs: Legs,
): void {
  describeOnSandbox({ name: `drivers that work while they move, PostgreSQL ${version}`, legs: [legs] }, (on) =>
    workingDriverTests(movingLab(on, { cluster: { postgres } })),
  );
}

function workingDriverTests(lab: MovingLab): void {
  for (const driver of drivers()) {
    itUnless(driver.missing, driver.name, async () => {
      const { name } = await lab.cluster.leader();
      await driver.prepare(lab.directory);
      await lab.cluster.sql(name, `drop table if exists driver_writes; ${WRITES_TABLE}`, { as: lab.cluster.app });
      const working = await start(driver);
      const { lines } = working;
      const opened = await lab.moving.waitFor('the sessions', async () => {
        const sessions = await open();
        // One that still logs in does not move, and the others may have written all these lines.
        const areReady = sessions.length === SESSIONS && sessions.every(({ state }) => state === 'relaying');
        return areReady && lines.length >= SESSIONS ? sessions : undefined;
      });
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = await Promise.all(opened.map(({ id }) => moveSession(lab.moving, id)));
        for (const answer of answers)
          expect(answer, `${JSON.stringify(answer)}\n${lostSessions(lab.moving)}`).toMatchObject({
            result: 'moved',
            reason: null,
          });
        const before = lines.length;
        await lab.moving.waitFor('rows after the move', () => lines.length >= before + SESSIONS);
      }
      const kept = (await open()).map(({ id }) => id);
      expect(kept, lostSessions(lab.moving)).toEqual(opened.map(({ id }) => id));
      await working.stop();
      expect(
        lines.filter(({ kind }) => kind !== 'ok'),
        lostSessions(lab.moving),
      ).toEqual([]);
      const [row] = await lab.cluster.sql(name, 'select count(*)::int as n from driver_writes');
      // The end of a program may leave rows that it has not told.
      expect(Number(row?.['n']) - lines.length).toBeGreaterThanOrEqual(0);
      expect(Number(row?.['n']) - lines.length).toBeLessThanOrEqual(SESSIONS);
    });
  }

  async function start(driver: Driver): Promise<WorkingDriver> {
    const to = await lab.target(lab.moving);
    const started = new WorkingDriver(driver, lab.directory, to);
    onTestFinished(() => started.stop());
    return started;
  }

  async function open(): Promise<readonly ListedSession[]> {
    return (await listSessions(lab.moving)).filter(({ state }) => state !== 'closing' && state !== 'closed');
  }
}
