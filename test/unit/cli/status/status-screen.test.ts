// The screen of `pointsman status`: what it shows of a document, and that it fits the terminal.
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ofPool, statusReader } from '../../../../src/cli/status/read-status.ts';
import type { Status } from '../../../../src/cli/status/read-status.ts';
import { operationsReader } from '../../../../src/cli/status/operations-under-way.ts';
import { evidenceText } from '../../../../src/cli/status/evidence-text.ts';
import { statusScreen } from '../../../../src/cli/status/status-screen.ts';
import { paintFor } from '../../../../src/cli/terminal/colour.ts';

const PLAIN = paintFor({ env: {} });
const COLOUR = paintFor({ env: { FORCE_COLOR: '1' } });

const OPEN = { place: { sign: 'routed', word: 'routed' }, standing: 'open', why: 'w' };
const out = (sign: string, word: string) => ({ place: { sign, word }, standing: 'leave', cause: 'c', why: 'w' });
const REPLICA = out('idle', 'is a replica');

function aMember(name: string, facts: object = {}): object {
  const pools = { write: REPLICA, read: OPEN };
  const known = { role: 'replica', state: 'running', timeline: 4, last_answer_age_seconds: 0.52 };
  return { name, ...known, pools, ...facts };
}

function aPool(name: string, members: readonly string[], facts: object = {}): object {
  const open = { kind: 'open', members: members.map((member) => ({ name: member })), fallback: null };
  const counted = { accepted: 0, closed: 0, to_backend_bytes: 0, to_client_bytes: 0 };
  const sessions = { by_state: { holding: 0 }, by_member: {}, ...counted };
  return { name, check: '/c', route: open, why: `open on ${members.join(', ')}`, sessions, ...facts };
}

const counts = (byMember: object, holding = 0): object => ({
  by_state: { holding },
  by_member: byMember,
  accepted: 9,
  closed: 1,
  to_backend_bytes: 10,
  to_client_bytes: 20,
});

const PRIMARY = aMember('pg-2', { role: 'primary', pools: { write: OPEN, read: out('eligible', 'fallback only') } });

function aStatus(facts: object = {}, cluster: object = {}): Status {
  return statusReader.parse({
    uptime_seconds: 125.4,
    cluster: { scope: 'lab', timeline: 4, drained: [], scheduled_switchover: null, ...cluster },
    members: [PRIMARY, aMember('pg-1'), aMember('pg-3')],
    pools: [
      aPool('write', ['pg-2'], { sessions: counts({ 'pg-2': 12 }) }),
      aPool('read', ['pg-1', 'pg-3'], { sessions: counts({ 'pg-1': 40, 'pg-2': 1 }) }),
    ],
    ...facts,
  });
}

const screen = (status: Status, width = 80, paint = PLAIN): string =>
  statusScreen(status, { paint, width, from: '127.0.0.1:8432' });
const widest = (text: string): number =>
  Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map(({ length }) => length),
  );

describe('branches', () => {
  const list = { source: 'console', branches: 12, age_seconds: 4, failing: null };
  const relaying = { ...counts({}), by_state: { relaying: 3, holding: 0, dialing: 1 } };

  test('one line below the pools: the list, its age, and the sessions on branches', () => {
    const text = screen(aStatus({ branches: { ...list, sessions: relaying } }));
    expect(text).toContain('\nbranches  12 branches (console), read 4.0 s ago, 3 sessions, 1 client waits\n');
    expect(screen(aStatus())).not.toContain('branches');
  });
});

describe('a healthy cluster', () => {
  test('its members with a column for each pool, and the pools', () => {
    expect(screen(aStatus())).toBe(`cluster lab  timeline 4  primary pg-2         seen by 127.0.0.1:8432, up 2.1 min

MEMBER  ROLE     TL  LAG  SESSIONS   SEEN  write           read
pg-2    primary   4    –        13  0.5 s  ● routed        ○ fallback only
pg-1    replica   4    –        40  0.5 s  – is a replica  ● routed
pg-3    replica   4    –         0  0.5 s  – is a replica  ● routed

POOL   ROUTE                 SESSIONS  WAITING
write  ● open on pg-2              12        0
read   ● open on pg-1, pg-3        41        0
`);
  });

  test('the same words with colour', () => {
    const text = screen(aStatus(), 80, COLOUR);
    expect(text).toContain('\u001B[32m● routed\u001B[39m');
    expect(stripVTControlCharacters(text)).toBe(screen(aStatus()));
  });
});

