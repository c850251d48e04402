// `pointsman cluster restart`: which members, in which order, and what happens between two of them.
import { describe, expect, test } from 'vitest';
import type { ClusterOperation } from '../../../../src/cluster/control.ts';
import { clusterCli } from '../../../support/fakes/cluster-cli.ts';
import { aLeader, aMember, aReport, fakeCluster } from '../../../support/fakes/fake-cluster.ts';

const members = (performed: readonly ClusterOperation[]) =>
  performed.map((operation) => ('member' in operation ? operation.member : ''));

describe('which members', () => {
  test('one, with a plan and a question', async () => {
    const cluster = fakeCluster();
    const { code, out, err, asked } = await clusterCli(['restart', 'pg-2'], cluster, { answers: ['y'] });
    expect(out.split('\n')).toEqual([
      'Restart PostgreSQL',
      '  cluster  lab, by http://10.0.0.1:8008',
      '  when     now',
      '',
      '   MEMBER  ROLE     STATE      LAG  PENDING',
      '1  pg-2    replica  streaming  0 B',
      '',
      'Done: restart.',
      '',
    ]);
    expect([code, err, asked]).toEqual([0, '', ['Restart pg-2? [y/N] ']]);
    expect(cluster.performed).toEqual([{ kind: 'restart', member: 'pg-2' }]);
  });

  test.each([
    ['any', ['pg-2', 'pg-3', 'pg-1']],
    ['replica', ['pg-2', 'pg-3']],
    ['primary', ['pg-1']],
  ])('--role %s: one after the other, the leader last', async (role, expected) => {
    const cluster = fakeCluster();
    const { code } = await clusterCli(['restart', '--role', role, '--yes'], cluster);
    expect([code, members(cluster.performed)]).toEqual([0, expected]);
  });

  test('--pending: only those that need it', async () => {
    const cluster = fakeCluster();
    cluster.report_ = aReport([aLeader('pg-1'), aMember('pg-2'), aMember('pg-3', { pending_restart: true })]);
    await clusterCli(['restart', '--pending', '--yes'], cluster);
    expect(cluster.performed).toEqual([{ kind: 'restart', member: 'pg-3', restart_pending: true }]);
  });

  test('--pending: an API that does not report pending restarts decides by itself', async () => {
    const cluster = fakeCluster();
    cluster.report_ = { ...cluster.report_, reports_restarts: false };
    cluster.answer = (operation) =>
      'member' in operation && operation.member === 'pg-1'
        ? undefined
        : { kind: 'precondition', status: 412, text: 'No.', reason: 'no flag' };
    const { code, out, err } = await clusterCli(['restart', '--role', 'any', '--pending', '--yes'], cluster);
    expect(out).toBe(
      'pg-2 does not meet the conditions, so it did not restart: no flag\n' +
        'pg-3 does not meet the conditions, so it did not restart: no flag\nDone: restart.\n',
    );
    expect([code, err]).toEqual([0, expect.stringContaining('must restart first (--primary-first)')]);
    expect(cluster.performed[0]).toEqual({ kind: 'restart', member: 'pg-2', restart_pending: true });
  });

  test('no member needs it: nothing is sent', async () => {
    const cluster = fakeCluster();
    const { code, out } = await clusterCli(['restart', '--role', 'any', '--pending', '--yes'], cluster);
    expect([code, out, cluster.performed]).toEqual([0, 'no member has a pending restart\n', []]);
  });

  test('the leader: a warning', async () => {
    const { err } = await clusterCli(['restart', 'pg-1', '--yes'], fakeCluster());
    expect(err).toBe('warning: pg-1 is the leader: no writes until it runs again\n');
  });

  test('the conditions are sent', async () => {
    const cluster = fakeCluster();
    const argv = ['restart', '--role', 'replica', '--pg-version', '18.4', '--timeout', '2min', '--yes'];
    await clusterCli(argv, cluster);
    const conditions = { kind: 'restart', role: 'replica', postgres_version: '18.4', timeout: 120 };
    expect(cluster.performed).toEqual([
      { ...conditions, member: 'pg-2' },
      { ...conditions, member: 'pg-3' },
    ]);
  });

  test.each([
    [[], 'name a member, or choose several with --role primary|replica|any or --pending'],
    [['pg-2', '--role', 'any'], 'name either the member pg-2 or --role any'],
    [['pg-2', '--pg-version', 'new'], '--pg-version new is not a version of PostgreSQL: write 18.4'],
    [['pg-2', '--pg-version', '18'], '--pg-version 18 is not a version of PostgreSQL: write 18.4'],
    [['pg-2', '--pg-version', '9.6'], '--pg-version 9.6 is not a version of PostgreSQL: write 18.4'],
    [['pg-2', '--timeout', '0'], '--timeout 0 is not a duration: write 60, 90s or 2min'],
    [['pg-2', '--timeout', 'long'], '--timeout long is not a duration'],
    [['pg-2', '--at', 'later'], '--at later is not a time'],
    [['--pending', '--primary-first', '--standbys-first'], '--primary-first and --standbys-first exclude each other'],
    [['--role', 'leader'], 'Allowed choices are primary, replica, any'],
  ])('%j is wrong usage: exit code 2', async (argv, why) => {
    const cluster = fakeCluster();
    const { code, err } = await clusterCli(['restart', ...argv, '--yes'], cluster);
    expect([code, err, cluster.performed]).toEqual([2, expect.stringContaining(why), []]);
  });
});

