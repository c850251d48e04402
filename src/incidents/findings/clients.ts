// The findings about clients: sessions that were cut, clients that waited, clients that were refused.
import { countText } from '../../core/describe.ts';
import { refusalText } from '../../core/refusal-words.ts';
import { mostOf, sumOf } from '../../model/sums.ts';
import { ofKind, type EventOf, type HoldOutcome } from '../../reports/events.ts';
import type { Finding, FindingOf } from '../schema.ts';
import { percentile, type Wait } from '../waits.ts';
import { clockText, cutSessions, idsOf, isRefusedLogin, secondsText } from './recorded-events.ts';
import type { IncidentEvidence, RecordedEvent, RecordedOf } from './recorded-events.ts';

/** A row for each group of events with one key, from its first event and all of them. */
function rowsOf<Kind extends RecordedEvent['event']['kind'], Row>(
  events: readonly RecordedOf<Kind>[],
  keyOf: (event: EventOf<Kind>) => string,
  rowOf: (first: EventOf<Kind>, group: readonly RecordedOf<Kind>[]) => Row,
): readonly Row[] {
  const groups = [...Map.groupBy(events, ({ event }) => keyOf(event)).values()];
  return groups.flatMap((group) => (group[0] === undefined ? [] : [rowOf(group[0].event, group)]));
}

function total(events: readonly RecordedEvent[]): number {
  return sumOf(events, ({ count }) => count);
}

function lastTimeOf(group: readonly RecordedEvent[]): string {
  return group.reduce((last, { lastTime }) => (lastTime > last ? lastTime : last), '');
}

/** How often it happened, from when to when. */
function occurrences(
  group: readonly RecordedEvent[],
): Pick<FindingOf<'sessions_cut'>['groups'][number], 'count' | 'first' | 'last' | 'event_ids'> {
  return { count: total(group), first: group[0]?.time ?? '', last: lastTimeOf(group), event_ids: idsOf(group) };
}

export function loginsRefused(evidence: IncidentEvidence): readonly Finding[] {
  const refused = ofKind(evidence.events, 'login_refused');
  if (refused.length === 0) return [];
  const groups = rowsOf(
    refused,
    ({ pool, member, sqlState }) => `${pool} ${member} ${sqlState}`,
    ({ pool, member, sqlState }, group) => ({ pool, member, sqlstate: sqlState ?? null, ...occurrences(group) }),
  );
  const parts = groups.map(
    ({ member, sqlstate, count }) =>
      `${countText(count, 'login')} refused by ${member}: ${refusalText(sqlstate ?? undefined)}`,
  );
  const said = `${parts.join('; ')}.`;
  return [{ finding: 'logins_refused', total: total(refused), groups, event_ids: idsOf(refused), text: said }];
}

export function sessionsCut(evidence: IncidentEvidence): readonly Finding[] {
  const cut = cutSessions(evidence);
  if (cut.length === 0) return [];
  const groups = rowsOf(
    cut,
    ({ pool, member, reason }) => `${pool} ${member} ${reason}`,
    ({ pool, member = '', reason }, group) => ({ pool, member, reason, ...occurrences(group) }),
  );
  const all = total(cut);
  const parts = groups.map(({ pool, member, reason, count }) => `${count} of pool ${pool} on ${member}: ${reason}`);
  const said = `${countText(all, 'session')} ${all === 1 ? 'was' : 'were'} cut: ${parts.join('; ')}.`;
  return [{ finding: 'sessions_cut', total: all, groups, event_ids: idsOf(cut), text: said }];
}

type HoldEnd = RecordedOf<'hold_ended'>;

/** The waits of an entry: of one client, or of many. */
function waitsOf({ event, count, waits }: HoldEnd): readonly Wait[] {
  return count === 1 ? [{ ms: event.waitedMs, count }] : (waits?.list() ?? []);
}

export function holds(evidence: IncidentEvidence): readonly Finding[] {
  return rowsOf(
    ofKind(evidence.events, 'hold_ended'),
    ({ pool }) => pool,
    ({ pool }, group) => holdsOf(pool, group, evidence),
  );
}

function holdsOf(pool: string, group: readonly HoldEnd[], evidence: IncidentEvidence): Finding {
  const waits = group.flatMap(waitsOf).toSorted((a, b) => a.ms - b.ms);
  const of = (...outcomes: readonly HoldOutcome[]): number =>
    total(group.filter(({ event }) => outcomes.includes(event.outcome)));
  const turnedAway = total(
    ofKind(evidence.events, 'session_closed').filter(
      ({ event }) => isRefusedLogin(event) && event.pool === pool && event.waitedMs !== undefined,
    ),
  );
  const at = (part: number): number => Math.round(percentile(waits, part)) / 1000;
  const longestMs = mostOf(group, (one) => one.waits?.longestMs() ?? 0);
  const numbers = {
    count: total(group),
    released: Math.max(0, of('released') - turnedAway),
    refused: of('timeout', 'refused') + turnedAway,
    gave_up: of('gave_up'),
    p50_seconds: at(0.5),
    p90_seconds: at(0.9),
    p99_seconds: at(0.99),
    longest_seconds: Math.round(longestMs) / 1000,
  };
  return {
    finding: 'holds',
    pool,
    ...numbers,
    event_ids: idsOf(group),
    text: holdText(pool, numbers, lastTimeOf(group)),
  };
}

type HoldNumbers = Omit<FindingOf<'holds'>, 'finding' | 'pool' | 'event_ids' | 'text'>;

function holdText(pool: string, numbers: HoldNumbers, last: string): string {
  const { count, released, refused, gave_up: gaveUp, p50_seconds: half, longest_seconds: longest } = numbers;
  const ends = `${released} got a session, ${refused} were refused, ${gaveUp} gave up`;
  const waits = `half of them at most ${secondsText(half)}, the longest ${secondsText(longest)}`;
  const end = `the last wait ended at ${clockText(last)}`;
  return `${countText(count, 'client')} of pool ${pool} waited (${waits}): ${ends}; ${end}.`;
}

export function clientsRefused(evidence: IncidentEvidence): readonly Finding[] {
  const refused = ofKind(evidence.events, 'session_closed').filter(
    ({ event }) => !isRefusedLogin(event) && event.member === undefined,
  );
  if (refused.length === 0) return [];
  const groups = rowsOf(
    refused,
    ({ pool, reason }) => `${pool} ${reason}`,
    ({ pool, reason }, group) => ({ pool, reason, count: total(group), event_ids: idsOf(group) }),
  );
  const parts = groups.map(({ pool, reason, count }) => `${count} of pool ${pool}: ${reason}`);
  const said = `${countText(total(refused), 'client')} never reached a member: ${parts.join('; ')}.`;
  return [{ finding: 'clients_refused', total: total(refused), groups, event_ids: idsOf(refused), text: said }];
}
