// The control by the members' APIs, on a real cluster of the sandbox in each dialect.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterControl, ControlReading } from '../../../src/cluster/control.ts';
import { directControl } from '../../support/clusters/direct-control.ts';
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { SandboxCluster } from '../../support/clusters/sandbox-cluster.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

function valueOf<T>(reading: ControlReading<T>): T {
  if (reading.kind === 'read') return reading.value;
  throw new Error(reading.why);
}

describeUnless(missingForSandbox, 'a sandbox', () => {
  describe.each(['manager', 'patroni'] as const)('in the dialect of %s', (dialect) => {
    let cluster: SandboxCluster;
    let control: ClusterControl;

    beforeAll(async () => {
      cluster = await SandboxCluster.start({ dialect });
      control = await directControl(cluster.members().map(({ api }) => api));
    }, 60_000);
    afterAll(() => cluster.destroy());

    it('reports every member with its address, timeline, state and lag', async () => {
      const [leader, names] = [await cluster.leader(), cluster.members().map(({ name }) => name)];
      const report = valueOf(await control.report());
      expect(report).toMatchObject({ scope: cluster.scope, paused: false, leader: leader.name });
      expect(report.scheduled_switchover).toBeNull();
      expect(report.members.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      for (const { name, api, host, port } of cluster.members()) {
        const member = report.members.find((one) => one.name === name);
        expect(member).toMatchObject({ api, postgres: `${host}:${port}`, timeline: 1, pending_restart: false });
        expect(member?.state).toMatch(name === leader.name ? /^running$/ : /^(?:running|streaming)$/);
        expect(member?.lag_bytes === null).toBe(name === leader.name);
      }
    });

    it('reads the configuration', async () => {
      expect(valueOf(await control.config())).toMatchObject({ loop_wait: expect.any(Number) });
    });

    it('names the request of an operation without sending it', async () => {
      const { name, api } = await cluster.leader();
      const plan = valueOf(await control.plan({ kind: 'switchover', leader: name }));
      expect(plan).toEqual({ method: 'POST', url: `${api}/switchover`, body: { leader: name } });
      expect(valueOf(await control.plan({ kind: 'reload', member: name }))).toEqual({
        method: 'POST',
        url: `${api}/reload`,
      });
    });

    it('switches over, and shows the change in the history', async () => {
      const leader = await cluster.leader();
      const candidate = cluster.members().find(({ name }) => name !== leader.name);
      const result = await control.perform({
        kind: 'switchover',
        leader: leader.name,
        candidate: candidate?.name ?? '',
      });
      expect(result).toMatchObject({ kind: 'done' });
      const noun = `the switchover from ${leader.name} to ${candidate?.name}`;
      expect(result.text).toContain(`Done: ${noun}. ${leader.name} answered: Successfully switched over`);
      await cluster.waitUntilHealthy();
      expect((await cluster.leader()).name).toBe(candidate?.name);
      const history = valueOf(await control.history());
      expect(control.source()).toBe(candidate?.api);
      expect(history.at(-1)).toMatchObject({ timeline: 1, new_leader: candidate?.name });
    }, 60_000);

    it('names the members when the member of an operation is none', async () => {
      const result = await control.perform({ kind: 'reload', member: 'pg-9' });
      expect(result.kind).toBe('refused');
      for (const text of ['unknown member pg-9', ...cluster.members().map(({ name }) => name)]) {
        expect(result.text).toContain(text);
      }
    });
  });
});