describe('the order that parameters need', () => {
  const raised = { max_connections: { old_value: '100', new_value: '200' } };
  const lowered = { max_connections: { old_value: '200', new_value: '100' } };
  const pending = (reason: typeof raised, ...names: readonly string[]) =>
    aReport(
      ['pg-1', 'pg-2', 'pg-3'].map((name) =>
        (name === 'pg-1' ? aLeader : aMember)(
          name,
          names.includes(name) ? { pending_restart: true, pending_restart_reason: reason } : {},
        ),
      ),
    );

  /** A restart clears the flag of the member. */
  function restarts(report: ReturnType<typeof pending>) {
    const cluster = Object.assign(fakeCluster(), { report_: report });
    cluster.answer = (operation) => {
      const now = cluster.report_.members.map((member) =>
        'member' in operation && operation.member === member.name
          ? (member.role === 'leader' ? aLeader : aMember)(member.name)
          : member,
      );
      cluster.report_ = aReport(now);
      return undefined;
    };
    return cluster;
  }

  test.each([
    ['raised', raised, ['pg-2', 'pg-3', 'pg-1'], 'The standbys first: max_connections is raised'],
    ['lowered', lowered, ['pg-1', 'pg-2', 'pg-3'], 'The primary first: max_connections is lowered'],
  ])('max_connections %s: the plan says why, and the members follow it', async (_, reason, order, why) => {
    const cluster = restarts(pending(reason, 'pg-1', 'pg-2', 'pg-3'));
    const { code, out } = await clusterCli(['restart', '--pending'], cluster, { answers: ['y'] });
    expect(out).toContain(why);
    expect([code, members(cluster.performed)]).toEqual([0, order]);
  });

  test.each([
    ['the primary before the standbys', raised, ['pg-1'], 'restart the standbys first (pg-2, pg-3)'],
    ['a standby before the primary', lowered, ['pg-2'], 'restart the primary first (pg-1)'],
    ['the role primary', raised, ['--role', 'primary'], 'restart the standbys first'],
    ['all at one time', raised, ['--role', 'any', '--at', 'now+1h'], 'restart the standbys first'],
  ])('refuses %s: exit code 1, and nothing is sent', async (_, reason, argv, why) => {
    const cluster = restarts(pending(reason, 'pg-1', 'pg-2', 'pg-3'));
    const { code, err } = await clusterCli(['restart', ...argv, '--yes'], cluster);
    expect([code, err, cluster.performed]).toEqual([1, expect.stringContaining(why), []]);
    expect(err).toContain('--any-order restarts all the same.');
  });

  test('the primary after the standbys', async () => {
    const cluster = restarts(pending(raised, 'pg-1'));
    expect((await clusterCli(['restart', 'pg-1', '--yes'], cluster)).code).toBe(0);
  });

  describe('a Patroni that reports no values', () => {
    const flagged = { pending_restart: true };
    const all = () => aReport([aLeader('pg-1', flagged), aMember('pg-2', flagged), aMember('pg-3', flagged)]);

    test.each([
      [['--pending']],
      [['--role', 'any']],
      [['--role', 'replica']],
      [['--role', 'primary']],
      [['pg-1']],
      [['pg-2']],
      [['--pending', '--dry-run']],
    ])('%j: the order is not chosen, and nothing is sent', async (argv) => {
      const cluster = restarts(all());
      const { code, err } = await clusterCli(['restart', ...argv, '--yes'], cluster);
      expect(err).toContain('do not report which parameters changed');
      expect(err).toContain('Say which: --primary-first or --standbys-first.\n');
      expect([code, cluster.performed]).toEqual([1, []]);
    });

    test.each([
      ['--primary-first', 'primary_first', ['pg-1', 'pg-2', 'pg-3']],
      ['--standbys-first', 'standbys_first', ['pg-2', 'pg-3', 'pg-1']],
    ])('%s: it is done so', async (option, order, expected) => {
      const cluster = restarts(all());
      const { code, err } = await clusterCli(['restart', '--pending', option, '--yes'], cluster);
      expect([code, err]).toEqual([0, 'warning: pg-1 is the leader: no writes until it runs again\n']);
      expect(members(cluster.performed)).toEqual(expected);
      expect(cluster.performed[0]).toMatchObject({ order });
    });

    test('right after the change: it waits until every member has marked itself', async () => {
      const cluster = restarts(aReport([aLeader('pg-1'), aMember('pg-2', flagged), aMember('pg-3')]));
      let waited = 0;
      const onSleep = () => {
        waited += 1;
        if (waited === 3) cluster.report_ = all();
      };
      const argv = ['restart', '--pending', '--primary-first', '--yes'];
      const { code, err } = await clusterCli(argv, cluster, { onSleep });
      expect([code, waited, members(cluster.performed)]).toEqual([0, 3, ['pg-1', 'pg-2', 'pg-3']]);
      expect(err.match(/^waiting: .*/gm)).toEqual([
        'waiting: pg-1, pg-3 must report first that a restart is pending, which takes a heartbeat',
      ]);
    });

    test('the standbys alone, in the wrong order', async () => {
      const cluster = restarts(all());
      const argv = ['restart', '--role', 'replica', '--primary-first', '--yes'];
      const { code, err } = await clusterCli(argv, cluster);
      expect([code, err]).toEqual([1, expect.stringContaining('The primary comes first: restart pg-1 before pg-2')]);
      expect(cluster.performed).toEqual([]);
    });

    test('after the primary, the standbys wait until they have caught up', async () => {
      const cluster = restarts(all());
      const restarted = cluster.answer;
      let position = 10;
      const placed = () => {
        const at = new Map([
          ['pg-1', 20],
          ['pg-2', position],
        ]);
        const all = cluster.report_.members.map((one) => ({ ...one, wal_position: at.get(one.name) ?? null }));
        cluster.report_ = aReport(all);
      };
      cluster.answer = (operation) => {
        const result = restarted(operation);
        placed();
        return result;
      };
      const waits: string[] = [];
      const onSleep = () => {
        waits.push(members(cluster.performed).join());
        position += 5;
        placed();
      };
      const { code } = await clusterCli(['restart', '--pending', '--primary-first', '--yes'], cluster, { onSleep });
      expect([code, waits]).toEqual([0, ['pg-1', 'pg-1']]);
    });
  });

  test('--any-order: it is done', async () => {
    const cluster = restarts(pending(raised, 'pg-1', 'pg-2', 'pg-3'));
    const { code } = await clusterCli(['restart', 'pg-1', '--any-order', '--yes'], cluster);
    expect([code, cluster.performed]).toEqual([0, [{ kind: 'restart', member: 'pg-1', any_order: true }]]);
  });

  test('a single member at a time: a warning, because others may restart before', async () => {
    const cluster = restarts(pending(raised, 'pg-1', 'pg-2', 'pg-3'));
    const { code, err } = await clusterCli(['restart', 'pg-1', '--at', 'now+1h', '--yes'], cluster);
    expect([code, err]).toEqual([0, expect.stringContaining('warning: pg-1 is the primary and max_connections')]);
  });

  test('--dry-run shows every request in its order', async () => {
    const cluster = restarts(pending(raised, 'pg-1', 'pg-2', 'pg-3'));
    const { out } = await clusterCli(['restart', '--pending', '--dry-run', '--json'], cluster);
    const document: { requests: { body: { member: string } }[] } = JSON.parse(out);
    expect(document.requests.map(({ body }) => body.member)).toEqual(['pg-2', 'pg-3', 'pg-1']);
    expect(cluster.performed).toEqual([]);
  });

  test('a flag that stays does not stop the next member, and is a failure in the end', async () => {
    const cluster = Object.assign(fakeCluster(), { report_: pending(raised, 'pg-2', 'pg-3') });
    let waited = 0;
    const onSleep = () => (waited += 1);
    const { code, err } = await clusterCli(['restart', '--pending', '--yes'], cluster, { onSleep });
    expect(err).toBe(
      'waiting: pg-2 runs, and still reports that a restart is pending\n' +
        'waiting: pg-3 runs, and still reports that a restart is pending\n' +
        'pointsman: restarted, and still need a restart, so a parameter is not in effect: ' +
        'pg-2: max_connections 100 -> 200; pg-3: max_connections 100 -> 200\n',
    );
    expect([code, waited, members(cluster.performed)]).toEqual([1, 30, ['pg-2', 'pg-3']]);
  });
});

