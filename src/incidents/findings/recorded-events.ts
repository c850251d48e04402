// The events of an incident as its findings read them: typed, with the ids and times of the document. Pure, so that a
// reader of the document can verify each finding.
import type { Route } from '../../core/routing-table.ts';
import type { Instant } from '../../model/instant.ts';
import type { ScheduledSwitchover } from '../../model/observation.ts';
import type { PoolName } from '../../model/policy.ts';
import { ofKind, type EventOf, type ReportedEvent } from '../../reports/events.ts';
import type { Shows } from '../cluster-state.ts';
import type { RecordingEntry } from '../recording.ts';
import type { Finding, FindingOf, IncidentSnapshot } from '../schema.ts';

export interface RecordedEvent extends RecordingEntry {
  readonly id: string;
  readonly time: string;
  readonly lastTime: string;
  readonly message: string;
}

export type RecordedOf<Kind extends ReportedEvent['kind']> = RecordedEvent & { readonly event: EventOf<Kind> };

export interface IncidentEvidence extends Shows {
  /** In the order of their times. */
  readonly events: readonly RecordedEvent[];
  readonly snapshots: readonly IncidentSnapshot[];
  /** The time of the first snapshot, and its routes. */
  readonly since: Instant;
  readonly routes: ReadonlyMap<PoolName, Route>;
  /** As the snapshots have them. */
  readonly scheduled: readonly ScheduledSwitchover[];
}

export type SnapshotOfPool = IncidentSnapshot['pools'][number];

type ClosedSessionEvent = EventOf<'session_closed'>;

/** Its server did not let the client in, so there was no session. */
export function isRefusedLogin({ reason }: ClosedSessionEvent): boolean {
  return reason === 'backend_refused';
}

/** A session that did not end by its client. */
export function cutSessions({ events }: IncidentEvidence): readonly RecordedOf<'session_closed'>[] {
  return ofKind(events, 'session_closed').filter(({ event }) => !isRefusedLogin(event) && event.member !== undefined);
}

export function ms(time: string): number {
  return Date.parse(time);
}

/** Seconds, to the millisecond. */
export function secondsBetween(from: string, to: string): number {
  return Math.max(0, ms(to) - ms(from)) / 1000;
}

/** Without repetitions, in the order of their first occurrence. */
export function idsOf(events: readonly (RecordedEvent | undefined)[]): readonly string[] {
  return [...new Set(events.flatMap((event) => (event === undefined ? [] : [event.id])))];
}

/** `17.32 s`, `180 ms` */
export function secondsText(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}

/** `12:00:05.120`, the time of day in UTC. */
export function clockText(time: string): string {
  return time.slice(11, 23);
}

/** The pools as the first snapshot has them. */
export function poolsOf({ snapshots }: IncidentEvidence): readonly SnapshotOfPool[] {
  return snapshots[0]?.pools ?? [];
}

/** The findings of one name. */
export function named<Name extends Finding['finding']>(
  findings: readonly Finding[],
  name: Name,
): readonly FindingOf<Name>[] {
  return findings.filter((one): one is FindingOf<Name> => one.finding === name);
}
