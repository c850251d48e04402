// The whole way from text and environment to a Config or to problems.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { SEEDS, configOf, load, problemsOf } from '../../support/values/loading.ts';

describe('defaults', () => {
  test.each([
    ['max_sessions: 100', 1_000],
    ['max_sessions: 20001', 5_001],
    ['max_handshakes: 7', 7],
    ['max_handshakes: off', undefined],
  ])('client: { %s }: the limit of handshakes is %s', (written, expected) => {
    const config = configOf(load(`cluster: { seeds: [http://pg1:8008] }\nclient: { ${written} }`));
    expect(config.client.maxHandshakes).toBe(expected);
  });

  test.each([
    ['{}', 1_000],
    ['{ client_timeout: 1s }', 0],
    ['{ client_timeout: 0 }', 0],
    ['{ before_switchover: 0 }', 0],
    ['{ before_switchover: 3s }', 3_000],
  ])('hold: %s: clients wait from %s ms before a scheduled switchover', (written, expected) => {
    const config = configOf(load(`cluster: { seeds: [http://pg1:8008] }\nhold: ${written}`));
    expect(config.hold.beforeSwitchoverMs).toBe(expected);
  });

  test('seeds alone are a configuration', () => {
    const config = configOf(loadConfig({ file: undefined, env: SEEDS }));
    expect(config.cluster).toEqual({
      scope: undefined,
      discovery: 'dynamic',
      kubernetes: undefined,
      seeds: [{ url: 'http://pg1:8008', address: { host: 'pg1', port: 8008 } }],
      members: [],
      allow: { networks: [], hosts: [], ports: [] },
      api: { tls: undefined },
    });
    expect(config.probe).toEqual({
      intervalMs: 1000,
      timeoutMs: 800,
      urgent: { intervalMs: 100, forMs: 30_000 },
      rise: 1,
      fall: 2,
      writeMaxAgeMs: 5000,
      readMaxAgeMs: 10_000,
      silenceGraceMs: 15_000,
      silentProbes: 3,
      vouching: true,
    });
    expect(config.listeners).toEqual([
      { address: { host: '127.0.0.1', port: 6432 }, pool: 'write', reusePort: false },
      { address: { host: '127.0.0.1', port: 6433 }, pool: 'read', reusePort: false },
    ]);
    expect(config.client).toEqual({
      startupTimeoutMs: 10_000,
      maxSessions: 5000,
      maxHandshakes: 1250,
      maxDisconnectsPerSecond: 50,
      tcpKeepalivesIdleMs: 30_000,
      tcpUserTimeoutMs: 60_000,
      tls: { mode: 'passthrough' },
    });
    expect(config.relay).toBe('auto');
    expect(config.backend).toEqual({
      connectTimeoutMs: 3000,
      attemptDelayMs: 250,
      connectAttempts: 3,
      tcpKeepalivesIdleMs: 30_000,
      tcpUserTimeoutMs: 60_000,
    });
    expect(config.hold).toEqual({
      clientTimeoutMs: 30_000,
      maxSessions: 1000,
      outageTimeoutMs: 60_000,
      beforeSwitchoverMs: 1000,
      maxConnectsPerSecond: 200,
    });
    expect(config.shutdown).toEqual({ graceMs: 5000, waitMs: 0, drainTimeoutMs: 30_000 });
    expect(config.admin).toEqual({ address: { host: '127.0.0.1', port: 8432 }, allowedHosts: [] });
    expect(config.log).toEqual({ level: 'info', format: 'auto', access: 'off' });
  });

  test('the pools write and read exist without configuration', () => {
    const [write, read, ...others] = configOf(load('')).pools;
    expect(others).toEqual([]);
    expect(write).toMatchObject({
      name: 'write',
      check: { text: '/primary', family: 'primary' },
      exclusive: true,
      balance: 'least_sessions',
      fallback: undefined,
      drainTimeoutMs: 30_000,
      onLeave: {
        dead: 'close',
        demoted: 'close',
        silent: 'close',
        promoted: 'close',
        removed: 'close',
        operator: 'drain',
        lagging: 'keep',
        tagged_out: 'keep',
        fallback_over: 'keep',
      },
    });
    expect(read).toMatchObject({
      name: 'read',
      check: { text: '/replica?lag=16MB', lagBytes: 16 * 1024 ** 2 },
      exclusive: false,
      fallback: { pool: 'write', maxSessions: 100 },
      drainTimeoutMs: 30_000,
      relocateAfterMs: 3000,
      onLeave: {
        dead: 'close',
        silent: 'close',
        lagging: 'drain_idle',
        demoted: 'keep',
        tagged_out: 'drain',
        promoted: 'drain',
        removed: 'drain',
        operator: 'drain',
        fallback_over: 'drain',
      },
    });
  });

  test('a default pool may be overridden in part', () => {
    const text = 'pools: { read: { fallback: { max_sessions: 7 }, on_leave: { lagging: drain } } }';
    const read = configOf(load(text)).pools[1];
    expect(read?.check.text).toBe('/replica?lag=16MB');
    expect(read?.fallback).toEqual({ pool: 'write', maxSessions: 7 });
    expect(read?.onLeave.lagging).toBe('drain');
    expect(read?.onLeave.removed).toBe('drain');
  });

  test('fallback: none switches a default fallback off', () => {
    expect(configOf(load('pools: { read: { fallback: none } }')).pools[1]?.fallback).toBeUndefined();
  });

  test('a custom pool takes the defaults of its check', () => {
    const text = `
pools:
  standby: { check: /standby-leader }
  reports: { check: /replica?tag_purpose=reports, balance: random, drain_timeout: 5m }
listeners: [{ address: "[::1]:7000", pool: standby }, { address: "*:7001", pool: reports }]`;
    const config = configOf(load(text));
    expect(config.pools.map((pool) => pool.name)).toEqual(['write', 'read', 'standby', 'reports']);
    expect(config.pools[2]).toMatchObject({ exclusive: true, onLeave: { promoted: 'close' } });
    expect(config.pools[3]).toMatchObject({ exclusive: false, balance: 'random', drainTimeoutMs: 300_000 });
    expect(config.listeners.map((listener) => listener.address)).toEqual([
      { host: '::1', port: 7000 },
      { host: '::', port: 7001 },
    ]);
  });

  test('an empty section counts as absent', () => {
    expect(configOf(load('probe:\ncluster:\n  members:\n')).probe.intervalMs).toBe(1000);
  });

  test('the value is deeply frozen', () => {
    const config = configOf(load(''));
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.pools[0]?.onLeave)).toBe(true);
    expect(Object.isFrozen(config.listeners[0]?.address)).toBe(true);
  });
});

