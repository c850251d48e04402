// Two processes before a real cluster: late news in one process must not let two servers take writes.
import { expect, it } from 'vitest';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_KEYS, reigns, startUniqueWriters } from '../support/applications/unique-writers.ts';

const WRITERS = 20;
const EVERY_MS = 50;

describeOnSandbox({ name: 'two workers', legs: ['encrypted'] }, (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_KEYS, pointsman: { workers: 2 } });

  it('G1, G2: one writer at a time through a switchover and the deaths of a worker and of the primary', async () => {
    const { cluster, pointsman } = lab;
    const first = await cluster.leader();
    const writers = startUniqueWriters(WRITERS, await pointsman.port('write'), cluster.app, EVERY_MS);
    const written = (server: string): number => writers.acknowledged.filter((row) => row.server === server).length;
    const writesOn = async (server: string): Promise<string> => {
      const before = written(server);
      await pointsman.waitFor(`writes on ${server}`, () => written(server) >= before + 3 * WRITERS, 90_000);
      return server;
    };
    const workers = async (): Promise<readonly { readonly pid: number | null; readonly sessions: number }[]> =>
      JSON.parse((await pointsman.admin('/status')).text).workers;
    const expected = [await writesOn(serverName(first))];
    const both = await workers();
    expect(both.map(({ sessions }) => sessions > 0)).toEqual([true, true]);

    const second = await cluster.switchover();
    expected.push(await writesOn(serverName(second)));
    await cluster.waitUntilHealthy();

    const errors = writers.errors.length;
    process.kill(both[0]?.pid ?? 0, 'SIGKILL');
    await writesOn(serverName(second));
    const cut = writers.errors.length - errors;
    expect(cut, 'the sessions of one worker, not of both').toBeLessThan(WRITERS);
    await pointsman.waitFor('the next worker', async () => (await workers()).every(({ pid }) => pid !== null));

    const afterDeath = cluster.watchFirstDirectWrite({ excluding: second.name });
    await cluster.kill(second.name);
    const third = (await afterDeath.done).member;
    expected.push(await writesOn(serverName(third)));
    await writers.stop();

    expect(reigns(writers.acknowledged), pointsman.explain()).toEqual(expected);
    const keys = writers.acknowledged.map(({ key }) => key);
    expect(new Set(keys).size, 'a key that was acknowledged twice').toBe(keys.length);
    expect(writers.errors.filter((error) => error.includes('read-only'))).toEqual([]);
  }, 300_000);
});
