// `pointsman cluster config show | set | replace`: what is sent, what is shown, and what is lost: nothing.
import { describe, expect, test } from 'vitest';
import { clusterCli } from '../../../support/fakes/cluster-cli.ts';
import { aLeader, aMember, aReport, fakeCluster } from '../../../support/fakes/fake-cluster.ts';

describe('config show', () => {
  test('YAML', async () => {
    const { code, out } = await clusterCli(['config', 'show'], fakeCluster());
    expect(out).toBe(
      'ttl: 30\nloop_wait: 10\npostgresql:\n  parameters:\n    max_connections: "100"\n    work_mem: 4MB\n',
    );
    expect(code).toBe(0);
  });

  test('--json', async () => {
    const cluster = fakeCluster();
    const { out } = await clusterCli(['config', 'show', '--json'], cluster);
    expect(JSON.parse(out)).toEqual({ api_version: 1, config: cluster.config_ });
  });
});

describe('config set', () => {
  test('shows the difference, asks, and sends what changes', async () => {
    const cluster = fakeCluster();
    const argv = ['config', 'set', 'ttl=40', 'postgresql.parameters.work_mem=8MB', 'loop_wait='];
    const { code, out, asked } = await clusterCli(argv, cluster, { answers: ['y'] });
    expect(out).toContain(
      [
        'Change the configuration of lab',
        '',
        '  -ttl: 30',
        '  -loop_wait: 10',
        '  +ttl: 40',
        '   postgresql:',
        '     parameters:',
        '       max_connections: "100"',
        '  -    work_mem: 4MB',
        '  +    work_mem: 8MB',
        '',
      ].join('\n'),
    );
    expect(asked).toEqual(['Apply this change? [y/N] ']);
    expect(cluster.performed).toEqual([
      {
        kind: 'patch_config',
        changes: { ttl: 40, postgresql: { parameters: { work_mem: '8MB' } }, loop_wait: null },
      },
    ]);
    expect(code).toBe(0);
  });

  test('a parameter of PostgreSQL is sent as a text', async () => {
    const cluster = fakeCluster();
    await clusterCli(['config', 'set', 'postgresql.parameters.max_wal_size=1024', '--yes'], cluster);
    expect(cluster.performed).toEqual([
      { kind: 'patch_config', changes: { postgresql: { parameters: { max_wal_size: '1024' } } } },
    ]);
  });

  test('no change: nothing is sent', async () => {
    const cluster = fakeCluster();
    const { code, out } = await clusterCli(['config', 'set', 'ttl=30', '--yes'], cluster);
    expect([code, out, cluster.performed]).toEqual([0, 'no change: the configuration already has these values\n', []]);
  });

  test('a wrong argument: every problem, exit code 2, and the cluster is not contacted', async () => {
    const cluster = fakeCluster();
    const { code, err, seeds } = await clusterCli(['config', 'set', 'ttl', 'a..b=1'], cluster);
    expect(err).toBe(
      'pointsman: ttl has no "=": write ttl=VALUE, or ttl= to remove it\n' +
        'pointsman: a..b=1: the key has an empty part\n',
    );
    expect([code, seeds]).toEqual([2, []]);
  });

  test('a key that Patroni does not know: a warning', async () => {
    const { err } = await clusterCli(['config', 'set', 'loop_wate=5', '--yes'], fakeCluster());
    expect(err).toBe('warning: Patroni knows no key loop_wate and would ignore it: did you mean loop_wait?\n');
  });

  test('another party changed the configuration meanwhile: nothing is sent, and their change is shown', async () => {
    const cluster = fakeCluster();
    const read = cluster.config;
    let reads = 0;
    Object.assign(cluster, {
      config: () => {
        reads += 1;
        if (reads === 2) cluster.config_ = { ...cluster.config_, ttl: 50 };
        return read();
      },
    });
    const { code, err } = await clusterCli(['config', 'set', 'loop_wait=5', '--yes'], cluster);
    expect(err).toContain('the configuration was changed by another party meanwhile, so nothing was sent.');
    expect(err).toContain('  -ttl: 30\n  +ttl: 50\n');
    expect([code, cluster.performed]).toEqual([1, []]);
  });

  test('a parameter that needs a restart: which members, in which order', async () => {
    const argv = ['config', 'set', 'postgresql.parameters.max_connections=200', 'postgresql.parameters.my.own=1'];
    const text = [
      'max_connections: in effect after a restart of every member, in this order:',
      '  1. pg-2, pg-3',
      '     The standbys first: max_connections is raised, and a standby must not be',
      '     below the primary.',
      '  2. pg-1',
      '     Then the primary.',
      'Restart them in this order with: pointsman cluster restart --pending --standbys-first',
      'my.own: may need a restart; `pointsman cluster list` shows where one is pending',
      '',
    ].join('\n');
    const asked = await clusterCli(argv, fakeCluster(), { answers: ['n'] });
    expect(asked.out).toContain(text);
    const scripted = await clusterCli([...argv, '--yes'], fakeCluster());
    expect(scripted.out).toBe(`Done: patch_config.\n${text}`);
  });

  test('a lowered parameter: the command has the direction', async () => {
    const argv = ['config', 'set', 'postgresql.parameters.max_connections=90', '--yes'];
    const { out } = await clusterCli(argv, fakeCluster());
    expect(out).toContain('1. pg-1\n     The primary first: max_connections is lowered');
    expect(out).toContain('with: pointsman cluster restart --pending --primary-first\n');
  });

  test('a restart was pending before, and no member reports why: both commands', async () => {
    const cluster = fakeCluster();
    cluster.report_ = aReport([aLeader('pg-1'), aMember('pg-2', { pending_restart: true })]);
    const argv = ['config', 'set', 'postgresql.parameters.max_connections=90', '--yes'];
    const { out } = await clusterCli(argv, cluster);
    expect(out).toContain('is lowered: pointsman cluster restart --pending --primary-first\n  else: ');
  });

  test('--dry-run: the request, and nothing is sent', async () => {
    const cluster = fakeCluster();
    const { code, out } = await clusterCli(['config', 'set', 'ttl=40', '--dry-run'], cluster);
    expect(out).toContain('{"changes":{"ttl":40}}');
    expect([code, cluster.performed]).toEqual([0, []]);
  });
});