test('the picture of README is this screen', () => {
  const README = new URL('../../../../README.md', import.meta.url);
  const lagging = { pools: { write: REPLICA, read: out('warning', 'lag too high') }, lag_bytes: 33_764_147 };
  const picture = screen(
    aStatus(
      {
        members: [aMember('pg-1', { lag_bytes: 0 }), PRIMARY, aMember('pg-3', lagging)],
        pools: [
          aPool('write', ['pg-2'], { sessions: counts({ 'pg-2': 12 }) }),
          aPool('read', ['pg-1'], { sessions: counts({ 'pg-1': 40 }) }),
        ],
        notices: [{ level: 'warning', about: 'lag', text: 'Over the lag limit of pool read: pg-3.' }],
      },
      { scope: 'batman' },
    ),
  );
  expect(readFileSync(README, 'utf8')).toContain(`\n$ pointsman status\n${picture}\`\`\`\n`);
});

describe('a pool with `balance: latency`', () => {
  const summary = 'replies in 400 ms, logins in 6.1 ms; new sessions at 1.3 % of its weight';
  const latency = { 'pg-3': { summary }, 'pg-1': { summary: 'not measured yet; new sessions at its full weight' } };
  const pools = [
    aPool('write', ['pg-2']),
    aPool('read', ['pg-1', 'pg-3'], { sessions: { ...counts({ 'pg-1': 40 }), latency } }),
  ];

  test('a line for each member below the pools', () => {
    expect(screen(aStatus({ pools }), 100)).toContain(`
POOL  MEMBER  LATENCY
read  pg-1    not measured yet; new sessions at its full weight
read  pg-3    ${summary}
`);
    expect(widest(screen(aStatus({ pools })))).toBeLessThanOrEqual(80);
    expect(screen(aStatus())).not.toContain('LATENCY');
  });

  test('explain: behind the reason of each member', () => {
    const text = evidenceText(aStatus({ pools }), { paint: PLAIN, width: 200 });
    expect(text).toMatch(/^ {2}pg-1 +routed +w; not measured yet; new sessions at its full weight$/m);
    expect(text).toMatch(new RegExp(`^ {2}pg-3 +routed +w; ${summary}$`, 'm'));
    expect(text).toMatch(/^ {2}pg-2 +fallback only +w$/m);
  });

  test('an older Pointsman has no sentence', () => {
    const older = { ...counts({}), latency: { 'pg-1': { share: 1 } } };
    expect(screen(aStatus({ pools: [aPool('read', ['pg-1'], { sessions: older })] }))).not.toContain('LATENCY');
  });
});

test('the lag of a replica has its age, where that is a second or more', () => {
  const [old, young] = [5.14, 0.4].map((staleness) =>
    aMember('pg-1', { lag_bytes: 680, staleness_seconds: staleness }),
  );
  expect(screen(aStatus({ members: old === undefined ? [] : [old] }))).toMatch(/pg-1 .* 680 B, 5\.1 s /);
  expect(screen(aStatus({ members: young === undefined ? [] : [young] }))).toMatch(/pg-1 .* 680 B  /);
});

