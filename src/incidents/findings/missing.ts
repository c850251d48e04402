// The things that a document does not show, and why.
import type { Instant } from '../../model/instant.ts';
import { sumOf } from '../../model/sums.ts';
import { ofKind } from '../../reports/events.ts';
import type { Finding, FindingOf, MissingEvidence } from '../schema.ts';
import { cutSessions, poolsOf, secondsText, type IncidentEvidence } from './recorded-events.ts';

export interface Recordings {
  readonly openedAt: Instant;
  /** The start of Pointsman. */
  readonly startedAt: Instant;
  readonly dropped: number;
  /** The incident that it follows. */
  readonly continues: string | undefined;
}

export function missingOf(
  evidence: IncidentEvidence,
  findings: readonly Finding[],
  { openedAt, startedAt, dropped, continues }: Recordings,
): readonly MissingEvidence[] {
  return [
    ...(continues === undefined ? beginning(isFromStart(evidence), openedAt - startedAt) : []),
    ...(dropped > 0 ? [{ what: 'events_dropped', why: OVERRUN, count: dropped } as const] : []),
    ...workersDied(evidence),
    ...loginsHidden(evidence),
    ...gaps(findings, poolsOf(evidence).length),
    ...unseen(findings),
    OTHER_CLIENTS,
  ];
}

function beginning(isFromStart: boolean, runningMs: number): readonly MissingEvidence[] {
  if (isFromStart) return [BEFORE_START];
  if (runningMs >= BEFORE_MS) return [];
  const why = `Pointsman started ${secondsText(runningMs / 1000)} before the incident: nothing earlier is recorded.`;
  return [{ what: 'short_record', why }];
}

/** A proxy sees connections and reports, no causes and no transactions. */
function unseen(findings: readonly Finding[]): readonly MissingEvidence[] {
  const isFailure =
    findings.some((one) => one.finding === 'plan' && one.planned !== 'planned') &&
    findings.some((one) => one.finding === 'old_primary');
  const isCut = findings.some((one) => one.finding === 'sessions_cut');
  return [...(isFailure ? [CAUSE] : []), ...(isCut ? [TRANSACTIONS] : [])];
}

/** The first snapshot has no primary already. */
function isFromStart(evidence: IncidentEvidence): boolean {
  return poolsOf(evidence).some(({ exclusive, route }) => exclusive && route !== 'open');
}

const OVERRUN = 'There were more events than an incident keeps. Those from the middle are in the log only.';

const BEFORE_START: MissingEvidence = {
  what: 'before_start',
  why: 'Pointsman started when the trouble was there already: its beginning is not recorded.',
};

/** The recording goes back so far. */
const BEFORE_MS = 60_000;

const CAUSE: MissingEvidence = {
  what: 'cause',
  why: 'Why the primary was lost: see the logs of PostgreSQL and of the cluster manager on its host.',
};

const TRANSACTIONS: MissingEvidence = {
  what: 'transactions',
  why: 'Whether open transactions of the cut sessions took effect: see the applications.',
};

const OTHER_CLIENTS: MissingEvidence = {
  what: 'other_clients',
  why: 'Only clients of this Pointsman were seen, and the cluster as it answered this Pointsman.',
};

function workersDied(evidence: IncidentEvidence): readonly MissingEvidence[] {
  const died = ofKind(evidence.events, 'worker_ended');
  if (died.length === 0) return [];
  const why = 'A worker process ended. The events of its last 20 ms are lost; its sessions are counted as worker_died.';
  return [{ what: 'worker_died', why, count: died.length }];
}

/** Sessions that were cut, and whose login nobody could read. */
function loginsHidden(evidence: IncidentEvidence): readonly MissingEvidence[] {
  const hidden = cutSessions(evidence).filter(({ event }) => event.user === undefined);
  const count = sumOf(hidden, (one) => one.count);
  if (count === 0) return [];
  return [{ what: 'logins_hidden', why: 'TLS between client and server hides user and database of sessions.', count }];
}

function gaps(findings: readonly Finding[], pools: number): readonly MissingEvidence[] {
  if (pools === 0) return [{ what: 'evidence_gap', why: 'There is no snapshot from before the incident.' }];
  return findings.flatMap((one) => {
    if (one.finding !== 'old_primary' || (one.last_positive !== null && one.first_negative !== null)) return [];
    if (one.last_positive !== null && keptAnswering(one, findings)) return [];
    const which = one.last_positive === null ? 'last positive' : 'first negative';
    const where = `in interruption ${one.interruption} is not among the events`;
    const why = `The ${which} answer of ${one.member} ${where}.`;
    return [{ what: 'evidence_gap', why } as const];
  });
}

/** Until the end of its interruption: there is no negative answer to look for. */
function keptAnswering(one: FindingOf<'old_primary'>, findings: readonly Finding[]): boolean {
  const route = findings.find((other) => other.finding === 'no_route' && other.interruption === one.interruption);
  return route?.finding === 'no_route' && route.to === one.last_positive;
}
