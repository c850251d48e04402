// Restarts in place with moves: `pointsman cluster restart` takes the sessions off a member before its PostgreSQL
// stops. Those of a replica go on at another one; those of the primary wait, and go back to it. No client sees an
// error.
import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/io.ts';
import { whyNoTool } from '../../support/applications/client-tools.ts';
import { CounterReaders } from '../../support/applications/counter-readers.ts';
import { HeldSession } from '../../support/applications/held-session.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../../support/clusters/pool-members.ts';
import { expectKept, lostSessions } from '../../support/moves/expect-kept.ts';
import { Fleet } from '../../support/moves/fleet.ts';
import { rowsOf, startPgbench, STEADY_RATE, storedRows } from '../../support/moves/pgbench.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import { nodePostgres } from '../../support/moves/programs.ts';
import { temporaryDirectory } from '../../support/moves/temporary-directory.ts';
import { Command } from '../../support/processes/command.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

const POOLED = 20;
const READERS = 6;

const START_TIME = 'select pg_postmaster_start_time()::text as time';

describeOnEveryCluster({ name: 'a restart that moves sessions', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const lab = on.clusterWithPointsman({
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return { ...movesConfig(cluster, directory.path), workers: 2 };
    },
  });

  itUnless(
    whyNoTool('pgbench'),
    'G24: a rolling restart of all members fails nothing, and every session keeps its state',
    async () => {
      const { cluster, pointsman } = lab;
      const leader = await cluster.leader();
      await waitForMembers(lab, 'write', [leader]);
      await waitForMembers(lab, 'read', await replicasOf(cluster));
      const startedBefore = await startTimes();
      const write = { port: await pointsman.port('write'), as: cluster.app };
      const read = { ...write, port: await pointsman.port('read') };
      const fleets = [
        await Fleet.open([nodePostgres()], POOLED, directory.path, write),
        await Fleet.open([nodePostgres()], POOLED, directory.path, read),
      ];
      const load = { mode: 'prepared', clients: 4, rate: STEADY_RATE, source: 'restart' } as const;
      const bench = startPgbench(write, { ...load, directory: directory.path });
      const readers = await CounterReaders.open(READERS, 'select count(*) from loaded', {
        port: read.port,
        ...cluster.app,
      });
      try {
        const command = await restart('--role', 'any');
        expect(await command.ended(), `${command.output}\n${pointsman.explain()}`).toBe(EXIT.ok);
        console.log(command.output);
        expect((await cluster.leader()).name).toBe(leader.name);
        const startedAfter = await startTimes();
        expect(startedAfter.filter((time) => startedBefore.includes(time))).toEqual([]);
        const result = await bench.finish();
        console.log('pgbench:', result);
        for (const fleet of fleets) {
          expect(fleet.size).toBe(POOLED);
          expectKept(await fleet.judge('anywhere'), pointsman);
        }
        expect([result.errors, readers.problems()], lostSessions(pointsman)).toEqual([[], []]);
        expect(await storedRows(lab.cluster, 'restart')).toBe(rowsOf('prepared', result));
      } finally {
        await readers.stop();
        await Promise.all(fleets.map((fleet) => fleet.stop()));
      }
    },
    180_000,
  );

  it('a session that cannot move ends with the reason, and a transaction has its time', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    await cluster.waitUntilHealthy();
    await waitForMembers(lab, 'write', [leader]);
    const port = await pointsman.port('write');
    const [listener, busy] = await HeldSession.openMany(2, port, cluster.app);
    if (listener === undefined || busy === undefined) throw new Error('two sessions are needed');
    await listener.client.query('listen news');
    await busy.client.query('begin');
    await busy.client.query("insert into loaded (source) values ('busy')");
    const command = await restart(leader.name);
    await pointsman.waitFor('the end of the listener', () => listener.endedAtMs !== undefined);
    expect(listener.endedWith).toContain('(evicted_restart)');
    await busy.client.query('commit');
    expect(await command.ended(), command.output).toBe(EXIT.ok);
    const { rows } = await busy.client.query("select source from loaded where source = 'busy'");
    expect([rows.length, busy.endedAtMs], lostSessions(pointsman)).toEqual([1, undefined]);
    await busy.close();
  });

  it('a restart that does not happen leaves every session where it was', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    await waitForMembers(lab, 'write', [leader]);
    const [before] = await startTimes();
    const held = await HeldSession.openMany(5, await pointsman.port('write'), cluster.app);
    await Promise.all(held.map(({ client }) => client.query("set work_mem = '7MB'")));
    // Every server is newer.
    const command = await restart(leader.name, '--pg-version', '10.1');
    expect([await command.ended(), command.output]).toEqual([EXIT.ok, expect.stringContaining('conditions')]);
    expect((await startTimes())[0]).toBe(before);
    const memory = await Promise.all(held.map(({ client }) => client.query('show work_mem')));
    expect(memory.flatMap(({ rows }) => rows)).toEqual(held.map(() => ({ work_mem: '7MB' })));
    expect(
      await pointsman.metric('pointsman_moves_total{pool="write",result="moved",reason="restart"}'),
    ).toBeGreaterThan(held.length - 1);
    for (const session of held) await session.close();
  });

  async function restart(...args: readonly string[]): Promise<Command> {
    const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    const command = ['cluster', 'restart', ...args, '--admin', admin, '--yes'];
    return new Command(command, { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
  }

  async function startTimes(): Promise<readonly string[]> {
    const asked = lab.cluster.members().map(async ({ name }) => {
      // A server that has just started under load takes its time.
      const [row] = await lab.cluster.sql(name, START_TIME, { timeoutMs: 20_000 });
      return String(row?.['time']);
    });
    return Promise.all(asked);
  }
});
