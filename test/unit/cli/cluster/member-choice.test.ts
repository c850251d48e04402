// `pointsman cluster reload`, `reinit`, `pause`, `resume` and `cancel`.
import { describe, expect, test } from 'vitest';
import { clusterCli } from '../../../support/fakes/cluster-cli.ts';
import { aLeader, aMember, aReport, fakeCluster } from '../../../support/fakes/fake-cluster.ts';

describe('reload', () => {
  test('one member', async () => {
    const cluster = fakeCluster();
    const { code, asked } = await clusterCli(['reload', 'pg-2'], cluster, { answers: ['y'] });
    expect([code, asked]).toEqual([0, ['Reload pg-2? [y/N] ']]);
    expect(cluster.performed).toEqual([{ kind: 'reload', member: 'pg-2' }]);
  });

  test('all members; a failure does not keep the others from theirs', async () => {
    const cluster = fakeCluster();
    cluster.answer = (operation) =>
      'member' in operation && operation.member === 'pg-2'
        ? { kind: 'failed', status: 503, text: 'Failed: the reload of pg-2.', reason: '' }
        : undefined;
    const { code, out, err } = await clusterCli(['reload', '--yes'], cluster);
    expect([code, out, err]).toEqual([1, 'Done: reload.\nDone: reload.\n', 'pointsman: Failed: the reload of pg-2.\n']);
    expect(cluster.performed).toHaveLength(3);
  });

  test('--json: every result', async () => {
    const cluster = fakeCluster();
    cluster.answer = () => ({ kind: 'refused', text: 'No.' });
    const { code, out } = await clusterCli(['reload', '--yes', '--json'], cluster);
    expect(code).toBe(1);
    const results = ['pg-1', 'pg-2', 'pg-3'].map((member) => {
      return { operation: { kind: 'reload', member }, result: { kind: 'refused', text: 'No.' } };
    });
    expect(JSON.parse(out)).toEqual({ api_version: 1, results, not_done: [] });
  });
});

describe('reinit', () => {
  test('asks for the name of the member, and sends the options', async () => {
    const cluster = fakeCluster();
    const argv = ['reinit', 'pg-3', '--force', '--from-leader'];
    const { code, out, asked } = await clusterCli(argv, cluster, { answers: ['pg-3'] });
    expect(out).toContain('  copied from  the leader, pg-1\n');
    expect(out).toContain('The data directory of pg-3 is deleted and copied anew.\n');
    expect(asked).toEqual(['Delete the data of pg-3? Type pg-3 to confirm: ']);
    expect(cluster.performed).toEqual([{ kind: 'reinitialize', member: 'pg-3', force: true, from_leader: true }]);
    expect(code).toBe(0);
  });

  test('the leader, and a member of a cluster without a leader, are refused', async () => {
    const cluster = fakeCluster();
    const leader = await clusterCli(['reinit', 'pg-1', '--yes'], cluster);
    expect([leader.code, leader.err]).toEqual([
      1,
      'pointsman: pg-1 is the leader: only a replica can be reinitialized\n',
    ]);
    cluster.report_ = aReport([aMember('pg-2'), aMember('pg-3')]);
    const alone = await clusterCli(['reinit', 'pg-3', '--yes'], cluster);
    expect([alone.code, alone.err]).toEqual([1, 'pointsman: the cluster has no leader: the data of pg-3 is kept\n']);
    expect(cluster.performed).toEqual([]);
  });
});

describe('pause and resume', () => {
  test.each([
    ['pause', false, 'Pause lab? [y/N] ', 'no automatic failover'],
    ['resume', true, 'Resume lab? [y/N] ', 'a dead leader is replaced'],
  ])('%s', async (kind, paused, question, meaning) => {
    const cluster = fakeCluster();
    cluster.report_ = { ...cluster.report_, paused };
    cluster.config_ = { ...cluster.config_, ...(paused ? { pause: true } : {}) };
    const { code, out, asked } = await clusterCli([kind], cluster, { answers: ['y'] });
    expect([code, asked, cluster.performed]).toEqual([0, [question], [{ kind }]]);
    expect(out).toContain(meaning);
  });

  test.each([
    ['pause', true, 'the cluster is paused already\n'],
    ['resume', false, 'the cluster is not paused\n'],
  ])('%s of a cluster that is so already: nothing is sent', async (kind, paused, text) => {
    const cluster = fakeCluster();
    cluster.report_ = { ...cluster.report_, paused };
    cluster.config_ = { ...cluster.config_, ...(paused ? { pause: true } : {}) };
    expect(await clusterCli([kind], cluster)).toMatchObject({ code: 0, out: text, err: '' });
    expect(cluster.performed).toEqual([]);
  });
});

