// Where spans are on the band, and the text for a ticket.
import { expect, test } from 'vitest';
import type { SpanDocument } from '../../../../src/documents/timeline-document.ts';
import { barsOf, copyOf, ticksOf, unknownPercent } from '../../../../src/page/last-hour/band.ts';

const NOW = Date.UTC(2026, 10, 22, 14, 20);

function time(minutes: number): string {
  return new Date(NOW - minutes * 60_000).toISOString();
}

function aSpan(fromMinutes: number, toMinutes: number | null, more: Partial<SpanDocument> = {}): SpanDocument {
  return {
    id: '1',
    kind: 'no_route',
    from: time(fromMinutes),
    to: toMinutes === null ? null : time(toMinutes),
    pool: 'write',
    member: null,
    severity: 'warn',
    text: 'pool write: no route for 4.1 s',
    incident_id: null,
    ...more,
  };
}

const placeOf = (span: SpanDocument): unknown => barsOf([span], NOW).map(({ left, width }) => [left, width])[0];

test('a span has its place on the hour', () => {
  expect(placeOf(aSpan(30, 15))).toEqual([50, 25]);
  expect(placeOf(aSpan(15, null))).toEqual([75, 25]);
});

test('a span that began before the hour begins at its edge; one that ended before it has no bar', () => {
  expect(placeOf(aSpan(90, 30))).toEqual([0, 50]);
  expect(placeOf(aSpan(90, 61))).toBeUndefined();
});

test('a short span is still visible, at the right edge, too', () => {
  expect(placeOf(aSpan(30, 29.99))).toEqual([50, 0.5]);
  expect(placeOf(aSpan(0, null))).toEqual([99.5, 0.5]);
});

test('kinds have lanes', () => {
  const kinds = ['no_route', 'handover', 'hold', 'lag', 'drained'] as const;
  expect(
    barsOf(
      kinds.map((kind) => aSpan(9, 8, { kind })),
      NOW,
    ).map(({ top }) => top),
  ).toEqual([4, 4, 20, 36, 36]);
});

test('ticks are the quarters of the hour', () => {
  const ticks = ticksOf(NOW).map(({ at, left }) => [new Date(at).toISOString().slice(11, 16), Math.round(left)]);
  expect(ticks).toEqual([
    ['13:30', 17],
    ['13:45', 42],
    ['14:00', 67],
    ['14:15', 92],
  ]);
});

test('the copy has one line for each span, in UTC', () => {
  const spans = [aSpan(30, 29), aSpan(5, null, { incident_id: '2026-11-22-1' })];
  expect(copyOf(spans).split('\n')).toEqual([
    '2026-11-22 13:50:00 to 2026-11-22 13:51:00 UTC: pool write: no route for 4.1 s',
    '2026-11-22 14:15:00 to now UTC: pool write: no route for 4.1 s (incident 2026-11-22-1)',
  ]);
});

test('the time before the start of Pointsman is a part of its own', () => {
  expect(unknownPercent(NOW - 15 * 60_000, NOW)).toBe(75);
  expect(unknownPercent(NOW - 120 * 60_000, NOW)).toBe(0);
  expect(unknownPercent(NOW + 1_000, NOW)).toBe(100);
});
