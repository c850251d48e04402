// The log as text: format, level, and the sentence of each event.
import { describe, expect, test } from 'vitest';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import type { MonitorEvent } from '../../../src/reports/monitor-events.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import type { Log, LogOptions } from '../../../src/telemetry/log.ts';
import { createRecorder } from '../../../src/telemetry/record.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';

const recorderOf = (log: Log, count = (): void => {}) =>
  createRecorder({ log, clock: new ManualClock(), ids: new EventIds('r1'), count });

function linesOf(options: Partial<LogOptions>, write: (log: Log) => void): string[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLog({ level: 'info', format: 'auto', isTerminal: false, destination, ...options }).log);
  return lines;
}

function writeThree(log: Log): void {
  log.info({ event: 'x', pool: 'write' }, 'hello');
  log.warn({ event: 'x', pool: 'write' }, 'careful');
  log.error({ event: 'x', err: new Error('broken') }, 'sorry');
}

describe('format', () => {
  test('JSON without a terminal: level by name, time as ISO 8601, no process or host', () => {
    const [line = ''] = linesOf({}, (log) => log.info({ event: 'x' }, 'hello'));
    const { time, ...rest } = JSON.parse(line);
    expect(rest).toEqual({ level: 'info', event: 'x', msg: 'hello' });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test.each([
    ['auto', true, false],
    ['pretty', false, false],
    ['json', true, true],
    ['auto', false, true],
  ] as const)('%s, terminal %s: JSON is %s', (format, isTerminal, isJson) => {
    const [line = ''] = linesOf({ format, isTerminal }, (log) => log.info({}, 'hello'));
    expect(line).toContain('hello');
    expect(line.startsWith('{')).toBe(isJson);
  });

  test('one event is one line, whatever its text contains', () => {
    const lines = linesOf({ format: 'pretty', level: 'trace' }, (log) =>
      recorderOf(log).record({
        kind: 'probe_finished',
        member: 'pg-1',
        check: '/primary',
        outcome: 'malformed',
        detail: 'a\nINFO: forged\u001b[31m',
        durationMs: 1,
      }),
    );
    expect(lines.join('')).toContain('a INFO: forged [31m');
    expect(lines.join('').trimEnd().split('\n').length).toBe(1);
  });

  test('a person reads the time, the sentence, and the level where it matters; fields only at debug', () => {
    const lines = linesOf({ format: 'pretty' }, writeThree).map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ''));
    expect(lines.slice(0, 2)).toEqual(['hello\n', 'WARN  careful\n']);
    expect(lines[2]).toMatch(/^ERROR {2}sorry\n {2}Error: broken\n {6}at /);
    const [detailed = ''] = linesOf({ format: 'pretty', level: 'debug' }, writeThree);
    expect(detailed).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}hello {2}\{"pool":"write"\}\n$/);
  });

  test('colour only on a terminal', () => {
    const [plain = ''] = linesOf({ format: 'pretty', isTerminal: false }, (log) => log.info({}, 'hello'));
    const [coloured = ''] = linesOf({ format: 'pretty', isTerminal: true }, (log) => log.info({}, 'hello'));
    expect([plain.includes('\u001b['), coloured.includes('\u001b[')]).toEqual([false, true]);
  });

  test('events below the level are not written', () => {
    expect(linesOf({ level: 'warn' }, (log) => log.info({}, 'hello'))).toEqual([]);
  });
});

const target = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const open = { kind: 'open', targets: [target], fallback: undefined } as const;
const late = { ...open, lagging: { maxSessions: 9 } } as const;
const lent = { kind: 'open', targets: [target], fallback: { pool: 'write', maxSessions: 9 } } as const;
const hold = { kind: 'hold', cause: 'no_member' } as const;
const isOpen = { kind: 'open', why: { code: 'positive' } } as const;
const standing = { kind: 'standing_changed', pool: 'write', member: 'pg-1', text: 'why' } as const;
const behind = {
  kind: 'leave',
  cause: 'lagging',
  why: { code: 'other_timeline', detail: 'on 1, the primary is on 2' },
} as const;
const drained = { kind: 'leave', cause: 'operator', why: { code: 'drained' } } as const;
const closed = {
  kind: 'session_closed',
  pool: 'write',
  session: 7,
  member: 'pg-1',
  client: '10.1.1.1:5000',
  reason: 'client_closed',
  detail: undefined,
  durationMs: 1500,
  toBackendBytes: 1,
  toClientBytes: 2,
} as const;

