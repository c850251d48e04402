// The findings about clients: sessions that were cut, clients that waited, clients that were refused.
import { countText } from '../../core/describe.ts';
import { refusalText } from '../../core/refusal-words.ts';
import type { Finding, FindingOf, IncidentEvent } from '../schema.ts';
import { percentile } from '../waits.ts';
import type { Wait } from '../waits.ts';
import { amount, clockText, countOf, idsOf, isCut, isRefusedLogin, lastTime } from './document-evidence.ts';
import { secondsText, text } from './document-evidence.ts';
import type { Evidence } from './document-evidence.ts';

function grouped(
  events: readonly IncidentEvent[],
  keyOf: (event: IncidentEvent) => string,
): readonly (readonly [IncidentEvent, ...IncidentEvent[]])[] {
  const groups = new Map<string, [IncidentEvent, ...IncidentEvent[]]>();
  for (const event of events) {
    const known = groups.get(keyOf(event));
    if (known === undefined) groups.set(keyOf(event), [event]);
    else known.push(event);
  }
  return [...groups.values()];
}

function total(events: readonly IncidentEvent[]): number {
  return events.reduce((sum, event) => sum + countOf(event), 0);
}

/** How often it happened, from when to when. */
function occurrences(
  group: readonly [IncidentEvent, ...IncidentEvent[]],
): Pick<FindingOf<'sessions_cut'>['groups'][number], 'count' | 'first' | 'last' | 'event_ids'> {
  const [{ time: first }] = group;
  const last = group.map(lastTime).toSorted().at(-1) ?? first;
  return { count: total(group), first, last, event_ids: idsOf(group) };
}

export function loginsRefused({ events }: Evidence): readonly Finding[] {
  const refused = events.filter((event) => event.event === 'login_refused');
  if (refused.length === 0) return [];
  const byGroup = grouped(refused, (event) =>
    ['pool', 'member', 'sql_state'].map((name) => text(event, name)).join(' '),
  );
  const groups = byGroup.map((group) => ({
    pool: text(group[0], 'pool') ?? '',
    member: text(group[0], 'member') ?? '',
    sqlstate: text(group[0], 'sql_state') ?? null,
    ...occurrences(group),
  }));
  const parts = groups.map(
    ({ member, sqlstate, count }) =>
      `${countText(count, 'login')} refused by ${member}: ${refusalText(sqlstate ?? undefined)}`,
  );
  const said = `${parts.join('; ')}.`;
  return [{ finding: 'logins_refused', total: total(refused), groups, event_ids: idsOf(refused), text: said }];
}

export function sessionsCut({ events }: Evidence): readonly Finding[] {
  const cut = events.filter(isCut);
  if (cut.length === 0) return [];
  const byGroup = grouped(cut, (event) => ['pool', 'member', 'reason'].map((name) => text(event, name)).join(' '));
  const groups = byGroup.map((group) => ({
    pool: text(group[0], 'pool') ?? '',
    member: text(group[0], 'member') ?? '',
    reason: text(group[0], 'reason') ?? '',
    ...occurrences(group),
  }));
  const all = total(cut);
  const parts = groups.map(({ pool, member, reason, count }) => `${count} of pool ${pool} on ${member}: ${reason}`);
  const said = `${countText(all, 'session')} ${all === 1 ? 'was' : 'were'} cut: ${parts.join('; ')}.`;
  return [{ finding: 'sessions_cut', total: all, groups, event_ids: idsOf(cut), text: said }];
}

/** The waits of an entry: of one client, or of many. */
function waitsOf(event: IncidentEvent): readonly Wait[] {
  return event.repeated?.waits ?? [{ ms: amount(event, 'waited_ms') ?? 0, count: 1 }];
}

function longestOf(event: IncidentEvent): number {
  return event.repeated?.longest_wait_ms ?? amount(event, 'waited_ms') ?? 0;
}

export function holds({ events }: Evidence): readonly Finding[] {
  const ended = events.filter((event) => event.event === 'hold_ended');
  return grouped(ended, (event) => text(event, 'pool') ?? '').map((group) => {
    const waits = group.flatMap(waitsOf).toSorted((a, b) => a.ms - b.ms);
    const of = (...outcomes: readonly string[]): number =>
      total(group.filter((event) => outcomes.includes(text(event, 'outcome') ?? '')));
    const pool = text(group[0], 'pool') ?? '';
    const turnedAway = total(
      events.filter((event) => isRefusedLogin(event) && text(event, 'pool') === pool && amount(event, 'waited_ms')),
    );
    const at = (part: number): number => Math.round(percentile(waits, part)) / 1000;
    const numbers = {
      count: total(group),
      released: Math.max(0, of('released') - turnedAway),
      refused: of('timeout', 'refused') + turnedAway,
      gave_up: of('gave_up'),
      p50_seconds: at(0.5),
      p90_seconds: at(0.9),
      p99_seconds: at(0.99),
      longest_seconds: Math.round(group.reduce((most, event) => Math.max(most, longestOf(event)), 0)) / 1000,
    };
    return {
      finding: 'holds',
      pool,
      ...numbers,
      event_ids: idsOf(group),
      text: holdText(pool, numbers, group.map(lastTime).toSorted().at(-1)),
    };
  });
}

type Numbers = Omit<FindingOf<'holds'>, 'finding' | 'pool' | 'event_ids' | 'text'>;

function holdText(pool: string, numbers: Numbers, last: string | undefined): string {
  const { count, released, refused, gave_up: gaveUp, p50_seconds: half, longest_seconds: longest } = numbers;
  const ends = `${released} got a session, ${refused} were refused, ${gaveUp} gave up`;
  const waits = `half of them at most ${secondsText(half)}, the longest ${secondsText(longest)}`;
  const end = last === undefined ? '' : `; the last wait ended at ${clockText(last)}`;
  return `${countText(count, 'client')} of pool ${pool} waited (${waits}): ${ends}${end}.`;
}

export function clientsRefused({ events }: Evidence): readonly Finding[] {
  const refused = events.filter(
    (event) => event.event === 'session_closed' && !isRefusedLogin(event) && text(event, 'member') === undefined,
  );
  if (refused.length === 0) return [];
  const byGroup = grouped(refused, (event) => ['pool', 'reason'].map((name) => text(event, name)).join(' '));
  const groups = byGroup.map((group) => ({
    pool: text(group[0], 'pool') ?? '',
    reason: text(group[0], 'reason') ?? '',
    count: total(group),
    event_ids: idsOf(group),
  }));
  const parts = groups.map(({ pool, reason, count }) => `${count} of pool ${pool}: ${reason}`);
  const said = `${countText(total(refused), 'client')} never reached a member: ${parts.join('; ')}.`;
  return [{ finding: 'clients_refused', total: total(refused), groups, event_ids: idsOf(refused), text: said }];
}
