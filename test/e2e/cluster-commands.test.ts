// `pointsman cluster …` as a process of its own on a real cluster, in both dialects: by seeds alone, by a file, and
// through a running Pointsman. Behind them scenario 17: Pointsman has no setting for the dialect, and routes in the
// same way with both.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { ask } from '../support/patroni/http.ts';
import { shownMembers } from '../support/processes/pointsman-status.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { done, runCluster } from '../support/processes/cluster-command.ts';
import type { Ran } from '../support/processes/cluster-command.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

describeOnSandbox('the commands of a cluster', (on) => {
  for (const dialect of ['manager', 'patroni'] as const) {
    describe(`in the dialect ${dialect}`, () => {
      const pointsman = { admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN } };
      const lab = on.clusterWithPointsman({ cluster: { dialect }, pointsman });
      let directory = '';
      beforeAll(async () => {
        directory = await mkdtemp(join(tmpdir(), 'pointsman-cluster-'));
        await lab.pointsman.waitUntilReady();
        const admin = { address: `127.0.0.1:${await lab.pointsman.port('admin')}`, token: ADMIN_TOKEN };
        await writeFile(join(directory, 'p.yaml'), stringify(configFor(lab.cluster, { admin })));
      });
      afterAll(() => rm(directory, { recursive: true, force: true }));

      const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
        runCluster(argv, { cwd: directory, env });

      const bySeeds = (...argv: readonly string[]): Promise<Ran> =>
        run([...argv, ...lab.cluster.members().flatMap(({ api }) => ['--seed', api])]);
      const byFile = (...argv: readonly string[]): Promise<Ran> => run([...argv, '-c', 'p.yaml']);
      const byAdmin = async (...argv: readonly string[]): Promise<Ran> =>
        run([...argv, '--admin', `127.0.0.1:${await lab.pointsman.port('admin')}`], {
          POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN,
        });
      const ways = [bySeeds, byFile, byAdmin];

      async function listed(): Promise<Listed> {
        return JSON.parse(await done(bySeeds('list', '--json')));
      }

      /** Members publish what changed with their next heartbeat, each second. Every look is a process. */
      async function untilListed(what: string, isSo: (list: Listed) => boolean): Promise<void> {
        const pace = { timeoutMs: 20_000, everyMs: 500, explain: () => lab.cluster.describeState() };
        await waitUntil(what, async () => isSo(await listed()), pace);
      }

      it('list: in the same way by seeds, by a file and through a Pointsman', async () => {
        const { name } = await lab.cluster.leader();
        const lists = await Promise.all(ways.map((way) => done(way('list'))));
        for (const text of lists) {
          expect(text).toContain(`cluster ${lab.cluster.scope}, leader ${name}, timeline 1\n`);
          expect(text).toMatch(new RegExp(`^${name} +leader +running +1 +-$`, 'm'));
          expect(text.match(/^\S+ +replica +(?:running|streaming) +1 /gm)).toHaveLength(2);
        }
        expect(lists[2]).toContain('read from the Pointsman at 127.0.0.1:');
      });

      it('without a terminal a change needs --yes: nothing is sent', async () => {
        const { code, err } = await byFile('pause');
        expect([code, err]).toEqual([2, expect.stringContaining('Add --yes.')]);
        expect((await listed()).paused).toBe(false);
      });

      it('on a terminal it asks, with colour; another answer than the name of the member changes nothing', async () => {
        const { name: leader } = await lab.cluster.leader();
        const [{ name }] = await replicasOf(lab.cluster);
        const argv = ['failover', '--to', name, '-c', 'p.yaml'];
        const declined = await runCluster(argv, { cwd: directory, typed: 'y\n' });
        expect(declined.code).toBe(1);
        expect(declined.out).toContain(`Fail over to ${name}? Type ${name} to confirm:`);
        expect(declined.out).toContain('not confirmed, so nothing was changed');
        expect((await lab.cluster.leader()).name).toBe(leader);
        const list = await runCluster(['list', '-c', 'p.yaml'], { cwd: directory, typed: '' });
        expect(list.out).toContain('\u001B[');
        const reloaded = await runCluster(['reload', name, '-c', 'p.yaml'], { cwd: directory, typed: 'y\n' });
        expect([reloaded.code, reloaded.out]).toEqual([0, expect.stringContaining(`the reload of ${name}`)]);
      });

      it('pause and resume', async () => {
        await done(bySeeds('pause', '--yes'));
        expect(await done(byAdmin('list'))).toContain('paused: no automatic failover');
        await done(byAdmin('resume', '--yes'));
        expect((await listed()).paused).toBe(false);
      });

      it('config set, show and replace; null removes a key', async () => {
        await done(
          bySeeds('config', 'set', 'postgresql.parameters.work_mem=8MB', 'maximum_lag_on_failover=2097152', '--yes'),
        );
        const shown: { config: object } = JSON.parse(await done(byAdmin('config', 'show', '--json')));
        expect(shown.config).toMatchObject({
          maximum_lag_on_failover: 2097152,
          postgresql: { parameters: { work_mem: '8MB' } },
        });
        await done(byAdmin('config', 'set', 'postgresql.parameters.work_mem=', '--yes'));
        const text = await done(byFile('config', 'show'));
        expect(text).not.toContain('work_mem');
        await writeFile(join(directory, 'dynamic.yaml'), text.replace('2097152', '1048576'));
        expect((await byFile('config', 'replace', 'dynamic.yaml', '--yes')).code).toBe(0);
        expect(await done(bySeeds('config', 'show'))).toContain('maximum_lag_on_failover: 1048576\n');
      });

      it('config edit: with the editor that the environment names', async () => {
        const editor = "sed -i 's/maximum_lag_on_failover: .*/maximum_lag_on_failover: 3145728/'";
        await done(run(['config', 'edit', '-c', 'p.yaml', '--yes'], { EDITOR: editor }));
        expect(await done(byAdmin('config', 'show'))).toContain('maximum_lag_on_failover: 3145728\n');
      });

      it('a parameter that needs a restart: the wrong order is refused, the right one is taken', async () => {
        const { name: leader } = await lab.cluster.leader();
        const set = await done(bySeeds('config', 'set', 'postgresql.parameters.max_connections=210', '--yes'));
        expect(set).toContain('max_connections: in effect after a restart of every member, in this order:');
        await untilListed('all members need a restart', ({ members }) =>
          members.every(({ pending_restart: isPending }) => isPending),
        );
        for (const way of ways) {
          const { code, err } = await way('restart', leader, '--yes');
          expect([code, err]).toEqual([1, expect.stringContaining('restart the standbys first')]);
        }
        const out = await done(byAdmin('restart', '--role', 'any', '--pending', '--yes'));
        const order = [...out.matchAll(/the restart of (\S+)\./g)].map(([, name]) => name);
        expect(order).toHaveLength(3);
        expect(order.at(-1)).toBe(leader);
        await untilListed('no member needs a restart', ({ members }) =>
          members.every(({ pending_restart: isPending }) => !isPending),
        );
        expect(await lab.cluster.sql(leader, 'show max_connections')).toEqual([{ max_connections: '210' }]);
      });

      it('restart of a member that does not meet the conditions', async () => {
        const [replica] = await replicasOf(lab.cluster);
        const text = await done(bySeeds('restart', replica.name, '--pg-version', '9.6.24', '--yes'));
        expect(text).toBe(`${replica.name} does not meet the conditions, so it did not restart\n`);
      });

      it('reload', async () => {
        expect((await done(bySeeds('reload', '--yes'))).trim().split('\n')).toHaveLength(3);
      });

      it('a scheduled restart: shown, and cancelled', async () => {
        const [replica] = await replicasOf(lab.cluster);
        const out = await done(byAdmin('restart', replica.name, '--at', 'now+1h', '--yes'));
        expect(out).toMatch(/\+0[12]:00 \(.* UTC\), in \d/);
        await untilListed('the scheduled restart', ({ members }) =>
          members.some(({ name, scheduled_restart: at }) => name === replica.name && at !== undefined),
        );
        await done(byAdmin('cancel', 'restart', '--yes'));
        await untilListed('no scheduled restart', ({ members }) =>
          members.every(({ scheduled_restart: at }) => at === undefined),
        );
        const again = await bySeeds('cancel', 'restart', replica.name, '--yes');
        expect([again.code, again.err]).toEqual([1, expect.stringContaining('nothing to cancel')]);
      });

      it('a scheduled switchover: shown, and cancelled', async () => {
        await done(bySeeds('switchover', '--at', 'now+1h', '--yes'));
        await untilListed('the scheduled switchover', ({ scheduled_switchover: scheduled }) => scheduled !== null);
        await done(byFile('cancel', 'switchover', '--yes'));
        await untilListed('no scheduled switchover', ({ scheduled_switchover: scheduled }) => scheduled === null);
      });

      it('switchover, with the sessions that it would cut; --dry-run changes nothing', async () => {
        const old = await lab.cluster.leader();
        const [candidate] = await replicasOf(lab.cluster);
        const plan = await done(byFile('switchover', '--to', candidate.name, '--dry-run'));
        expect(plan).toMatch(/ {2}sessions {2}0 sessions of the Pointsman at 127\.0\.0\.1:\d+\n/);
        expect(plan).toContain(
          `  POST ${old.api}/switchover\n  {"leader":"${old.name}","candidate":"${candidate.name}"}`,
        );
        expect((await lab.cluster.leader()).name).toBe(old.name);
        await done(byAdmin('switchover', '--to', candidate.name, '--yes'));
        await lab.cluster.waitUntilHealthy();
        expect((await lab.cluster.leader()).name).toBe(candidate.name);
        const refused = await bySeeds('switchover', '--to', candidate.name, '--yes');
        expect([refused.code, refused.err]).toEqual([1, `pointsman: ${candidate.name} is the leader already\n`]);
      });

      it('failover, and its trace in the history', async () => {
        const [candidate] = await replicasOf(lab.cluster);
        const { code, err } = await bySeeds('failover', '--to', candidate.name, '--yes');
        expect([code, err]).toEqual([0, expect.stringContaining('is a running leader')]);
        await lab.cluster.waitUntilHealthy();
        expect((await lab.cluster.leader()).name).toBe(candidate.name);
        const { history }: { history: object[] } = JSON.parse(await done(byAdmin('history', '--json')));
        expect(history.length).toBeGreaterThanOrEqual(2);
        expect(await done(bySeeds('history'))).toMatch(/^TL +ENDED AT +NEXT BEGAN +NEW LEADER +REASON\n/);
      });

      it('reinit of a replica; of the leader it is refused', async () => {
        const [replica] = await replicasOf(lab.cluster);
        await done(bySeeds('reinit', replica.name, '--from-leader', '--yes'));
        await lab.cluster.waitUntilHealthy();
        const { name } = await lab.cluster.leader();
        const refused = await byAdmin('reinit', name, '--yes');
        expect([refused.code, refused.err]).toEqual([
          1,
          expect.stringContaining('only a replica can be reinitialized'),
        ]);
      });

      it('scenario 17: routes follow the cluster', async () => {
        const { cluster, pointsman } = lab;
        const other = dialect === 'manager' ? 'patroni' : 'manager';
        const leader = await cluster.leader();
        const [tagged, untagged] = await replicasOf(cluster);
        const document = (await ask(`${leader.api}/${dialect}`))?.text;
        expect(document).toContain(`"${dialect}"`);
        expect(document).not.toContain(`"${other}"`);

        await waitForMembers(lab, 'write', [leader]);
        await waitForMembers(lab, 'read', [tagged, untagged]);
        await cluster.setTags(tagged.name, { noloadbalance: true });
        await waitForMembers(lab, 'read', [untagged]);
        await cluster.setTags(tagged.name, {});
        await waitForMembers(lab, 'read', [tagged, untagged]);

        const before = (await shownMembers(pointsman)).get(leader.name);
        const next = await cluster.switchover({ to: untagged.name });
        await waitForMembers(lab, 'write', [next]);
        await waitForMembers(lab, 'read', [leader, tagged]);
        const session = await HeldSession.open(await pointsman.port('write'), cluster.app);
        expect(session.server).toBe(serverName(untagged));
        await session.close();
        const shown = (await shownMembers(pointsman)).get(next.name);
        const timeline = Number(before?.timeline) + 1;
        expect(shown).toMatchObject({ role: 'primary', state: 'running', timeline });
      });
    });
  }
});

interface Listed {
  readonly paused: boolean;
  readonly scheduled_switchover: unknown;
  readonly members: readonly ListedMember[];
}

interface ListedMember {
  readonly name: string;
  readonly pending_restart: boolean;
  readonly scheduled_restart?: string;
}
