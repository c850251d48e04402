// The live screen: rates between two looks, and as many events as fit.
import { describe, expect, test } from 'vitest';
import { statusReader } from '../../../../src/cli/status/read-status.ts';
import { paintFor } from '../../../../src/cli/terminal/colour.ts';
import { bytesRateText, rateText, ratesOf } from '../../../../src/cli/status/rates.ts';
import type { Look } from '../../../../src/cli/status/rates.ts';
import { liveScreen } from '../../../../src/cli/status/status-screen.ts';

function look(at: number, accepted: number, facts: { readonly uptime?: number; readonly holding?: number } = {}): Look {
  const { uptime = at / 1000, holding = 0 } = facts;
  return {
    at,
    status: statusReader.parse({
      uptime_seconds: uptime,
      cluster: { scope: 'lab', timeline: 4, drained: [], scheduled_switchover: null },
      members: [
        {
          name: 'pg-1',
          role: 'primary',
          state: 'running',
          timeline: 4,
          last_answer_age_seconds: 0.5,
          pools: { write: { place: { sign: 'routed', word: 'routed' }, standing: 'open', why: 'w' } },
        },
      ],
      pools: [
        {
          name: 'write',
          check: '/primary',
          why: 'open on pg-1',
          route: { kind: 'open', members: [{ name: 'pg-1' }], fallback: null },
          sessions: {
            by_state: { startup: 1, holding, dialing: 1, relaying: 12, closing: 0 },
            by_member: { 'pg-1': 12 },
            accepted,
            closed: accepted - 14,
            to_backend_bytes: accepted * 1000,
            to_client_bytes: accepted * 100_000,
          },
        },
      ],
    }),
  };
}

const EVENTS = Array.from({ length: 40 }, (_, index) => ({
  id: `r-${index}`,
  time: new Date(2026, 10, 22, 12, 0, index).toISOString(),
  event: 'route_changed',
  level: 'info' as const,
  fields: {},
  message: `event ${index}`,
}));
const OPTIONS = { paint: paintFor({ env: {} }), width: 80, from: '127.0.0.1:8432', footer: 'q: quit\n' };
const screen = (before: Look | undefined, now: Look, rows: number | undefined): string =>
  liveScreen({ ...now, events: EVENTS, operations: [] }, { ...OPTIONS, before, rows });

const withBranches = (one: Look): Look => {
  const [pool] = one.status.pools;
  const list = { source: 'static', read_at: null, age_seconds: 1, failing: null };
  const branches = { ...list, branches: 2, sessions: pool?.sessions ?? null };
  return { ...one, status: { ...one.status, branches } };
};

test('sessions on branches are a row like that of a pool', () => {
  const text = screen(withBranches(look(1000, 100)), withBranches(look(3000, 150)), undefined);
  expect(text).toMatch(/^branches +12 +2 +0 +25 +25 /m);
  expect(text).toContain('branches  2 branches (static), 12 sessions, 1 client waits');
});

describe('the screen', () => {
  test('rates of each pool, sessions by state, and the last events', () => {
    expect(screen(look(1000, 100), look(3000, 150, { holding: 3 }), 20)).toBe(
      `cluster lab  timeline 4  primary pg-1             seen by 127.0.0.1:8432, up 3 s

MEMBER  ROLE     TL  LAG  SESSIONS   SEEN  write
pg-1    primary   4    –        12  0.5 s  ● routed

POOL   ACTIVE  CONNECTING  WAITING  NEW/s  ENDED/s  TO SERVER  TO CLIENT
write      12           2        3     25       25  24.4 kB/s   2.4 MB/s

write  ● open on pg-1

write: 3 clients waiting

11-22 12:00:34Z  info   event 34
11-22 12:00:35Z  info   event 35
11-22 12:00:36Z  info   event 36
11-22 12:00:37Z  info   event 37
11-22 12:00:38Z  info   event 38
11-22 12:00:39Z  info   event 39
q: quit
`,
    );
  });

  test.each([16, 24, 60])('%i rows: it fills them and not more', (rows) => {
    const lines = screen(look(1000, 100), look(2000, 100), rows).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines.length).toBeGreaterThan(Math.min(rows, 48) - 3);
    expect(lines.at(-1)).toBe('q: quit');
  });

  test('without a terminal: the last five events', () => {
    expect(screen(look(1000, 100), look(2000, 100), undefined).match(/event \d+/g)).toHaveLength(5);
  });
});

const rates = (before: Look | undefined, now: Look) => now.status.pools.map((pool) => ratesOf(pool, before, now))[0];

describe('rates', () => {
  test('need an earlier look at the same process', () => {
    expect(rates(undefined, look(1000, 100))).toBeUndefined();
    expect(rates(look(1000, 100), look(2000, 20, { uptime: 0.5 }))).toBeUndefined();
    expect(screen(undefined, look(1000, 100), 30)).toMatch(/write +12 +2 +0 +– +– +– +–\n/);
  });

  test('are per second', () => {
    expect(rates(look(1000, 100), look(5000, 108))).toEqual({
      accepted: 2,
      closed: 2,
      toBackendBytes: 2000,
      toClientBytes: 200_000,
    });
  });

  test.each([
    [0, '0'],
    [0.04, '0'],
    [2.46, '2.5'],
    [120.4, '120'],
    [undefined, '–'],
  ])('%s is %s', (rate, text) => {
    expect(rateText(rate)).toBe(text);
  });

  test('of bytes have a unit', () => {
    expect(bytesRateText(1536)).toBe('1.5 kB/s');
    expect(bytesRateText(0.2)).toBe('0 B/s');
    expect(bytesRateText(undefined)).toBe('–');
  });
});
