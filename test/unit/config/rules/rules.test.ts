// Rules between several values; each problem gives its reason.
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';

describe('rules between values', () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      'probe: { write_max_age: 1800ms }',
      'p.yaml:1:25: probe.write_max_age: 1800ms is not longer than interval + timeout',
    ],
    ['probe: { interval: 5s }', 'p.yaml:1:20: probe.interval: 5s is not longer than interval + timeout (5800ms)'],
    ['probe: { read_max_age: 1s }', 'probe.read_max_age: 1s is not longer than interval + timeout'],
    ['probe: { silence_grace: 4s }', 'probe.silence_grace: 4s is shorter than write_max_age (5s)'],
    ['probe: { urgent: { interval: 2s } }', 'probe.urgent.interval: 2s is longer than the ordinary interval (1s)'],
    ['hold: { before_switchover: 30s }', 'hold.before_switchover: 30s is not shorter than client_timeout (30s)'],
    ['hold: { outage_timeout: 1s }', 'hold.outage_timeout: 1s is shorter than client_timeout (30s)'],
    ['pools: { write: { check: /replica } }', 'pools.write.check: several members answer /replica'],
    ['pools: { write: { exclusive: false } }', 'pools.write.exclusive: two members can answer /primary while a lease'],
    [
      'pools: { read: { fallback: { pool: wirte } } }',
      'there is no pool wirte: did you mean write? Known are write, read',
    ],
    ['pools: { read: { fallback: { pool: read } } }', 'pools.read.fallback.pool: a pool cannot be its own fallback'],
    [
      'listeners: [{ address: a:1, pool: readd }]',
      'p.yaml:1:35: listeners[0].pool: there is no pool readd: did you mean read?',
    ],
    [
      'listeners: [{ address: 127.0.0.1:1, pool: read }, { address: 127.0.0.1:1, pool: write }]',
      'listeners[1].address: 127.0.0.1:1 is already taken by listener 1 (127.0.0.1:1)',
    ],
    [
      'listeners: [{ address: "*:1", pool: read }, { address: 127.0.0.1:1, pool: write }]',
      'listeners[1].address: 127.0.0.1:1 is already taken by listener 1 ([::]:1)',
    ],
    [
      'listeners: [{ address: /run/a:1, pool: read }, { address: /run/a/:1, pool: write }]',
      'listeners[1].address: /run/a:1 is already taken by listener 1 (/run/a:1)',
    ],
    [
      'workers: auto\nlisteners: [{ address: /run/a:1, pool: read }]',
      'listeners[0].address: a Unix socket is served by one process: set workers: 1',
    ],
    [
      'listeners: [{ address: /run/a:1, pool: read, proxy_protocol: { from: [10.0.0.0/8] } }]',
      'listeners[0].proxy_protocol: a Unix socket has no networks to name',
    ],
    [
      'listeners: [{ address: a:1, pool: read, unix_socket_mode: "0770" }]',
      'listeners[0].unix_socket_mode: only the file of a Unix socket has a mode',
    ],
    ['admin: { address: "0.0.0.0:6433" }', 'admin.address: 0.0.0.0:6433 is already taken by listener 2'],
    [
      'admin: { console: { address: 127.0.0.1:8432 } }',
      'admin.console.address: 127.0.0.1:8432 is already taken by admin (127.0.0.1:8432)',
    ],
    [
      'cluster: { members: [{ name: a, api: http://a:1 }, { name: a, api: http://b:1 }] }',
      'cluster.members[1].name: a is already the name of another member',
    ],
    ['cluster: { api: { tls: { cert: a.pem } } }', 'cluster.api.tls: cert and key belong together'],
    ['cluster: { api: { tls: { ca: a.pem, insecure: true } } }', 'insecure would ignore ca'],
  ];
  test.each(cases)('%s', (text, expected) => {
    const problems = problemsOf(load(text));
    expect(problems).not.toEqual([]);
    expect(problems.join('\n')).toContain(expected);
  });

  test('fallbacks in a circle are reported once for each pool of the circle', () => {
    const text = `
pools:
  a: { check: /replica, fallback: { pool: b } }
  b: { check: /replica, fallback: { pool: a } }
  c: { check: /replica, fallback: { pool: a } }
listeners: [{ address: a:1, pool: c }]`;
    expect(problemsOf(load(text))).toEqual([
      'p.yaml:3:43: pools.a.fallback.pool: fallbacks form a circle: a -> b -> a',
      'p.yaml:4:43: pools.b.fallback.pool: fallbacks form a circle: b -> a -> b',
    ]);
  });

  test.each([
    'listeners: [{ address: 127.0.0.1:0, pool: read }, { address: 127.0.0.1:0, pool: write }]',
    'listeners: [{ address: 127.0.0.1:1, pool: read }, { address: 127.0.0.2:1, pool: write }]',
    'listeners: [{ address: 0.0.0.0:1, pool: read }, { address: "[::1]:1", pool: write }]',
    'listeners: [{ address: "*:1", pool: read }, { address: /run/a:1, pool: write }]',
    'listeners: [{ address: /run/a:1, pool: read }, { address: /run/b:1, pool: write }]',
    'hold: { client_timeout: 0, outage_timeout: 0 }',
    'shutdown: { grace: 0, drain_timeout: 0s }',
  ])('allowed: %s', (text) => {
    expect(problemsOf(load(text))).toEqual([]);
  });

  test('no contact point', () => {
    expect(problemsOf(load('', {}))[0]).toContain('cluster.seeds: no member to start from');
    const member = 'cluster: { members: [{ name: a, api: http://a:1 }] }';
    expect(problemsOf(load(member, {}))).toEqual([]);
  });

  test.each([
    ['probe: { timeout: 2s }', 'probe.timeout: 2s is longer than interval (1s)'],
    [
      'pools: { extra: { check: /replica } }',
      'pools.extra: no listener routes to this pool: clients reach it only as DATABASE@extra, if they do not use TLS',
    ],
    [
      'cluster: { api: { tls: { insecure: true } } }',
      'cluster.api.tls.insecure: certificates of members are not verified',
    ],
    [
      'cluster: { api: { tls: { ca: a.pem } } }',
      'cluster.api.tls: has no effect: every seed and member is an http URL',
    ],
  ])('warns: %s', (text, expected) => {
    expect(load(text).kind).toBe('ok');
    expect(warningsOf(load(text))).toContain(expected);
  });
});

