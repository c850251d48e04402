// The spans of the last hour, from events: beginning, end, severity, text and limits.
import { expect, test } from 'vitest';
import { Spans } from '../../../src/admin/spans.ts';
import { ClusterHistory } from '../../../src/history/cluster-history.ts';
import type { HoldOutcome, ReportedEvent } from '../../../src/reports/events.ts';
import { emptyTable } from '../../../src/core/decide-routes.ts';
import type { Route } from '../../../src/core/routing-table.ts';
import { timelineDocument } from '../../../src/documents/timeline-document.ts';
import { aPolicy, aSnapshot } from '../../support/values/builders.ts';

const START = Date.parse('2026-11-22T14:00:00Z');
const HOUR = 3_600_000;

/** Spans with a clock that the test moves. The configuration has the pools `write` and `read`. */
function started() {
  let ms = 0;
  const policy = aPolicy();
  const snapshot = aSnapshot(policy);
  const known = { policy, snapshot, table: emptyTable(policy, snapshot, 5000) };
  const clocks = { now: () => 5000 + ms, wallClock: () => START + ms };
  const history = new ClusterHistory({ ...clocks, known: () => known, recorded: () => [] });
  const spans = new Spans({
    ...clocks,
    history,
    incidentAt: (from) => (from === START + 10_000 ? '2026-11-22-1' : undefined),
  });
  const at = (second: number, ...events: readonly ReportedEvent[]): void => {
    ms = second * 1000;
    for (const event of events) {
      history.take(event, 5000 + ms);
      spans.take(event, 5000 + ms);
    }
  };
  const shown = () => timelineDocument.parse(spans.document()).spans;
  return { spans, at, shown };
}

const OPEN: Route = {
  kind: 'open',
  targets: [{ member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } }],
  fallback: undefined,
};
const LOST: Route = { kind: 'hold', cause: 'no_member' };
const PLANNED: Route = { kind: 'hold', cause: 'switchover' };

function route(to: Route, pool = 'write'): ReportedEvent {
  return { kind: 'route_changed', pool, from: undefined, to };
}

function holds(pool: string, waits: readonly (readonly [HoldOutcome, number])[]): readonly ReportedEvent[] {
  return [
    ...waits.map((_, session) => ({ kind: 'hold_started', pool, session, cause: 'no_member' }) as const),
    ...waits.map(([outcome, waitedMs], session) => ({ kind: 'hold_ended', pool, session, outcome, waitedMs }) as const),
  ];
}

function standing(code: 'lagging' | 'stale' | 'positive' | 'no_answer', detail?: string): ReportedEvent {
  const why = { code, ...(detail === undefined ? {} : { detail }) };
  return {
    kind: 'standing_changed',
    pool: 'read',
    member: 'pg-3',
    from: undefined,
    to: { kind: 'open', why },
    text: 'a sentence',
  };
}

test('a pool without a route: one span from the loss to the return', () => {
  const { at, shown } = started();
  at(0, route({ kind: 'hold', cause: 'starting' }), route(OPEN));
  at(10, route(LOST));
  expect(shown()).toMatchObject([
    { kind: 'no_route', pool: 'write', to: null, text: 'pool write: no route (no eligible member)' },
  ]);
  at(13.9, route(OPEN));
  expect(shown()).toEqual([
    {
      id: 'span-1',
      kind: 'no_route',
      from: '2026-11-22T14:00:10.000Z',
      to: '2026-11-22T14:00:13.900Z',
      pool: 'write',
      member: null,
      severity: 'error',
      text: 'pool write: no route for 3.9 s (no eligible member)',
      incident_id: '2026-11-22-1',
    },
  ]);
});

test('an event that is reported late counts from when it happened', () => {
  const { at, spans, shown } = started();
  at(20);
  spans.take(route(LOST), 5000 + 19_500);
  expect(shown()).toMatchObject([{ from: '2026-11-22T14:00:19.500Z' }]);
});

test('the hold of a switchover is planned; if the primary is lost meanwhile, it is grave', () => {
  const { at, shown } = started();
  at(0, route(OPEN));
  at(1, route(PLANNED), route(OPEN));
  at(2, route(PLANNED), route(LOST));
  expect(shown().map(({ severity }) => severity)).toEqual(['info', 'error']);
});