describe('lines', () => {
  const cases: readonly (readonly [ProxyEvent | MonitorEvent, string])[] = [
    [{ kind: 'route_changed', pool: 'write', from: undefined, to: open }, 'info pool write: open on pg-1'],
    [
      { kind: 'route_changed', pool: 'read', from: open, to: lent },
      'info pool read: open on pg-1, fallback to pool write',
    ],
    [
      { kind: 'route_changed', pool: 'read', from: open, to: late },
      'warn pool read: open on pg-1, over the lag limit like all members',
    ],
    [
      { kind: 'route_changed', pool: 'write', from: open, to: hold },
      'warn pool write: no eligible member, clients wait',
    ],
    [
      { kind: 'route_changed', pool: 'write', from: undefined, to: hold },
      'info pool write: no eligible member, clients wait',
    ],
    [
      { kind: 'route_changed', pool: 'write', from: hold, to: { kind: 'hold', cause: 'two_primaries' } },
      'error pool write: two members claim to be primary, clients wait',
    ],
    [
      { kind: 'route_changed', pool: 'write', from: open, to: { kind: 'closed' } },
      'warn pool write: no eligible member, clients',
    ],
    [
      { ...standing, from: isOpen, to: { kind: 'keep', why: { code: 'no_answer' } }, text: 'no answer for 5 s' },
      'warn pool write: pg-1: no new sessions: no answer for 5 s',
    ],
    [
      { ...standing, from: isOpen, to: { kind: 'keep', why: { code: 'switchover_running' } } },
      'info pool write: pg-1 takes no new sessions: switchover in progress, new clients wait',
    ],
    [
      {
        kind: 'standing_changed',
        pool: 'write',
        member: 'pg-1',
        from: isOpen,
        to: { kind: 'leave', cause: 'demoted', why: { code: 'wrong_role' } },
        text: 'role replica',
      },
      'info pool write: pg-1: demoted: role replica',
    ],
    [
      { ...standing, from: isOpen, to: { kind: 'open', why: { code: 'vouched', detail: 'pg-3 confirms' } } },
      'warn pool write: pg-1: API does not answer, still the primary: pg-3 confirms',
    ],
    [
      { ...standing, from: { kind: 'open', why: { code: 'vouched' } }, to: isOpen },
      'info pool write: pg-1: API answers again: why',
    ],
    [
      { ...standing, from: isOpen, to: behind },
      "info pool write: pg-1 is catching up with the primary's timeline: on 1, the primary is on 2",
    ],
    [{ ...standing, from: behind, to: isOpen }, 'debug pool write: pg-1: eligible: why'],
    [{ ...standing, from: isOpen, to: drained }, 'debug pool write: pg-1: drained: why'],
    [{ ...standing, from: drained, to: isOpen }, 'debug pool write: pg-1: eligible: why'],
    [
      { ...standing, from: isOpen, to: { kind: 'open', why: { code: 'fallback' } } },
      'debug pool write: pg-1: eligible: why',
    ],
    [
      { kind: 'route_changed', pool: 'write', from: open, to: { kind: 'hold', cause: 'switchover' } },
      'info pool write: a switchover is due or running, clients wait',
    ],
    [
      { kind: 'route_changed', pool: 'write', from: open, to: { kind: 'hold', cause: 'drained' } },
      'info pool write: the only eligible member is drained, clients wait',
    ],
    [
      { kind: 'member_drained', member: 'pg-2' },
      'warn pg-2: drained by the operator until it is resumed or Pointsman restarts',
    ],
    [{ kind: 'member_resumed', member: 'pg-2' }, 'info pg-2: resumed by the operator'],
    [{ kind: 'refresh_requested', isMerged: false }, 'info refresh requested: probing all members now'],
    [
      { kind: 'contact_source_changed', source: 'http://pg:8008', contactPoints: ['10.0.0.1:8008', '10.0.0.2:8008'] },
      'info http://pg:8008: contact points 10.0.0.1:8008, 10.0.0.2:8008',
    ],
    [
      {
        kind: 'contact_source_changed',
        source: 'http://pg:8008',
        contactPoints: ['10.0.0.1:8008'],
        failing: { why: 'ETIMEOUT', forMs: 2000 },
      },
      'warn http://pg:8008: no update for 2 s (ETIMEOUT), keeping contact points 10.0.0.1:8008',
    ],
    [
      { kind: 'contact_source_changed', source: 'http://pg:8008', contactPoints: [], failing: { why: 'ENOTFOUND' } },
      'warn http://pg:8008: no contact points: ENOTFOUND',
    ],
    [{ kind: 'refresh_requested', isMerged: true }, 'debug refresh requested again within a second: merged'],
    [{ kind: 'members_changed', added: ['a'], removed: ['b', 'c'] }, 'info members changed: added a; removed b, c'],
    [
      {
        kind: 'members_refused',
        refused: [{ name: 'pg-3', reason: 'postgres_port', why: 'PostgreSQL port 5433 is not allowed' }],
      },
      'warn not used: pg-3 (PostgreSQL port 5433 is not allowed)',
    ],
    [{ kind: 'members_refused', refused: [] }, 'info all listed members are in use'],
    [
      {
        kind: 'probe_finished',
        member: 'pg-1',
        check: '/primary',
        outcome: 'timeout',
        detail: 'no answer within 800 ms',
        durationMs: 801,
      },
      'debug pg-1 /primary: timeout in 801 ms: no answer within 800 ms',
    ],
    [
      { kind: 'probe_finished', member: 'a', check: '/primary', outcome: 'no', detail: undefined, durationMs: 2 },
      'trace a /primary: no in 2 ms',
    ],
    [closed, 'debug session 7: 10.1.1.1:5000 on pg-1 closed after 1.5 s: client_closed'],
    [
      { ...closed, reason: 'evicted_demoted' },
      'info session 7: 10.1.1.1:5000 on pg-1 closed after 1.5 s: evicted_demoted',
    ],
    [
      { ...closed, reason: 'hold_timeout', member: undefined, detail: 'members: none' },
      'info session 7: 10.1.1.1:5000 closed after 1.5 s: hold_timeout: members: none',
    ],
    [{ ...closed, reason: 'cancel_forwarded' }, 'debug session 7'],
    [{ ...closed, reason: 'cancel_failed', detail: 'x' }, 'info session 7'],
    [{ ...closed, reason: 'internal_error' }, 'error session 7'],
    [{ ...closed, reason: 'tls_required', member: undefined }, 'info session 7'],
    [
      { ...closed, reason: 'tls_failed', member: undefined, detail: 'tlsv1 alert unknown ca' },
      'info session 7: 10.1.1.1:5000 closed after 1.5 s: tls_failed: tlsv1 alert unknown ca',
    ],
    [
      { kind: 'certificate_loaded', file: '/a.crt', expiresAt: 0 },
      'info TLS certificate loaded from /a.crt, valid until 1970-01-01T00:00:00.000Z',
    ],
    [
      { kind: 'certificate_refused', why: '/a.key is not the key of cert' },
      'error new TLS certificate rejected, keeping the old one: /a.key is not the key of cert',
    ],
    [{ kind: 'relay_chosen', isOn: true }, 'debug direct relay enabled'],
    [{ kind: 'relay_chosen', isOn: false, why: 'x' }, 'info direct relay not in use, relaying through Node streams: x'],
    [{ kind: 'listener_failed', pool: 'read', detail: 'EMFILE' }, 'error pool read: listener failed: EMFILE'],
    [
      { kind: 'standby_report_stale', member: 'pg-1' },
      'warn pg-1: its server reports in_hot_standby=on, but its API confirms that it is the primary',
    ],
    [{ kind: 'urgent_probing', on: true, triggers: ['clients_held'] }, 'info probing faster: clients held'],
    [
      { kind: 'client_accepted', pool: 'read', session: 7, client: '10.0.0.1:5' },
      'trace session 7: accepted 10.0.0.1:5',
    ],
    [
      { kind: 'dial_finished', pool: 'read', session: 1, member: 'a', outcome: 'refused', durationMs: 3 },
      'info session 1: connect to a: refused after 3 ms',
    ],
  ];
  test.each(cases)('%j', (event, expected) => {
    const { level, text } = logLine(event, true);
    expect(`${level} ${text()}`.slice(0, expected.length)).toBe(expected);
  });
});

