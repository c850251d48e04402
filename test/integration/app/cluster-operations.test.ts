// The cluster operated through the whole program, on a real cluster of the sandbox: HTTP with a token in front, the
// members' management APIs behind.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { controlByAdmin } from '../../../src/cli/cluster/by-admin.ts';
import type { ClusterControl, ControlReading } from '../../../src/cluster/control.ts';
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { SandboxCluster } from '../../support/clusters/sandbox-cluster.ts';
import { AppLab } from '../../support/labs/app-lab.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef-operator';

function valueOf<T>(reading: ControlReading<T>): T {
  if (reading.kind === 'read') return reading.value;
  throw new Error(reading.why);
}

describeUnless(missingForSandbox, 'a sandbox', () => {
  let cluster: SandboxCluster;
  let lab: AppLab;
  let control: ClusterControl;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-cluster-operations-'));
    await writeFile(join(directory, 'token'), TOKEN);
    cluster = await SandboxCluster.start();
    lab = await AppLab.start({
      cluster: { seeds: cluster.members().map(({ api }) => api) },
      listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
      admin: { address: '127.0.0.1:0', token_file: join(directory, 'token') },
    });
    const { hostname, port } = new URL(lab.admin);
    const address = { host: hostname, port: Number(port) };
    const admin = { address, allowedHosts: [], token: TOKEN, tokenFile: undefined, console: undefined };
    control = controlByAdmin({ address, isTls: false, admin });
  }, 60_000);

  afterAll(async () => {
    await lab.app.stop();
    await cluster.destroy();
    await rm(directory, { recursive: true });
  });

  it('reads what the members report', async () => {
    const leader = await cluster.leader();
    const report = valueOf(await control.report());
    expect(report).toMatchObject({ scope: cluster.scope, leader: leader.name, paused: false });
    expect(report.members.length).toBe(cluster.members().length);
    expect(valueOf(await control.config())).toMatchObject({ loop_wait: expect.any(Number) });
    expect(await control.history()).toMatchObject({ kind: 'read' });
  });

  it('a mistake of the operator is refused with the reason of the member', async () => {
    expect(await control.perform({ kind: 'switchover', leader: 'nobody' })).toMatchObject({
      kind: 'precondition',
      status: 412,
      reason: expect.stringMatching(/\S/),
    });
    expect(await control.perform({ kind: 'reload', member: 'nobody' })).toMatchObject({ kind: 'refused' });
  });

  it('pauses and resumes, changes the configuration, and switches over', async () => {
    expect(await control.perform({ kind: 'pause' })).toMatchObject({ kind: 'done' });
    expect(valueOf(await control.report()).paused).toBe(true);
    expect(await control.perform({ kind: 'resume' })).toMatchObject({ kind: 'done' });
    expect(
      await control.perform({ kind: 'patch_config', changes: { maximum_lag_on_failover: 4_194_304 } }),
    ).toMatchObject({
      kind: 'done',
    });
    expect(valueOf(await control.config())).toMatchObject({ maximum_lag_on_failover: 4_194_304 });
    const before = (await cluster.leader()).name;
    expect(await control.perform({ kind: 'switchover', leader: before })).toMatchObject({ kind: 'done' });
    await until('another leader', async () => ![before, null].includes(valueOf(await control.report()).leader), 30_000);
    expect(valueOf(await control.history()).length).toBeGreaterThan(0);
  });
});
