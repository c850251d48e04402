// `pointsman cluster switchover` and `failover`: the plan, the question, the request, and the refusals.
import { describe, expect, test } from 'vitest';
import type { ClusterReport } from '../../../../src/documents/cluster-documents.ts';
import { clusterCli } from '../../../support/fakes/cluster-cli.ts';
import { aLeader, aMember, aReport, fakeCluster } from '../../../support/fakes/fake-cluster.ts';

const withReport = (report: ClusterReport) => Object.assign(fakeCluster(), { report_: report });
const MB = 1024 * 1024;

describe('switchover', () => {
  test('shows the plan, asks, and sends one request', async () => {
    const cluster = fakeCluster();
    const { code, out, err, asked } = await clusterCli(['switchover', '--to', 'pg-2'], cluster, { answers: ['y'] });
    expect(out.split('\n')).toEqual([
      'Switchover by Patroni',
      '  cluster  lab, by http://10.0.0.1:8008',
      '  leader   pg-1, timeline 4',
      '  to       pg-2',
      '  when     now',
      '',
      'CANDIDATE  STATE      LAG  NOTE',
      'pg-2 *     streaming  0 B',
      'pg-3       streaming  0 B',
      '',
      'Patroni does it directly and holds no clients: sessions on the leader are cut.',
      '`pointsman switchover` holds them.',
      'Done: switchover.',
      '',
    ]);
    expect(asked).toEqual(['Switch over from pg-1 to pg-2? [y/N] ']);
    expect(cluster.performed).toEqual([{ kind: 'switchover', leader: 'pg-1', candidate: 'pg-2' }]);
    expect([code, err]).toEqual([0, '']);
  });

  test('the table has what speaks against each candidate, without its name again', async () => {
    const behind = aMember('pg-2', { state: 'running', timeline: 3, lag_bytes: null });
    const stopped = aMember('pg-4', { state: 'stopped', lag_bytes: 3 * MB });
    const report = aReport([aLeader('pg-1'), behind, aMember('pg-3'), stopped]);
    const { out, err } = await clusterCli(['switchover', '--to', 'pg-2', '--dry-run'], withReport(report));
    const words = out.replaceAll(/\s+/g, ' ');
    expect(words).toContain(
      'not streaming from the leader (state running); on timeline 3, the leader on 4; lag unknown',
    );
    expect(words).toContain('not running (state stopped); lags 3 MB behind');
    expect(err).toContain('warning: the lag of pg-2 is unknown\n');
  });

  test('declined: nothing is sent, exit code 1', async () => {
    const cluster = fakeCluster();
    const { code, err } = await clusterCli(['switchover'], cluster, { answers: [''] });
    expect([code, err]).toEqual([1, 'pointsman: not confirmed, so nothing was changed\n']);
    expect(cluster.performed).toEqual([]);
  });

  test('without a terminal and without --yes: exit code 2, and nothing is sent', async () => {
    const cluster = fakeCluster();
    const { code, err } = await clusterCli(['switchover'], cluster);
    expect([code, err]).toEqual([2, expect.stringContaining('Add --yes.')]);
    expect(cluster.performed).toEqual([]);
  });

  test('--yes: no question and no plan', async () => {
    const cluster = fakeCluster();
    const { code, out } = await clusterCli(['switchover', '--yes'], cluster);
    expect([code, out]).toEqual([0, 'Done: switchover.\n']);
    expect(cluster.performed).toEqual([{ kind: 'switchover', leader: 'pg-1' }]);
  });

  test('--dry-run: the requests, and nothing is sent', async () => {
    const cluster = fakeCluster();
    const { code, out } = await clusterCli(['switchover', '--to', 'pg-2', '--dry-run'], cluster);
    expect(out).toContain('Switchover by Patroni\n');
    expect(out).toContain('Dry run: nothing is sent. Without --dry-run:\n  POST http://10.0.0.1:8008/switchover\n');
    expect(out).toMatch(/\n {2}\{"leader":"pg-1","candidate":"pg-2"\}\n$/);
    expect([code, cluster.performed]).toEqual([0, []]);
  });

  test('--json: the request of a dry run, or the result', async () => {
    const cluster = fakeCluster();
    const dry = await clusterCli(['switchover', '--dry-run', '--json'], cluster);
    expect(JSON.parse(dry.out)).toEqual({
      api_version: 1,
      dry_run: true,
      warnings: [],
      requests: [{ method: 'POST', url: 'http://10.0.0.1:8008/switchover', body: { leader: 'pg-1' } }],
    });
    const done = await clusterCli(['switchover', '--yes', '--json'], cluster);
    expect(JSON.parse(done.out)).toEqual({
      api_version: 1,
      results: [
        {
          operation: { kind: 'switchover', leader: 'pg-1' },
          result: { kind: 'done', text: 'Done: switchover.', reason: '' },
        },
      ],
      not_done: [],
    });
    cluster.performed.length = 0;
    const asks = await clusterCli(['switchover', '--json'], cluster, { answers: ['y'] });
    expect([asks.code, asks.err]).toEqual([2, 'pointsman: --json asks no question: add --yes or --dry-run\n']);
    expect(cluster.performed).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    ['switchover', []],
    ['failover', ['pg-2']],
  ])('%s: another member leads than the one that was asked for', async (kind, answers) => {
    const cluster = fakeCluster();
    const done = { kind: 'done', text: 'Done.', reason: '' } as const;
    cluster.answer = () => {
      cluster.report_ = aReport([aMember('pg-1'), aMember('pg-2'), aLeader('pg-3')]);
      return done;
    };
    const { code, err } = await clusterCli([kind, '--to', 'pg-2', '--yes'], cluster, { answers });
    expect([code, err]).toEqual([0, expect.stringContaining('warning: pg-3 is the leader instead of pg-2\n')]);
    cluster.report_ = fakeCluster().report_;
    cluster.answer = () => done;
    const nothing = await clusterCli([kind, '--to', 'pg-2', '--yes'], cluster, { answers });
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('no other leader is seen within 30 s')]);
  });

  test('--at: both clocks are shown, and the time is sent with its offset', async () => {
    const cluster = fakeCluster();
    cluster.answer = () => ({ kind: 'scheduled', text: 'Scheduled: switchover.', reason: '' });
    const argv = ['switchover', '--at', '2026-01-31T14:00:00+01:00'];
    const { code, out, asked } = await clusterCli(argv, cluster, { answers: ['yes'] });
    expect(out).toMatch(/ {2}when {5}2026-01-31 .*13:00:00 UTC\)?, in 60 min\n/);
    expect(out).toMatch(/Scheduled: switchover\.\n2026-01-31 .*13:00:00 UTC\)?, in 60 min\n$/);
    expect(asked).toEqual(['Schedule the switchover from pg-1 to a candidate of Patroni’s choice? [y/N] ']);
    expect(cluster.performed).toEqual([
      { kind: 'switchover', leader: 'pg-1', scheduled_at: '2026-01-31T13:00:00+00:00' },
    ]);
    expect(code).toBe(0);
  });

  test('warns of a candidate that lags, does not stream, or is behind', async () => {
    const cluster = withReport(
      aReport(
        [aLeader('pg-1'), aMember('pg-2', { state: 'running', timeline: 3, lag_bytes: 64 * MB }), aMember('pg-3')],
        {
          scheduled_switchover: { at: '2026-02-20T12:00:00+00:00', from: 'pg-1', to: null },
        },
      ),
    );
    const argv = ['switchover', '--to', 'pg-2', '--at', 'now+8d', '--yes'];
    const { code, err } = await clusterCli(argv, cluster);
    expect(err.split('\n')).toEqual([
      'warning: pg-2 is not streaming from the leader (state running)',
      'warning: pg-2 is on timeline 3, the leader on 4',
      'warning: pg-2 lags 64 MB behind',
      expect.stringMatching(/^warning: this replaces the switchover from pg-1 scheduled at 2026-02-20 /),
      'warning: the time is 8 d ahead: check the date',
      '',
    ]);
    expect(code).toBe(0);
  });

  const one = aReport([aLeader('pg-1')]);
  const nofailover = aReport([aLeader('pg-1'), aMember('pg-2', { tags: { nofailover: 'true' } })]);
  test.each<[string, ClusterReport, readonly string[], string]>([
    ['the leader itself', fakeCluster().report_, ['--to', 'pg-1'], 'pg-1 is the leader already'],
    ['a candidate with nofailover', nofailover, ['--to', 'pg-2'], 'pg-2 has the tag nofailover'],
    ['no candidate but one with nofailover', nofailover, [], 'there is no candidate: pg-2 has the tag nofailover'],
    ['a cluster of one member', one, [], 'pg-1 is the only member: there is no candidate'],
    [
      'no leader',
      aReport([aMember('pg-2')]),
      [],
      'there is no leader to switch over from: use `pointsman cluster fail',
    ],
    [
      'a schedule in a pause',
      aReport(one.members, { paused: true }),
      ['--at', 'now+1h'],
      'the cluster is paused: Patroni',
    ],
    ['a pause without a candidate', aReport(fakeCluster().report_.members, { paused: true }), [], 'name the candidate'],
  ])('refuses %s: exit code 1', async (_, report, argv, why) => {
    const cluster = withReport(report);
    const { code, err } = await clusterCli(['switchover', '--yes', ...argv], cluster);
    expect([code, err, cluster.performed]).toEqual([1, expect.stringContaining(why), []]);
  });

  test.each([
    [['--to', 'pg2'], 'unknown member pg2: did you mean pg-2? The members are pg-1, pg-2, pg-3'],
    [['--to', 'elsewhere'], 'unknown member elsewhere: the members are pg-1, pg-2, pg-3'],
    [['--at', '2026-01-31T13:00'], '--at 2026-01-31T13:00 has no offset'],
    [['--at', '2020-01-31T13:00Z'], 'is in the past'],
  ])('%j is wrong usage: exit code 2', async (argv, why) => {
    const cluster = fakeCluster();
    const { code, err } = await clusterCli(['switchover', '--yes', ...argv], cluster);
    expect([code, err, cluster.performed]).toEqual([2, expect.stringContaining(why), []]);
  });

  test('a refused member is named with the reason', async () => {
    const cluster = withReport(
      aReport([aLeader('pg-1')], { refused_members: [{ name: 'pg-9', why: 'no such host' }] }),
    );
    const { err } = await clusterCli(['switchover', '--to', 'pg-9'], cluster);
    expect(err).toBe('pointsman: pg-9 is not used: no such host\n');
  });

  test('every answer is explained; a lost answer names the command to look with', async () => {
    const cluster = fakeCluster();
    cluster.answer = () => ({ kind: 'precondition', status: 412, text: 'Not possible now.', reason: '' });
    expect(await clusterCli(['switchover', '--yes'], cluster)).toMatchObject({
      code: 1,
      err: 'pointsman: Not possible now.\n',
    });
    cluster.answer = () => ({ kind: 'no_answer', text: 'pg-1 did not answer.', may_have_happened: true });
    const lost = await clusterCli(['switchover', '--yes', '--seed', 'http://10.0.0.1:8008'], cluster);
    expect(lost).toMatchObject({
      code: 1,
      err: 'pointsman: pg-1 did not answer.\nLook with: pointsman cluster list --seed http://10.0.0.1:8008\n',
    });
  });
});