describe('between two members', () => {
  test('waits until the first one streams again', async () => {
    const cluster = fakeCluster();
    const [leader, second, third] = [aLeader('pg-1'), aMember('pg-2'), aMember('pg-3')];
    let waited = 0;
    cluster.answer = () => {
      if (cluster.performed.length > 1) return undefined;
      cluster.report_ = aReport([leader, { ...second, state: 'starting' }, third]);
      return undefined;
    };
    const { code } = await clusterCli(['restart', '--role', 'replica', '--yes'], cluster, {
      onSleep: () => {
        waited += 1;
        expect(members(cluster.performed)).toEqual(['pg-2']);
        cluster.report_ = aReport([leader, { ...second, state: waited < 3 ? 'running' : 'streaming' }, third]);
      },
    });
    expect([code, waited, members(cluster.performed)]).toEqual([0, 3, ['pg-2', 'pg-3']]);
  });

  test('a member that does not come back: the others are left alone, and named', async () => {
    const cluster = fakeCluster();
    cluster.answer = () => {
      cluster.report_ = aReport([aLeader('pg-1'), aMember('pg-2', { state: 'starting' }), aMember('pg-3')]);
      return undefined;
    };
    const { code, err } = await clusterCli(['restart', '--role', 'any', '--yes'], cluster);
    expect(err).toContain(
      'pointsman: pg-2 restarted, but did not come back within 2 min: its state is starting\n' +
        'not done: restart of pg-3, restart of pg-1\n',
    );
    expect([code, members(cluster.performed)]).toEqual([1, ['pg-2']]);
  });

  test('a failed restart: the others are left alone, and named', async () => {
    const cluster = fakeCluster();
    cluster.answer = () => ({ kind: 'failed', status: 503, text: 'Failed: the restart of pg-2.', reason: '' });
    const { code, err } = await clusterCli(['restart', '--role', 'replica', '--yes'], cluster);
    expect(err).toBe('pointsman: Failed: the restart of pg-2.\nnot done: restart of pg-3\n');
    expect([code, members(cluster.performed)]).toEqual([1, ['pg-2']]);
  });

  test('a member that does not meet the conditions is passed over', async () => {
    const cluster = fakeCluster();
    const reason = 'restart conditions are not satisfied';
    cluster.answer = (operation) =>
      'member' in operation && operation.member === 'pg-2'
        ? { kind: 'failed', status: 503, text: `Failed. pg-2 answered: ${reason}`, reason }
        : undefined;
    const argv = ['restart', '--role', 'replica', '--pg-version', '18.4', '--yes'];
    const { code, out, err } = await clusterCli(argv, cluster);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe('pg-2 does not meet the conditions, so it did not restart\nDone: restart.\n');
  });
});

describe('--at', () => {
  test('every member gets the time, and nothing waits', async () => {
    const cluster = fakeCluster();
    cluster.answer = () => ({ kind: 'scheduled', text: 'Scheduled.', reason: '' });
    const argv = ['restart', '--role', 'replica', '--at', 'now+1h', '--yes'];
    const { code, err } = await clusterCli(argv, cluster, { onSleep: () => expect.unreachable() });
    const schedule = '2026-01-31T13:00:00+00:00';
    expect(cluster.performed).toEqual([
      { kind: 'restart', member: 'pg-2', role: 'replica', schedule },
      { kind: 'restart', member: 'pg-3', role: 'replica', schedule },
    ]);
    expect([code, err]).toEqual([0, 'warning: all of them restart at the same time\n']);
  });

  test('a member with a scheduled restart: a warning', async () => {
    const cluster = fakeCluster();
    cluster.report_ = aReport([aLeader('pg-1'), aMember('pg-2', { scheduled_restart: '2026-01-31T13:00:00+00:00' })]);
    const { err } = await clusterCli(['restart', 'pg-2', '--at', 'now+1h', '--yes'], cluster);
    expect(err).toBe('warning: a restart of pg-2 is scheduled already: cancel it first\n');
  });
});