test.each([
  ['0.0.0.0:6430', '', true],
  ['10.0.0.1:6430', 'token_file: /a,', false],
  ['10.0.0.1:6430', 'token: a-secret-of-at-least-16,', false],
  ['127.0.0.1:6430', '', false],
  ['[::1]:6430', '', false],
])('a console at %s with "%s" is warned of: %s, because other hosts need a token', (address, token, isWarned) => {
  const warnings = warningsOf(load(`admin: { ${token} console: { address: "${address}" } }`));
  expect(warnings.includes('other hosts cannot log in to the console without a token')).toBe(isWarned);
});

test.each([
  ['/etc/passwd', 'it is not a directory'],
  ['/etc/passwd/incidents', 'a part of its path is not a directory'],
])('a directory for incidents that cannot be used is a warning: %s', (directory, why) => {
  const loaded = load(`incidents: { directory: ${directory} }`);
  expect(configOf(loaded).incidents.directory).toBe(directory);
  expect(warningsOf(loaded)).toBe(
    `p.yaml:1:25: incidents.directory: ${directory} cannot be used: ${why}; incidents would be kept in memory only`,
  );
});

test('a directory for incidents that can be used, or made', () => {
  expect(warningsOf(load(`incidents: { directory: ${tmpdir()} }`))).toBe('');
  expect(warningsOf(load(`incidents: { directory: ${tmpdir()}/not/there }`))).toBe('');
});

test.each([
  ['max_size: 16M', '16M is not a size: a number with B, kB, MB, GB or TB (case matters), such as 16MB'],
  ['max_size: 1kB', '1kB is too small: at least 1MB'],
  ['max_size: 16', 'expected a size such as 16MB, not 16'],
  ['keep: 0', 'expected a whole number from 1 to 10000, not 0'],
  ['directory: ""', 'is empty: give it a value, or leave it out'],
])('incidents: { %s } is a mistake', (text, expected) => {
  expect(problemsOf(load(`incidents: { ${text} }`)).join('\n')).toContain(expected);
});
