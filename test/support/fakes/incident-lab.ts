// A flight recorder with a clock of its own, and a cluster state that stays as it is. Tests give it events.
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { HoldCause, Route } from '../../../src/core/routing-table.ts';
import type { IncidentChange } from '../../../src/incidents/publisher.ts';
import { FlightRecorder } from '../../../src/incidents/recorder.ts';
import type { FlightRecorderOptions } from '../../../src/incidents/recorder.ts';
import type { IncidentDocument } from '../../../src/incidents/schema.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { logFields } from '../../../src/telemetry/log-fields.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../values/builders.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

// Loaded before the first incident, so that the clock of a test does not run ahead of it.
await import('../../../src/incidents/incident-document.ts');

const policy = aPolicy();
const snapshot = aSnapshot(policy, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0));
const table = decideRoutes(policy, snapshot, 0);

/** 2026-11-22, noon. */
export const NOON = Date.UTC(2026, 10, 22, 12);

export function incidentLab(own: Partial<FlightRecorderOptions> = {}) {
  const clock = new ManualClock(0);
  const ids = new EventIds('r1');
  const faults: unknown[] = [];
  const changes: { readonly change: IncidentChange; readonly document: IncidentDocument }[] = [];
  const recorder = new FlightRecorder({
    clock,
    wallClock: () => NOON + clock.now(),
    ids,
    version: '1.2.3',
    workers: 1,
    words: { message: (event) => logLine(event, true).text(), fields: logFields },
    known: () => ({ table, snapshot, pools: policy.pools }),
    counts: () => new Map(),
    archive: { directory: undefined, maxBytes: 1024 * 1024, keep: 50, onFailing: (why) => faults.push(why) },
    onFault: (error) => faults.push(error),
    ...own,
  });
  recorder.subscribe((change, document) => changes.push({ change, document }));
  recorder.tableChanged();
  recorder.tableChanged();
  const take = (event: ReportedEvent, at = clock.now()): void => recorder.take(event, ids.next(), at);
  return { clock, ids, recorder, changes, faults, take };
}

/** The first incident, after these steps: milliseconds to wait, or an event. */
export async function storyIn(
  { clock, recorder, take }: ReturnType<typeof incidentLab>,
  ...steps: readonly (number | ReportedEvent)[]
): Promise<IncidentDocument> {
  for (const step of steps) {
    if (typeof step === 'number') await clock.advance(step);
    else take(step);
  }
  const document = await recorder.get('2026-11-22-1', { isUnredacted: true });
  if (document === undefined) throw new Error('there is no incident');
  return document;
}

/** From now on `pool` is open on these members; without any, its clients wait. */
export function routeChange(pool: string, ...members: readonly string[]): ReportedEvent {
  return { kind: 'route_changed', pool, from: undefined, to: routeOn(members) };
}

/** From now on clients of `pool` wait for this reason. */
export function holdChange(pool: string, cause: HoldCause): ReportedEvent {
  return { kind: 'route_changed', pool, from: undefined, to: { kind: 'hold', cause } };
}

function routeOn(members: readonly string[]): Route {
  const [first, ...others] = members.map((member, index) => ({
    member,
    address: { host: '10.0.0.1', port: 5432 + index },
  }));
  if (first === undefined) return { kind: 'hold', cause: 'no_member' };
  return { kind: 'open', targets: [first, ...others], fallback: undefined };
}