describe('one wrong value', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['probe: { interval: 5 }', 'p.yaml:1:20: probe.interval: 5 has no unit: write 5s or 5ms'],
    ['probe: { intervall: 5s }', 'p.yaml:1:10: probe.intervall: unknown key: did you mean probe.interval?'],
    ['prob: {}', 'p.yaml:1:1: prob: unknown key: did you mean probe?'],
    ['client_timeout: 3s', 'p.yaml:1:1: client_timeout: unknown key here: did you mean hold.client_timeout?'],
    ['cluster: { api: { proxy: {} } }', 'p.yaml:1:19: cluster.api.proxy: unknown key: known here are tls, auth'],
    [
      'cluster: { discovery: dns }',
      'cluster.discovery: expected dynamic or static: names in cluster.seeds are looked up; for SRV records',
    ],
    ['cluster: { discovery: etcd }', 'cluster.discovery: expected dynamic or static, not "etcd"'],
    ['probe: []', 'p.yaml:1:8: probe: expected a map, not a list'],
    ['probe: { vouching: "yes" }', 'probe.vouching: expected true or false, not "yes"'],
    ['probe: { rise: 0 }', 'probe.rise: expected a whole number from 1 to 100, not 0'],
    ['probe: { rise: }', 'probe.rise: has no value: expected a whole number from 1 to 100'],
    ['cluster: { scope: 12 }', 'cluster.scope: expected text, not 12'],
    ['cluster: { scope: "" }', 'cluster.scope: is empty'],
    ['cluster: { members: [{ name: a }] }', 'cluster.members[0].api: is missing: expected a URL'],
    ['cluster: { allow: { networks: [10.0/8] } }', 'cluster.allow.networks[0]: "10.0/8" is not a network'],
    [
      'listeners: [{ address: "*:1", pool: read, proxy_protocol: { from: [10.0.0.5:80] } }]',
      'listeners[0].proxy_protocol.from[0]: "10.0.0.5:80" is not a network',
    ],
    ['listeners: [{ address: "*:1", pool: read, proxy_protocol: { from: [] } }]', 'name a network at least'],
    ['cluster: { allow: { ports: [70000] } }', 'cluster.allow.ports[0]: expected a whole number from 1 to 65535'],
    [
      'pools: { read: { check: "/replca?lag=16MB" } }',
      'pools.read.check: did you mean /replica? /replca is not a health',
    ],
    [
      'pools: { read: { check: "/replica?lag=16mb" } }',
      'p.yaml:1:25: pools.read.check: lag=16mb is not a size: did you mean lag=16MB?',
    ],
    ['pools: { read: { check: /primary?tag_a=b } }', 'pools.read.check: /primary ignores tag filters'],
    [
      'pools: { write: { on_leave: { dead: keep } } }',
      'pools.write.on_leave.dead: sessions of a dead member are always',
    ],
    ['pools: { read: { fallback: { pol: a } } }', 'pools.read.fallback.pol: unknown key: did you mean'],
    ['pools: { read: { fallback: 5 } }', 'pools.read.fallback: expected { pool: NAME, max_sessions: 100 }, or none'],
    ['pools: { 1a: { check: / } }', 'pools.1a: "1a" is not a name'],
    ['pools: { a: {} }', 'p.yaml:1:10: pools.a.check: is missing: expected a check such as'],
    ['listeners: []', 'listeners: is empty: at least one listener'],
    ['listeners: [{ address: ":6432", pool: write }]', 'listeners[0].address: :6432 names no host'],
    ['hold: { client_timeout: -1s }', 'hold.client_timeout: "-1s" is not a duration'],
    ['[1, 2]', 'p.yaml: expected a map'],
    ['probe: {', 'p.yaml:1:9: not valid YAML: '],
    ['probe: {}\nprobe: {}', 'p.yaml:2:1: not valid YAML: the key probe is given twice, first in line 1'],
    [
      'pools:\n  read: { check: /replica }\n  write: {}\n  read: {}',
      'p.yaml:4:3: not valid YAML: the key read is given twice, first in line 2',
    ],
    [
      'listeners:\n  - { pool: read, pool: write }',
      'p.yaml:2:19: not valid YAML: the key pool is given twice, first in line 2',
    ],
    ['probe: {}\n---\nhold: {}', 'not valid YAML: it has several documents: keep one'],
    ['log: &a { level: x }', 'p.yaml:1:18: log.level: expected fatal, error, warn, info, debug or trace, not "x"'],
  ];
  test.each(cases)('%s', (text, expected) => {
    const problems = problemsOf(load(text));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });

  test('a wrong value behind an alias is reported at its anchor', () => {
    const text = 'shutdown: &s\n  grace: 5\nhold: *s\n';
    expect(problemsOf(load(text))).toContain('p.yaml:2:10: shutdown.grace: 5 has no unit: write 5s or 5ms');
  });

  test('merge keys apply the anchor, also from an ignored key', () => {
    const text = 'x-usual: &usual { balance: random }\npools:\n  read:\n    <<: *usual\n    slow_start: 1m\n';
    const [, read] = configOf(load(text)).pools;
    expect(read).toMatchObject({ balance: 'random', slowStartMs: 60_000 });
  });

  test('a wrong value from a merge is reported at its anchor', () => {
    const text = 'x-a: &a { rise: 0 }\nx-b: &b { fall: 0 }\nprobe: { <<: [*a, *b], timeout: 100ms }\n';
    expect(problemsOf(load(text)).map((problem) => problem.slice(0, 24))).toEqual([
      'p.yaml:1:17: probe.rise:',
      'p.yaml:2:17: probe.fall:',
    ]);
  });

  test.each(['WARN', 'Warn', 'warn'])('a log level may be spelled %s', (level) => {
    expect(configOf(load(`log: { level: ${level} }`)).log.level).toBe('warn');
  });

  test('the file name - means standard input', () => {
    const loaded = loadConfig({ file: '-', env: SEEDS, readFile: () => 'probe: { rise: 0 }' });
    expect(problemsOf(loaded)[0]).toMatch(/^standard input:1:16: probe\.rise: /);
  });

  test('aliases that would expand to gigabytes are refused', () => {
    const levels = 'bcdefghi'
      .split('')
      .map((key, i) => `${key}: &${key} [${'*abcdefgh'[0]}${'abcdefgh'[i]}${`, *${'abcdefgh'[i]}`.repeat(9)}]`);
    expect(problemsOf(load(['a: &a [x]', ...levels].join('\n')))[0]).toContain('Excessive alias count');
  });
});

