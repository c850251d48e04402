// `pointsman cluster list` and `history`: tables, notes, JSON, and the repeated list.
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../../src/cli/io.ts';
import { clusterCli } from '../../../support/fakes/cluster-cli.ts';
import { aLeader, aMember, aReport, fakeCluster } from '../../../support/fakes/fake-cluster.ts';

describe('list', () => {
  test('the members, the leader first', async () => {
    const { code, out, err } = await clusterCli(['list'], fakeCluster());
    expect(out).toBe(
      [
        'cluster lab, leader pg-1, timeline 4',
        'read from http://10.0.0.1:8008',
        '',
        'MEMBER  ROLE     STATE      TL  LAG',
        'pg-1    leader   running     4    -',
        'pg-2    replica  streaming   4  0 B',
        'pg-3    replica  streaming   4  0 B',
        '',
      ].join('\n'),
    );
    expect([code, err]).toEqual([0, '']);
  });

  test('all that a cluster can report, within 80 columns', async () => {
    const cluster = fakeCluster();
    cluster.report_ = aReport(
      [
        aMember('pg-2', { role: 'sync_standby', tags: { clonefrom: 'true', zone: 'eu-1' } }),
        aLeader('pg-1', { pending_restart: true }),
        aMember('pg-3', {
          state: 'start failed',
          timeline: 3,
          lag_bytes: null,
          pending_restart: true,
          pending_restart_reason: { max_connections: { old_value: '100', new_value: '200' } },
          scheduled_restart: '2026-01-31T13:00:00+00:00',
        }),
      ],
      {
        paused: true,
        scheduled_switchover: { at: '2026-01-31T12:10:00+00:00', from: 'pg-1', to: 'pg-2' },
        refused_members: [{ name: 'pg-4', why: 'API port 8009 is not allowed' }],
      },
    );
    const { out } = await clusterCli(['list'], cluster);
    expect(out.split('\n')).toEqual([
      'cluster lab, leader pg-1, timeline 4',
      'read from http://10.0.0.1:8008',
      '',
      'MEMBER  ROLE          STATE         TL      LAG  RESTART             TAGS',
      'pg-1    leader        running        4        -  pending',
      'pg-2    sync standby  streaming      4      0 B                      clonefrom,',
      '                                                                     zone=eu-1',
      'pg-3    replica       start failed   3  unknown  pending, scheduled',
      '',
      'paused: no automatic failover until `pointsman cluster resume`',
      expect.stringMatching(/^switchover from pg-1 to pg-2 scheduled at 2026-01-31 .*in 10 min$/),
      expect.stringMatching(/^restart of pg-3 scheduled at 2026-01-31 .*in 60 min$/),
      'pg-3 needs a restart for max_connections 100 -> 200',
      'pg-4 is not used: API port 8009 is not allowed',
      '',
    ]);
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('colour on a terminal changes no word', async () => {
    const plain = await clusterCli(['list'], fakeCluster());
    const painted = await clusterCli(['list'], fakeCluster(), { columns: 80 });
    expect(painted.out).not.toBe(plain.out);
    expect(stripVTControlCharacters(painted.out)).toBe(plain.out);
  });

  test('--json: the report, versioned', async () => {
    const cluster = fakeCluster();
    const { out } = await clusterCli(['list', '--json'], cluster);
    expect(JSON.parse(out)).toEqual({ api_version: 1, ...cluster.report_ });
  });

  test('a cluster that does not answer: the reason, exit code 1', async () => {
    const cluster = fakeCluster();
    cluster.unreadable = 'http://10.0.0.1:8008: connection refused';
    expect(await clusterCli(['list'], cluster)).toMatchObject({
      code: 1,
      out: '',
      err: 'pointsman: http://10.0.0.1:8008: connection refused\n',
    });
  });

  test('a cluster without a leader and without a name', async () => {
    const cluster = fakeCluster();
    cluster.report_ = aReport([aMember('pg-2')], { scope: null });
    expect((await clusterCli(['list'], cluster)).out).toMatch(/^cluster \(no name\), leader none\n/);
  });

  test('the indicators of members', async () => {
    const cluster = fakeCluster();
    cluster.report_ = aReport([
      aLeader('pg-1', { indicators: ['cluster_unlocked', 'failsafe_mode_is_active'] }),
      aMember('pg-2', { indicators: ['cluster_unlocked'] }),
    ]);
    const { out } = await clusterCli(['list'], cluster);
    expect(out).toContain('\ncluster_unlocked (pg-1, pg-2): nobody holds the leader lock\n');
    expect(out).toContain('\nfailsafe_mode_is_active (pg-1): the failsafe mode is active');
  });
});

describe('list --watch', () => {
  test('again and again until Ctrl-C, also while the cluster does not answer', async () => {
    const cluster = fakeCluster();
    const slept: number[] = [];
    let interrupt: ((code: number) => void) | undefined;
    const { code, out } = await clusterCli(['list', '--watch', '5'], cluster, {
      onSleep: (ms) => {
        slept.push(ms);
        cluster.unreadable = slept.length === 1 ? 'no answer' : undefined;
        if (slept.length === 3) interrupt?.(EXIT.interrupted);
      },
      onInterrupt: (listener) => {
        interrupt = listener;
        return () => {};
      },
    });
    expect([code, slept]).toEqual([130, [5000, 5000, 5000]]);
    expect(out.match(/^every 5 s/gm)).toHaveLength(3);
    expect(out.match(/^cluster lab/gm)).toHaveLength(2);
    expect(out.match(/^no answer$/gm)).toHaveLength(1);
  });

  test('--json: a line for each report', async () => {
    let interrupt: ((code: number) => void) | undefined;
    const { out } = await clusterCli(['list', '--watch', '--json'], fakeCluster(), {
      onSleep: () => interrupt?.(EXIT.interrupted),
      onInterrupt: (listener) => {
        interrupt = listener;
        return () => {};
      },
    });
    expect(JSON.parse(out.trim())).toMatchObject({ api_version: 1, leader: 'pg-1' });
  });

  test.each(['0', '-1', 'soon', '99999', ''])('%j is no interval', async (seconds) => {
    const { code, err } = await clusterCli(['list', `--watch=${seconds}`], fakeCluster());
    expect([code, err]).toEqual([2, expect.stringContaining('is not a number of seconds from 0.5 to 3600')]);
  });
});

describe('history', () => {
  const ENTRIES = [
    { timeline: 1, lsn: 25_000_000, reason: 'no recovery target specified', at: null, new_leader: null },
    {
      timeline: 2,
      lsn: 2 ** 32 + 16,
      reason: 'no recovery target specified',
      at: '2026-01-31T11:00:00+00:00',
      new_leader: 'pg-2',
    },
  ];

  test('a row for each change of timeline, within 80 columns', async () => {
    const cluster = fakeCluster();
    cluster.history_ = ENTRIES;
    const { code, out } = await clusterCli(['history'], cluster);
    expect(code).toBe(0);
    expect(out).toMatch(/^TL {2}ENDED AT {3}NEXT BEGAN +NEW LEADER {2}REASON\n 1 {2}0\/17D7840 {2}- +- +no recovery/);
    expect(out).toMatch(/\n 2 {2}1\/10 +2026-01-31 \d\d:00:00 [+-]\d\d:\d\d {2}pg-2 +no recovery/);
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('none yet', async () => {
    expect((await clusterCli(['history'], fakeCluster())).out).toBe('no change of timeline yet\n');
  });

  test('--json', async () => {
    const cluster = fakeCluster();
    cluster.history_ = ENTRIES;
    const { out } = await clusterCli(['history', '--json'], cluster);
    expect(JSON.parse(out)).toEqual({ api_version: 1, history: ENTRIES });
  });
});

describe('where the cluster is found', () => {
  test('--seed, repeated, instead of the configuration', async () => {
    const argv = ['list', '--seed', 'http://10.0.0.7:8008', '--seed', 'http://10.0.0.8:8008'];
    const env = { POINTSMAN_CONFIG: 'gone.yaml' };
    const { code, seeds } = await clusterCli(argv, fakeCluster(), { env });
    expect([code, seeds]).toEqual([0, ['http://10.0.0.7:8008', 'http://10.0.0.8:8008']]);
  });

  test('-c: the file', async () => {
    const files = { 'p.yaml': 'cluster: { seeds: [http://10.0.0.9:8008] }' };
    const env = { POINTSMAN_CLUSTER_SEEDS: '' };
    const { code, seeds } = await clusterCli(['list', '-c', 'p.yaml'], fakeCluster(), { files, env });
    expect([code, seeds]).toEqual([0, ['http://10.0.0.9:8008']]);
  });

  test('a seed that is no URL: exit code 2', async () => {
    const { code, err } = await clusterCli(['list', '--seed', 'pg1'], fakeCluster());
    expect([code, err]).toEqual([2, expect.stringContaining('pg1')]);
  });

  test('nothing names a cluster: the Pointsman of this machine, and the other ways if it does not answer', async () => {
    const env = { POINTSMAN_CLUSTER_SEEDS: '', POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1' };
    for (const argv of [['list'], ['history'], ['config', 'show']]) {
      const { code, err, seeds } = await clusterCli(argv, fakeCluster(), { env });
      expect(err).toMatch(/no answer from 127\.0\.0\.1:1 .* Or name the cluster: -c FILE, or --seed http:/);
      expect([code, seeds]).toEqual([1, []]);
    }
  });

  test('--admin and --seed exclude each other', async () => {
    const argv = ['list', '--admin', '127.0.0.1:1', '--seed', 'http://10.0.0.7:8008'];
    const { code, err } = await clusterCli(argv, fakeCluster());
    expect([code, err]).toEqual([2, expect.stringContaining('--admin and --seed exclude each other')]);
  });
});
