// One outage of a pool in one event: what the log says of it. Computed from the findings of its incident, so that log,
// text and page have the same numbers. Pure.
import { countText, durationText } from '../core/describe.ts';
import type { PoolName } from '../model/policy.ts';
import { mostOf, sumOf } from '../model/sums.ts';
import type { OutageEvent } from '../reports/events.ts';
import { named } from './findings/recorded-events.ts';
import type { Finding, FindingOf, IncidentDocument } from './schema.ts';

/** The pools that had no route in this incident, and have one again. */
export function restoredPools({ findings }: IncidentDocument): readonly PoolName[] {
  return [...new Set(ended(findings).map(({ pool }) => pool))];
}

/** Undefined: the incident knows no interruption of the pool that is over. */
export function outageSummary(document: IncidentDocument, pool: PoolName, isFinal: boolean): OutageEvent | undefined {
  const { findings, id, planned } = document;
  const interruptions = ended(findings).filter((one) => one.pool === pool);
  const last = interruptions.at(-1);
  if (last === undefined) return undefined;
  const holds = named(findings, 'holds').filter((one) => one.pool === pool);
  const numbers = {
    interruptions: interruptions.length,
    durationMs: Math.round(sumOf(interruptions, ({ seconds }) => (seconds ?? 0) * 1000)),
    held: sumOf(holds, ({ count }) => count),
    longestHoldMs: Math.round(mostOf(holds, (one) => one.longest_seconds) * 1000),
    refusedClients: inGroups(named(findings, 'clients_refused'), pool),
    closedSessions: inGroups(named(findings, 'sessions_cut'), pool),
  };
  const members = membersText(findings, last);
  return {
    kind: 'outage_summary',
    pool,
    incident: id,
    isFinal,
    planned,
    ...numbers,
    text: textOf(pool, id, numbers, [...(planned === 'planned' ? [planned] : []), ...members]),
  };
}

type OutageNumbers = Pick<
  OutageEvent,
  'interruptions' | 'durationMs' | 'held' | 'longestHoldMs' | 'refusedClients' | 'closedSessions'
>;

function textOf(pool: PoolName, id: string, numbers: OutageNumbers, members: readonly string[]): string {
  const { interruptions, durationMs, held, longestHoldMs, refusedClients, closedSessions } = numbers;
  const lasted = durationText(durationMs);
  const length = interruptions === 1 ? `for ${lasted}` : `${interruptions} times, ${lasted} in all`;
  const story = members.length === 0 ? '' : ` (${members.join(', ')})`;
  const longest = held === 0 ? '' : `, longest ${durationText(longestHoldMs)}`;
  const sessions = `${countText(closedSessions, 'session')} closed`;
  const clients = `${countText(held, 'client')} held${longest}, ${refusedClients} refused, ${sessions}`;
  return `pool ${pool}: no route ${length}${story}: ${clients}; incident ${id}`;
}

/** `pg-1 down`, `pg-2 is primary`, `timeline 1 -> 2` */
function membersText(findings: readonly Finding[], { interruption }: FindingOf<'no_route'>): readonly string[] {
  const [lost] = named(findings, 'decision').filter((one) => one.interruption === interruption);
  const [next] = named(findings, 'next_primary').filter((one) => one.interruption === interruption);
  const [timelines] = named(findings, 'timelines');
  const [before, after] = [timelines?.before ?? null, timelines?.after ?? null];
  const isNew = before !== null && after !== null && before !== after;
  return [
    ...(lost === undefined ? [] : [`${lost.member} ${REASONS[lost.reason] ?? lost.reason.replaceAll('_', ' ')}`]),
    ...(next === undefined ? [] : [`${next.member} is primary${next.same ? ' again' : ''}`]),
    ...(next !== undefined && isNew ? [`timeline ${before} -> ${after}`] : []),
  ];
}

/** Codes of the log field `reason` that read better as another word. */
const REASONS: Readonly<Record<string, string>> = {
  refused: 'down',
  no_answer: 'silent',
  wrong_role: 'demoted',
  other_cluster: 'of another cluster',
  switchover_due: 'switched over',
  switchover_running: 'switched over',
  restart_running: 'restarted',
};

/** An interruption of no length is a primary that changed without a time in between. */
function ended(findings: readonly Finding[]): readonly FindingOf<'no_route'>[] {
  return named(findings, 'no_route').filter(({ seconds, cause }) => seconds !== null && cause !== 'none');
}

function inGroups(
  findings: readonly { readonly groups: readonly { readonly pool: string; readonly count: number }[] }[],
  pool: PoolName,
): number {
  const groups = findings.flatMap((one) => one.groups.filter((group) => group.pool === pool));
  return sumOf(groups, ({ count }) => count);
}