const discovered = (detail: string | undefined): MonitorEvent => ({
  kind: 'discovery_finished',
  source: 'pg-1',
  detail,
  members: 3,
  durationMs: 5,
});

const failToCount = (): never => {
  throw new Error('no such label');
};

describe('recorder', () => {
  test('discovery is logged only when it begins to fail, and when it works again', () => {
    const lines = linesOf({}, (log) => {
      const { record } = recorderOf(log);
      for (const detail of [undefined, undefined, 'nobody answers', 'nobody answers', undefined]) {
        record(discovered(detail));
        record({ kind: 'urgent_probing', on: false, triggers: [] });
      }
    });
    const told = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'discovery_finished');
    expect(told.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      'info discovered 3 members via pg-1',
      'warn discovery failed: nobody answers',
      'info discovered 3 members via pg-1',
    ]);
  });

  test('the fields of the event are there for a search', () => {
    const [line = ''] = linesOf({}, (log) => {
      recorderOf(log).record({
        ...closed,
        reason: 'evicted_dead',
      });
    });
    const { time: _, msg: __, ...fields } = JSON.parse(line);
    expect(fields).toEqual({
      level: 'info',
      event: 'session_closed',
      event_id: 'r1-1',
      pool: 'write',
      session: 7,
      member: 'pg-1',
      client: '10.1.1.1:5000',
      reason: 'evicted_dead',
      duration_ms: 1500,
      to_backend_bytes: 1,
      to_client_bytes: 2,
    });
  });

  test('a metric that throws does not reach the proxy', () => {
    const lines = linesOf({}, (log) => {
      recorderOf(log, failToCount).record(closed);
    });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', event: 'record_failed', of: 'session_closed' });
  });
});