describe('all problems in one run', () => {
  test('problems of values and of rules, the environment first, then in the order of the file', () => {
    const text = 'hold: { outage_timeout: 1s }\nprobe: { rise: x }\nzz: 1\n';
    expect(problemsOf(load(text, { ...SEEDS, POINTSMAN_PROBE_FAL: '3' })).map((line) => line.split(': ')[0])).toEqual([
      'environment POINTSMAN_PROBE_FAL',
      'p.yaml:1:25',
      'p.yaml:2:16',
      'p.yaml:3:1',
    ]);
  });

  test('no rule reports a value that is already reported', () => {
    expect(problemsOf(load('cluster: { seeds: [nonsense] }', {}))).toHaveLength(1);
    const text = 'pools: { a: { check: /nonsense } }\nlisteners: [{ address: x:1, pool: a }]';
    expect(problemsOf(load(text))).toHaveLength(1);
  });
});

describe('the file', () => {
  test.each([
    ['ENOENT', 'there is no such file'],
    ['EACCES', 'permission denied'],
    ['EISDIR', 'it is a directory'],
    ['EIO', 'EIO'],
  ])('%s', (code, reason) => {
    const readFile = (): never => {
      throw Object.assign(new Error('x'), { code });
    };
    const loaded = loadConfig({ file: 'gone.yaml', env: SEEDS, readFile });
    expect(problemsOf(loaded)).toEqual([`gone.yaml: cannot be read: ${reason}`]);
  });
});