describe('failover', () => {
  const LOST = aReport([aMember('pg-1', { state: 'stopped', lag_bytes: null }), aMember('pg-2'), aMember('pg-3')]);

  test('asks for the name of the member', async () => {
    const cluster = withReport(LOST);
    const { code, out, asked, err } = await clusterCli(['failover', '--to', 'pg-2'], cluster, { answers: ['pg-2'] });
    expect(out).toContain('  leader   none\n  to       pg-2, lag 0 B\n');
    expect(out).toContain('Writes that pg-2 has not received are lost.\n');
    expect(asked).toEqual(['Fail over to pg-2? Type pg-2 to confirm: ']);
    expect([code, err, cluster.performed]).toEqual([0, '', [{ kind: 'failover', candidate: 'pg-2' }]]);
  });

  test.each(['y', 'yes', 'pg-3', ''])('%j does not confirm', async (answer) => {
    const cluster = withReport(LOST);
    const { code } = await clusterCli(['failover', '--to', 'pg-2'], cluster, { answers: [answer] });
    expect([code, cluster.performed]).toEqual([1, []]);
  });

  test('a running leader: a warning, also with --yes', async () => {
    const { code, err } = await clusterCli(['failover', '--to', 'pg-2', '--yes'], fakeCluster());
    expect([code, err]).toEqual([
      0,
      'warning: pg-1 is a running leader: a switchover loses no write, a failover may\n',
    ]);
  });

  test('--to is required', async () => {
    const { code, err } = await clusterCli(['failover', '--yes'], fakeCluster());
    expect([code, err]).toEqual([2, expect.stringContaining("required option '--to <member>' not specified")]);
  });

  test('the leader, and a member with nofailover, are refused', async () => {
    const report = aReport([aLeader('pg-1'), aMember('pg-2', { tags: { nofailover: 'true' } })]);
    const leader = await clusterCli(['failover', '--to', 'pg-1', '--yes'], withReport(report));
    expect([leader.code, leader.err]).toEqual([1, 'pointsman: pg-1 is the leader already\n']);
    const tagged = await clusterCli(['failover', '--to', 'pg-2', '--yes'], withReport(report));
    expect([tagged.code, tagged.err]).toEqual([1, 'pointsman: pg-2 has the tag nofailover\n']);
  });
});
