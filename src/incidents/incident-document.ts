// The document of an incident, made from what was recorded. Loaded when the first incident begins.
import type { Instant } from '../model/instant.ts';
import { findingsOf } from './findings/findings.ts';
import { missingOf } from './findings/missing.ts';
import { planOf } from './findings/plan-findings.ts';
import type { RecordedEvent } from './findings/recorded-events.ts';
import { summaryOf } from './findings/summary.ts';
import { snapshotOf, type IncidentState, type Shows } from './cluster-state.ts';
import type { RecordingEntry } from './recording.ts';
import type { IncidentDocument, IncidentEvent, IncidentKind, MissingEvidence } from './schema.ts';
import type { ReportedEvent } from '../reports/events.ts';

/** The parts of an incident. */
export interface IncidentRecord {
  readonly id: string;
  readonly state: IncidentDocument['state'];
  readonly openedAt: Instant;
  readonly settledAt: Instant | undefined;
  readonly reopenedAt: readonly Instant[];
  readonly continues: string | undefined;
  readonly continuedBy: string | undefined;
  readonly kinds: readonly IncidentKind[];
  readonly states: readonly IncidentState[];
  readonly entries: readonly RecordingEntry[];
  readonly dropped: number;
  /** The start of Pointsman. */
  readonly startedAt: Instant;
  readonly recorder: IncidentDocument['recorder'];
}

/** How the rest of the program says things. */
export interface DocumentWords extends Shows {
  /** The sentence and the fields of the log. */
  readonly message: (event: ReportedEvent) => string;
  readonly fields: (event: ReportedEvent) => Readonly<Record<string, unknown>>;
}

const UNREDACTED = 'Client addresses, users, databases and applications are shown.';

export function documentOf(recorded: IncidentRecord, words: DocumentWords): IncidentDocument {
  const { time } = words;
  const { states, settledAt } = recorded;
  const [first] = states;
  const snapshots = states.map((state) => snapshotOf(state, words));
  const events = recorded.entries.map((entry) => recordedEvent(entry, words));
  const evidence = {
    events,
    snapshots,
    since: first?.at ?? -Infinity,
    routes: new Map([...(first?.table.pools ?? [])].map(([name, { route }]) => [name, route])),
    scheduled: states.flatMap(({ snapshot }) => snapshot.switchover ?? []),
    time,
    id: words.id,
  };
  const findings = findingsOf(evidence);
  const missing: readonly MissingEvidence[] = missingOf(evidence, findings, recorded);
  const planned = planOf(findings);
  return {
    schema_version: 1,
    id: recorded.id,
    state: recorded.state,
    opened_at: time(recorded.openedAt),
    settled_at: settledAt === undefined ? null : time(settledAt),
    reopened_at: recorded.reopenedAt.map(time),
    continues: recorded.continues ?? null,
    continued_by: recorded.continuedBy ?? null,
    interrupted: false,
    cluster: {
      scope: first?.snapshot.scope ?? null,
      system_identifier: first?.snapshot.systemIdentifier ?? null,
    },
    kinds: recorded.kinds,
    planned,
    summary: summaryOf(recorded.kinds, planned, findings),
    recorder: recorded.recorder,
    redaction: { redacted: false, note: UNREDACTED },
    snapshots,
    events: events.map((event) => eventOf(event, words)),
    findings,
    missing,
  };
}

function recordedEvent(entry: RecordingEntry, { id, time, message }: DocumentWords): RecordedEvent {
  const { number, at, event, last } = entry;
  return { ...entry, id: id(number), time: time(at), lastTime: time(last.at), message: message(event) };
}

function eventOf(
  { id, time, message, event, count, last, lastTime, waits }: RecordedEvent,
  words: DocumentWords,
): IncidentEvent {
  const one = { id, time, event: event.kind, message, fields: plainFields(words.fields(event)) };
  if (count === 1) return one;
  const repeated = {
    count,
    last_id: words.id(last.number),
    last_time: lastTime,
    last_message: words.message(last.event),
    ...(waits === undefined ? {} : { waits: waits.list(), longest_wait_ms: Math.round(waits.longestMs()) }),
  };
  return { ...one, repeated };
}

/** Absent values are left out, as in JSON. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