describe('config replace', () => {
  const whole = 'ttl: 40\npostgresql: { parameters: { max_connections: 100, work_mem: 4MB } }\n';

  test('sends the whole file, and names what it removes', async () => {
    const cluster = fakeCluster();
    const { code, err, asked } = await clusterCli(['config', 'replace', 'd.yaml'], cluster, {
      files: { 'd.yaml': whole },
      answers: ['y'],
    });
    expect(err).toBe('warning: the file does not have loop_wait: that is removed\n');
    expect(asked).toEqual(['Replace the whole configuration? [y/N] ']);
    expect(cluster.performed).toEqual([
      {
        kind: 'replace_config',
        config: { ttl: 40, postgresql: { parameters: { max_connections: '100', work_mem: '4MB' } } },
      },
    ]);
    expect(code).toBe(0);
  });

  test('JSON is YAML', async () => {
    const cluster = fakeCluster();
    const files = { 'd.json': '{"ttl": 40}' };
    await clusterCli(['config', 'replace', 'd.json', '--yes'], cluster, { files });
    expect(cluster.performed).toEqual([{ kind: 'replace_config', config: { ttl: 40 } }]);
  });

  test.each([
    ['', 'd.yaml:it is empty'],
    ['# nothing\n', 'd.yaml:it is empty'],
    ['- ttl\n', 'd.yaml:it is no map'],
    ['ttl: 40\n\tx: 1\n', 'd.yaml:2:1: Tabs are not allowed'],
    ['ttl: 40\nttl: 30\n', 'd.yaml:2:1: Map keys must be unique'],
    ['a: { b: 12345678901234567890 }\n', 'd.yaml:a.b: put the number in quotes, as a text'],
  ])('%j is refused: exit code 2', async (text, problem) => {
    const cluster = fakeCluster();
    const { code, err } = await clusterCli(['config', 'replace', 'd.yaml', '--yes'], cluster, {
      files: { 'd.yaml': text },
    });
    expect([code, err, cluster.performed]).toEqual([2, expect.stringContaining(problem), []]);
  });

  test('a file that is not there', async () => {
    const { code, err } = await clusterCli(['config', 'replace', 'gone.yaml', '--yes'], fakeCluster());
    expect([code, err]).toEqual([2, 'pointsman: gone.yaml cannot be read: there is no such file\n']);
  });
});