describe('what is wrong', () => {
  test.each([
    [
      'a member that lags',
      aMember('pg-1', { pools: { write: REPLICA, read: out('warning', 'lag too high') } }),
      '◐ lag too high',
    ],
    [
      'a dead one',
      aMember('pg-1', { pools: { write: out('bad', 'down'), read: out('bad', 'down') } }),
      '✗ down    ✗ down',
    ],
    ['a drained one', aMember('pg-1', { pools: { read: out('warning', 'drained') } }), '◐ drained'],
    ['one tagged out', aMember('pg-1', { pools: { read: out('idle', 'excluded by tag') } }), '– excluded by tag'],
    ['one that does not answer', aMember('pg-1', { role: 'primary', role_text: 'was primary' }), 'was primary'],
    ['one that starts', aMember('pg-1', { state: 'starting' }), 'replica, starting'],
    [
      'one that never answered',
      aMember('pg-1', { role: null, last_answer_age_seconds: null }),
      '?         4    –        40  never',
    ],
  ])('%s', (_, member, expected) => {
    const pools = [aPool('write', ['pg-2']), aPool('read', ['pg-3'], { sessions: counts({ 'pg-1': 40 }) })];
    const text = screen(aStatus({ members: [PRIMARY, member], pools }));
    expect(text.split('\n').find((line) => line.startsWith('pg-1'))).toContain(expected);
  });

  test('the pool is on its fallback', () => {
    const route = { kind: 'open', members: [{ name: 'pg-2' }], fallback: { pool: 'write', max_sessions: 100 } };
    const pool = aPool('read', [], { route, why: 'open on pg-2, fallback to pool write' });
    const primary = aMember('pg-2', {
      pools: { read: { ...OPEN, place: { sign: 'routed', word: 'used as fallback' } } },
    });
    expect(screen(aStatus({ members: [primary], pools: [pool] }))).toMatch(
      /● used as fallback[^]*read {2}● open on pg-2, fallback to pool write/,
    );
  });

  test('clients wait, and everything that needs attention is below', () => {
    const hold = { route: { kind: 'hold', cause: 'no_member' }, why: 'no eligible member, clients wait' };
    const notices = [
      { level: 'danger', about: 'no route', text: 'Pool write: no eligible member, clients wait.', pool: 'write' },
      { level: 'warning', about: 'not used', text: `pg-4 is not used: ${'API port 8009 is not allowed: '.repeat(4)}.` },
      { level: 'warning', about: 'drained', text: 'Drained by the operator: pg-1.', command: 'pointsman resume pg-1' },
    ];
    const pools = [aPool('write', [], { ...hold, sessions: counts({}, 3) })];
    const text = screen(aStatus({ notices, pools, members: [aMember('pg-1')] }, { timeline: null }));
    expect(text).toContain('cluster lab  no primary seen yet ');
    expect(text).toContain('write  ◐ no eligible member, clients wait         0        3\nwrite: 3 clients waiting\n');
    expect(text.slice(text.indexOf('ATTENTION'))).toBe(
      `ATTENTION
no route  Pool write: no eligible member, clients wait.
not used  pg-4 is not used: API port 8009 is not allowed: API port 8009 is not
          allowed: API port 8009 is not allowed: API port 8009 is not allowed: .
drained   Drained by the operator: pg-1. (pointsman resume pg-1)
`,
    );
    const ofRead = ofPool(aStatus({ notices }), 'read');
    expect(ofRead.notices.map(({ about }) => about)).toEqual(['not used', 'drained']);
  });

  test('parked sessions have a line, and those at their login', () => {
    const moving = { ...counts({ 'pg-2': 1 }), by_state: { holding: 0, relaying: 0, parked: 42, moving: 1 } };
    const text = screen(aStatus({ pools: [aPool('write', ['pg-2'], { sessions: moving })] }));
    expect(text).toContain('\nwrite: 42 sessions parked, 1 logs in at its next server\n');
    const alone = { ...counts({}), by_state: { holding: 0, moving: 1 } };
    expect(screen(aStatus({ pools: [aPool('write', [], { sessions: alone })] }))).toContain(
      'write: 1 session logs in at its next server\n',
    );
    const one = { ...counts({}), by_state: { holding: 0, parked: 1 } };
    expect(screen(aStatus({ pools: [aPool('write', [], { sessions: one })] }))).toContain('write: 1 session parked\n');
    const limits = { client_wait_seconds: 30, park_seconds: 20 };
    const limited = aStatus({ pools: [aPool('write', ['pg-2'], { sessions: moving })], limits });
    expect(screen(limited)).toContain('write: 42 sessions parked for 20 s at most, 1 logs in at its next server\n');
  });

  test('waiting clients: the longest wait, and when they are refused', () => {
    const hold = { route: { kind: 'hold', cause: 'no_member' }, why: 'no eligible member, clients wait' };
    const waiting = { ...counts({}, 1), longest_wait_seconds: 2.12 };
    const pools = [aPool('write', [], { ...hold, sessions: waiting })];
    expect(screen(aStatus({ pools, limits: { client_wait_seconds: 30 } }))).toContain(
      '\nwrite: 1 client waiting, longest 2.1 s, refused after 30 s\n',
    );
  });

  test('an operation that runs', () => {
    const operation = { id: 'op-1', kind: 'switchover', state: 'running', phase: 'drain', duration_ms: 3200 };
    const { operations } = operationsReader.parse({
      operations: [{ ...operation, from: 'pg-2', to: 'pg-1' }, operation],
    });
    const text = statusScreen(aStatus(), { paint: PLAIN, width: 80, from: 'x:1', operations });
    expect(text.slice(text.indexOf('switchover'))).toBe(
      `switchover  from pg-2 to pg-1, phase drain, for 3.2 s (op-1)
switchover  phase drain, for 3.2 s (op-1)
`,
    );
  });

  test('a member that was the primary is not the primary', () => {
    const dead = aMember('pg-2', { role: 'primary', role_text: 'was primary' });
    const vouched = aMember('pg-2', { role: 'primary', role_text: 'primary' });
    expect(screen(aStatus({ members: [dead] }))).toMatch(/^cluster lab {2}timeline 4 {2}no primary /);
    expect(screen(aStatus({ members: [vouched] }))).toMatch(/^cluster lab {2}timeline 4 {2}primary pg-2 /);
  });

  test('no member is known', () => {
    expect(screen(aStatus({ members: [] }))).toContain('\n\nno known members\n');
  });
});

