// Any sequence of events: documents stay bounded and match their schema, cite only events that they have, have their
// times in order, and no loss of the primary is without an incident.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { incidentDocument } from '../../../src/incidents/schema.ts';
import type { IncidentDocument } from '../../../src/incidents/schema.ts';
import { incidentText, MOST_BYTES } from '../../../src/incidents/incident-text.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { incidentLab, NOON, routeChange } from '../../support/fakes/incident-lab.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';
import { rounds } from '../../support/runner/ci.ts';

const member = fc.constantFrom('pg-1', 'pg-2', 'pg-3');
const pool = fc.constantFrom('write', 'read');
const samples = Object.values(EVENT_SAMPLES).flatMap((each): readonly ReportedEvent[] => each.samples);

const routes = fc
  .tuple(pool, fc.uniqueArray(member, { maxLength: 2 }))
  .map(([name, members]) => routeChange(name, ...members));
const probes = fc
  .record({ member, outcome: fc.constantFrom('yes', 'no', 'refused', 'timeout', 'local') })
  .map((probe): ReportedEvent => ({
    kind: 'probe_finished',
    check: '/primary',
    detail: undefined,
    durationMs: 3,
    ...probe,
  }));
const closes = fc
  .record({
    member: fc.option(member, { nil: undefined }),
    reason: fc.constantFrom('evicted_dead', 'backend_reset', 'client_closed', 'hold_timeout'),
    user: fc.option(fc.string(), { nil: undefined }),
  })
  .map(({ user, ...close }): ReportedEvent => ({
    kind: 'session_closed',
    pool: 'write',
    session: 1,
    client: '10.0.0.9:4711',
    detail: undefined,
    durationMs: 5,
    toBackendBytes: 1,
    toClientBytes: 1,
    ...close,
    ...(user === undefined ? {} : { user, database: user }),
  }));
const holds = fc
  .record({ waitedMs: fc.double({ min: 0, max: 1e7, noNaN: true }) })
  .map(({ waitedMs }): ReportedEvent => ({
    kind: 'hold_ended',
    pool: 'write',
    session: 2,
    outcome: 'released',
    waitedMs,
  }));

/** Many equal events at once, and late ones of workers. */
const steps = fc.record({
  event: fc.oneof(routes, probes, closes, holds, fc.constantFrom(...samples)),
  times: fc.oneof(fc.constant(1), fc.constant(1), fc.constantFrom(30, 400)),
  lateMs: fc.constantFrom(0, 0, 20),
  thenMs: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.constantFrom(11_000, 61_000, 3_600_001)),
});

/** The most events of a document: decisions, probes, sessions, traffic. */
const MOST_EVENTS = 900;

function check(document: IncidentDocument): void {
  expect(incidentDocument.safeParse(document).error).toBeUndefined();
  expect(document.events.length).toBeLessThanOrEqual(MOST_EVENTS);
  const ids = document.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const cited = document.findings.flatMap((one) => [
    ...one.event_ids,
    ...('groups' in one ? one.groups.flatMap((group) => group.event_ids) : []),
  ]);
  expect(cited.filter((id) => !ids.includes(id))).toEqual([]);
  const times = document.events.map(({ time }) => time);
  expect(times).toEqual(times.toSorted());
  for (const { time, repeated } of document.events)
    if (repeated !== undefined) expect(repeated.last_time >= time).toBe(true);
  if (document.settled_at !== null) expect(document.settled_at >= document.opened_at).toBe(true);
  for (const one of document.findings) {
    if ('from' in one && one.to !== null) expect(one.to >= one.from).toBe(true);
  }
  expect(Buffer.byteLength(incidentText(document))).toBeLessThanOrEqual(MOST_BYTES);
}

test('any history gives incidents that hold together, and none is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (history) => {
      const { clock, recorder, changes, faults, take } = incidentLab();
      const losses: string[] = [];
      let isOpen = false;
      for (const { event, times, lateMs, thenMs } of history) {
        if (event.kind === 'route_changed' && event.pool === 'write') {
          if (isOpen && event.to.kind !== 'open') losses.push(new Date(NOON + clock.now()).toISOString());
          isOpen = event.to.kind === 'open';
        }
        const isLate = event.kind === 'session_closed' || event.kind === 'hold_ended';
        const at = Math.max(0, clock.now() - (isLate ? lateMs : 0));
        for (let time = 1; time <= times; time += 1) take(event, at);
        await clock.advance(thenMs);
      }
      await clock.advance(200_000);
      await recorder.close();
      expect(faults).toEqual([]);
      const newest = new Map(changes.map(({ document }) => [document.id, document]));
      for (const document of newest.values()) check(document);
      const spans = [...newest.values()].map(({ opened_at: from, settled_at: to }) => ({ from, to: to ?? '9' }));
      const lost = losses.filter((time) => !spans.some(({ from, to }) => from <= time && time <= to));
      expect(lost).toEqual([]);
      for (const { id } of recorder.list()) {
        const kept = await recorder.get(id, {});
        if (kept === undefined) throw new Error(`${id} is listed and cannot be read`);
        check(kept);
      }
    }),
    { numRuns: rounds(20, 60) },
  );
});