test('waiting clients: one span for all that wait together', () => {
  const { at, shown } = started();
  const [first, second, ...ends] = holds('write', [
    ['released', 3900],
    ['released', 100],
  ]);
  if (first === undefined || second === undefined) throw new Error('no events');
  at(1, first, second);
  expect(shown()).toMatchObject([{ kind: 'hold', to: null, text: 'pool write: 2 clients waiting' }]);
  at(5, ...ends);
  expect(shown()).toMatchObject([{ severity: 'info', text: 'pool write: 2 clients waited, longest 3.9 s' }]);
  at(6, ...holds('read', [['timeout', 30_000]]));
  expect(shown()[1]).toMatchObject({
    severity: 'warn',
    text: 'pool read: 1 client waited, longest 30 s, 1 not served',
  });
});

test('lag lasts until the member lags no more, stops answering, or leaves the cluster', () => {
  const { at, shown } = started();
  at(0, standing('lagging', 'lag 41 MB'));
  at(240, standing('positive'));
  expect(shown()).toMatchObject([
    { kind: 'lag', member: 'pg-3', text: 'pool read: pg-3 over its lag limit for 4 min: lag 41 MB' },
  ]);
  at(300, standing('lagging'), standing('no_answer'), standing('stale'));
  at(310, { kind: 'members_changed', added: [], removed: ['pg-3'] });
  expect(shown().every(({ to }) => to !== null)).toBe(true);
});

test('a drained member until it is resumed, and a switchover with its result', () => {
  const { at, shown } = started();
  at(0, { kind: 'member_drained', member: 'pg-2' });
  at(60, { kind: 'member_resumed', member: 'pg-2' });
  at(70, { kind: 'operation_started', operation: 'op-1', what: 'switchover', to: 'pg-2' });
  expect(shown()[1]).toMatchObject({ kind: 'handover', to: null, text: 'switchover to pg-2: running' });
  const result = { durationMs: 3000, phase: 'confirm', held: 1, ended: 2, cut: 0, moved: 0 };
  at(73, {
    kind: 'operation_ended',
    operation: 'op-1',
    what: 'switchover',
    outcome: 'done',
    why: 'pg-2 is the primary',
    from: 'pg-1',
    primary: 'pg-2',
    ...result,
  });
  expect(shown().map(({ text, severity }) => [text, severity])).toEqual([
    ['pg-2: drained by the operator for 60 s', 'info'],
    ['switchover pg-1 -> pg-2: done after 3 s: pg-2 is the primary', 'info'],
  ]);
});

const REMOVED: ReportedEvent = { kind: 'config_reloaded', changed: ['pools.reports removed'], needsRestart: [] };

test('a span of a pool that a reload removes ends', () => {
  const { at, shown } = started();
  at(0, route(LOST, 'reports'), route(LOST));
  at(9, REMOVED);
  expect(shown().map(({ pool, to }) => [pool, to === null])).toEqual([
    ['reports', false],
    ['write', true],
  ]);
});

test('clients that wait for the first route: a reload does not end their span', () => {
  const { at, shown } = started();
  at(1, ...holds('write', [['released', 9000]]).slice(0, 1));
  at(5, REMOVED);
  expect(shown()).toMatchObject([{ kind: 'hold', pool: 'write', to: null }]);
});

test('clients that wait for a pool that a reload removes: one span until the last of them is refused', () => {
  const { at, shown } = started();
  const [first, end] = holds('reports', [['refused', 4000]]);
  if (first === undefined || end === undefined) throw new Error('no events');
  at(1, first);
  at(4, REMOVED);
  at(5, end);
  expect(shown()).toMatchObject([
    {
      from: '2026-11-22T14:00:01.000Z',
      to: '2026-11-22T14:00:05.000Z',
      text: 'pool reports: 1 client waited, longest 4 s, 1 not served',
    },
  ]);
});

test('spans leave an hour after their end; an open span stays', () => {
  const { at, spans } = started();
  at(0, route(LOST, 'read'));
  at(10, route(LOST), route(OPEN));
  at(10 + HOUR / 1000);
  expect(spans.document()).toMatchObject({ from: '2026-11-22T14:00:10.000Z', spans: [{ pool: 'read' }, {}] });
  at(11 + HOUR / 1000);
  expect(spans.document().spans).toHaveLength(1);
});

test('the number of spans is limited, and the document tells from when on it is complete', () => {
  const { at, spans } = started();
  for (let second = 1; second <= 600; second += 1) at(second, route(LOST), route(OPEN));
  const { from, spans: kept } = spans.document();
  expect(kept).toHaveLength(500);
  expect(from).toBe('2026-11-22T14:01:40.000Z');
});