test('a member that says pause is believed, and so is the configuration', async () => {
  const cluster = fakeCluster();
  cluster.report_ = { ...cluster.report_, paused: true };
  await clusterCli(['resume', '--yes'], cluster);
  // Its report may be older than the end of the pause.
  await clusterCli(['pause', '--yes'], cluster);
  cluster.report_ = { ...cluster.report_, paused: false };
  cluster.config_ = { ...cluster.config_, pause: true };
  await clusterCli(['resume', '--yes'], cluster);
  expect(cluster.performed).toEqual([{ kind: 'resume' }, { kind: 'pause' }, { kind: 'resume' }]);
});

describe('cancel', () => {
  test('the switchover', async () => {
    const cluster = fakeCluster();
    const scheduled = { at: '2026-01-31T12:10:00+00:00', from: 'pg-1', to: null };
    cluster.report_ = { ...cluster.report_, scheduled_switchover: scheduled };
    const { code, out } = await clusterCli(['cancel', 'switchover'], cluster, { answers: ['y'] });
    expect(out).toMatch(/^Cancel the switchover from pg-1 scheduled at .*, in 10 min\n/);
    expect([code, cluster.performed]).toEqual([0, [{ kind: 'cancel_switchover' }]]);
  });

  test('restarts: one, or all', async () => {
    const cluster = fakeCluster();
    const at = '2026-01-31T13:00:00+00:00';
    cluster.report_ = aReport([
      aLeader('pg-1', { scheduled_restart: at }),
      aMember('pg-2'),
      aMember('pg-3', { scheduled_restart: at }),
    ]);
    await clusterCli(['cancel', 'restart', 'pg-3', '--yes'], cluster);
    await clusterCli(['cancel', 'restart', '--yes'], cluster);
    expect(cluster.performed).toEqual([
      { kind: 'cancel_restart', member: 'pg-3' },
      { kind: 'cancel_restart', member: 'pg-1' },
      { kind: 'cancel_restart', member: 'pg-3' },
    ]);
  });

  test('an API that does not report scheduled restarts is asked', async () => {
    const cluster = fakeCluster();
    cluster.report_ = { ...cluster.report_, reports_restarts: false };
    cluster.answer = (operation) =>
      'member' in operation && operation.member === 'pg-2'
        ? undefined
        : { kind: 'precondition', status: 412, text: 'No.', reason: 'none' };
    const all = await clusterCli(['cancel', 'restart', '--yes'], cluster);
    expect([all.code, all.out, cluster.performed.length]).toEqual([
      0,
      'pg-1 has no scheduled restart: none\nDone: cancel_restart.\npg-3 has no scheduled restart: none\n',
      3,
    ]);
    const one = await clusterCli(['cancel', 'restart', 'pg-3', '--yes'], cluster);
    expect([one.code, one.err]).toEqual([1, 'pointsman: nothing to cancel: no restart of pg-3 is scheduled\n']);
  });

  test.each([
    [['switchover'], 'nothing to cancel: no switchover is scheduled'],
    [['restart'], 'nothing to cancel: no restart is scheduled'],
    [['restart', 'pg-2'], 'nothing to cancel: no restart of pg-2 is scheduled'],
  ])('%j without a schedule: exit code 1', async (argv, why) => {
    const { code, err } = await clusterCli(['cancel', ...argv, '--yes'], fakeCluster());
    expect([code, err]).toEqual([1, `pointsman: ${why}\n`]);
  });
});

test.each([
  ['reload', 'pg-4'],
  ['reinit', 'pg-4'],
  ['restart', 'pg-4'],
  ['cancel', 'restart', 'pg-4'],
])('%s %s: an unknown member is exit code 2', async (...argv) => {
  const { code, err } = await clusterCli([...argv, '--yes'], fakeCluster());
  expect(code).toBe(2);
  expect(err).toMatch(/^pointsman: unknown member pg-4: did you mean pg-\d\? The members are pg-1, pg-2, pg-3\n$/);
});