const sent = async (argv: readonly string[], files: Readonly<Record<string, string>> = {}) => {
  const cluster = fakeCluster();
  const { code, err } = await clusterCli(['config', ...argv, '--yes'], cluster, { files });
  return { code, err, count: cluster.performed.length };
};

describe('values that are known to be wrong', () => {
  test.each([
    ['ttl=5', 'ttl must be at least loop_wait + 2 x retry_timeout (10 + 2 x 10 = 30), not 5'],
    ['retry_timeout=20', 'ttl must be at least loop_wait + 2 x retry_timeout (10 + 2 x 20 = 50), not 30'],
    ['loop_wait=soon', 'loop_wait must be a whole number from 1, not "soon"'],
    ['ttl=0', 'ttl must be a whole number from 1, not 0'],
    ['ttl=30.5', 'ttl must be a whole number from 1, not 30.5'],
    ['maximum_lag_on_failover=1MB', 'maximum_lag_on_failover must be a whole number from 0, not "1MB"'],
    ['postgresql.use_pg_rewind=maybe', 'postgresql.use_pg_rewind must be true or false, not "maybe"'],
    ['postgresql.parameters=on', 'postgresql.parameters must be a map of keys and values, not "on"'],
    ['postgresql=on', 'postgresql must be a map of keys and values, not "on"'],
    ['postgresql.parameters.work_mem=[4MB]', 'postgresql.parameters.work_mem must be a text, a number or a boolean'],
    [
      'postgresql.parameters.max_connections=10',
      'postgresql.parameters.max_connections must be a whole number from 25',
    ],
    ['synchronous_mode=always', 'synchronous_mode must be true, false or quorum, not "always"'],
    ['pause=later', 'pause must be true or false, not "later"'],
    ['ignore_slots=none', 'ignore_slots must be a list, not "none"'],
  ])('%s is refused, and --any-value sends it with a warning', async (assignment, why) => {
    const refused = await sent(['set', assignment]);
    expect(refused.err).toMatch(/\nNothing was sent\. --any-value sends it all the same\.\n$/);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`pointsman: ${why}`), count: 0 });
    const forced = await sent(['set', assignment, '--any-value']);
    expect(forced).toMatchObject({ code: 0, err: expect.stringContaining(`warning: ${why}`), count: 1 });
  });

  test.each([
    [['ttl=31', 'synchronous_mode=quorum']],
    [['failsafe_mode=on', 'pause=true']],
    [['postgresql.parameters.max_connections=25', 'postgresql.parameters.max_wal_senders=7']],
    [['ttl=7', 'loop_wait=1', 'retry_timeout=3']],
    [['maximum_lag_on_syncnode=-1']],
  ])('%j is sent', async (assignments) => {
    expect(await sent(['set', ...assignments])).toEqual({ code: 0, err: '', count: 1 });
  });

  test('in a whole file, too', async () => {
    const file = 'ttl: "30"\nloop_wait: 10\nretry_timeout: 10\n';
    const refused = await sent(['replace', 'd.yaml'], { 'd.yaml': file });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('not "30"'), count: 0 });
  });

  test('a wrong value that was there before does not count', async () => {
    const cluster = fakeCluster();
    cluster.config_ = { ...cluster.config_, ttl: 5, pause: 'later' };
    const argv = ['config', 'set', 'postgresql.parameters.work_mem=8MB', '--yes'];
    expect((await clusterCli(argv, cluster)).code).toBe(0);
  });
});
