// `pointsman cluster …` on real Patroni: its answers are explained, and restarts follow the parameters.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { replicasOf } from '../support/clusters/pool-members.ts';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { done, runCluster } from '../support/processes/cluster-command.ts';
import type { Ran } from '../support/processes/cluster-command.ts';
import { configFor } from '../support/processes/pointsman-config.ts';

const PATIENCE_MS = 45_000;

interface Listed {
  readonly scheduled_switchover: unknown;
  readonly members: readonly { readonly pending_restart: boolean }[];
}

describeOnPatroni('the commands of a cluster', () => {
  let directory = '';
  let cluster: PatroniCluster;
  beforeAll(async () => {
    cluster = await startPatroniCluster();
    directory = await mkdtemp(join(tmpdir(), 'pointsman-cluster-'));
    await writeFile(join(directory, 'p.yaml'), stringify(configFor(cluster)));
  });
  afterAll(async () => {
    await cluster.destroy();
    await rm(directory, { recursive: true, force: true });
  });

  const run = (...argv: readonly string[]): Promise<Ran> => runCluster([...argv, '-c', 'p.yaml'], { cwd: directory });
  const listed = async (): Promise<Listed> => JSON.parse(await done(run('list', '--json')));

  /** Members publish what changed with their next heartbeat. */
  async function untilPending(isPending: boolean): Promise<void> {
    const isSo = async () => (await listed()).members.every((member) => member.pending_restart === isPending);
    await cluster.waitUntil(`pending restarts: ${isPending}`, isSo, PATIENCE_MS);
  }

  it('list', async () => {
    const { name } = await cluster.leader();
    const text = await done(run('list'));
    expect(text).toMatch(new RegExp(`^cluster ${cluster.scope}, leader ${name}, timeline 1\n`));
    expect(text.match(/^\S+ +replica +(?:running|streaming) +1 /gm)).toHaveLength(cluster.members().length - 1);
  });

  it.each([
    ['raised', '230', -1],
    ['lowered', '210', 0],
  ])('max_connections is %s: the command that is printed restarts in the right order', async (_, value, place) => {
    const { name: leader } = await cluster.leader();
    const others = cluster.members().filter(({ name }) => name !== leader);
    const set = await done(run('config', 'set', `postgresql.parameters.max_connections=${value}`, '--yes'));
    await untilPending(true);
    const tooEarly = place === 0 ? (others[0]?.name ?? '') : leader;
    // Patroni before 3.3 does not report which value changed.
    const refused = await run('restart', tooEarly, '--yes');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/ first \(|do not report which parameters/)]);
    const command = /with: pointsman cluster (restart --pending --(?:primary|standbys)-first)\n/.exec(set)?.[1] ?? '';
    const out = await done(run(...command.split(' '), '--yes'));
    const order = [...out.matchAll(/the restart of (\S+)\./g)].map(([, name]) => name);
    expect(new Set(order)).toEqual(new Set(cluster.members().map(({ name }) => name)));
    expect(order.at(place)).toBe(leader);
    const values = cluster.members().map(async (member) => {
      const [row] = await cluster.sql(member.name, 'show max_connections', { timeoutMs: 20_000 });
      return row?.['max_connections'];
    });
    expect(await Promise.all(values)).toEqual([value, value, value]);
    await untilPending(false);
  });

  it('a restart whose conditions are not met, a reload, a pause', async () => {
    const [replica] = await replicasOf(cluster);
    expect(await done(run('restart', replica.name, '--pg-version', '9.6.24', '--yes'))).toBe(
      `${replica.name} does not meet the conditions, so it did not restart\n`,
    );
    await done(run('reload', '--yes'));
    for (const change of ['pause', 'resume']) {
      // The member that is asked may not know the change before: Patroni compares what it knows, and answers 409.
      const answers: Ran[] = [];
      const isJudged = async (): Promise<boolean> => {
        answers.unshift(await run(change, '--yes'));
        return answers[0]?.err.includes('(status 409)') === false;
      };
      await cluster.waitUntil(change, isJudged, PATIENCE_MS);
      expect(answers[0]).toMatchObject({ code: 0 });
    }
  });

  it('a switchover: scheduled, cancelled, and at once', async () => {
    const [candidate] = await replicasOf(cluster);
    await done(run('switchover', '--at', 'now+1h', '--yes'));
    await cluster.waitUntil('it', async () => (await listed()).scheduled_switchover !== null, PATIENCE_MS);
    await done(run('cancel', 'switchover', '--yes'));
    await cluster.waitUntil('none', async () => (await listed()).scheduled_switchover === null, PATIENCE_MS);
    await done(run('switchover', '--to', candidate.name, '--yes'));
    await cluster.waitUntilHealthy();
    expect((await cluster.leader()).name).toBe(candidate.name);
    // The leader writes it with one of its next heartbeats.
    const told = new RegExp(`^ 1 .* ${candidate.name} `, 'm');
    await cluster.waitUntil('the history', async () => told.test(await done(run('history'))), PATIENCE_MS);
  });

  it('reinit of a replica', async () => {
    const [replica] = await replicasOf(cluster);
    await done(run('reinit', replica.name, '--yes'));
    await cluster.waitUntilHealthy();
  });
});