const big = (members: number, pools: readonly string[], name: (index: number) => string): Status => {
  const places = Object.fromEntries(pools.map((pool) => [pool, OPEN]));
  return aStatus({
    members: Array.from({ length: members }, (_, index) => aMember(name(index), { pools: places, state: 'starting' })),
    pools: pools.map((pool) =>
      aPool(
        pool,
        Array.from({ length: members }, (_, index) => name(index)),
      ),
    ),
  });
};

describe('80 columns', () => {
  test.each([
    ['ten members and four pools', 10, ['write', 'read', 'reports', 'analytics'], (i: number) => `pg-${i + 1}`],
    ['long names', 10, ['write', 'read'], (i: number) => `patroni-cluster-main-${i}`],
    ['twelve pools', 30, Array.from({ length: 12 }, (_, i) => `pool-${i}-of-a-team`), (i: number) => `pg-${i + 1}`],
  ])('%s fit, and nothing is cut', (_, members, pools, name) => {
    for (const paint of [PLAIN, COLOUR]) {
      const text = screen(big(members, pools, name), 80, paint);
      expect(widest(text)).toBeLessThanOrEqual(80);
      expect(text).not.toContain('…');
      for (const pool of pools) expect(text).toContain(pool);
      expect(text).toContain(name(members - 1));
    }
  });

  test('without room for words there are signs and their legend', () => {
    const text = screen(big(10, ['write', 'read', 'reports', 'analytics'], (i) => `pg-${i + 1}`));
    expect(text).toMatch(/\npg-1 .* ● +● +● +●\n/);
    expect(text).toContain('● routed  ○ eligible  – in no use');
    expect(widest(text)).toBeLessThanOrEqual(80);
  });
});

describe('another version', () => {
  test('a later one: values and fields that this one does not know', () => {
    const pools = { write: { ...OPEN, place: { sign: 'new', word: 'somewhere new' } }, read: OPEN };
    const notices = [{ level: 'note', about: 'new', text: 'Something new.', added: 1 }];
    const text = screen(aStatus({ notices, members: [aMember('pg-1', { pools, added: 1 })], added: {} }));
    expect(text).toContain('– somewhere new');
    expect(text).toContain('new  Something new.');
  });

  test('an earlier one: no places and no notices', () => {
    const pools = { write: { standing: 'open', why: 'w' } };
    const text = screen(aStatus({ members: [aMember('pg-1', { pools })], pools: [aPool('write', ['pg-1'])] }));
    expect(text).toMatch(/^pg-1 .* – \?$/m);
    expect(text).not.toContain('ATTENTION');
  });

  test.each(['uptime_seconds', 'cluster', 'members', 'pools'])('without %s it is not understood', (name) => {
    expect(statusReader.safeParse({ ...aStatus(), [name]: undefined }).success).toBe(false);
  });
});
