// The whole incident in one sentence, from its findings.
import { countText } from '../../core/describe.ts';
import { mostOf, sumOf } from '../../model/sums.ts';
import type { Plan } from '../../reports/events.ts';
import type { Finding, FindingOf, IncidentKind } from '../schema.ts';
import { named, secondsText } from './recorded-events.ts';

const KIND_WORDS: Readonly<Record<IncidentKind, string>> = {
  primary_lost: 'primary lost',
  no_primary_usable: 'no usable primary since the start',
  primary_changed: 'primary changed',
  two_primaries: 'two members claimed to be the primary',
  read_pool_empty: 'the read pool fell back to the primary',
  sessions_evicted: 'many sessions evicted',
  reads_late: 'many reads late',
  all_members_silent: 'all members silent',
};

const PLAN_WORDS: Readonly<Record<Plan, string>> = {
  planned: 'planned',
  unplanned: 'not planned',
  unknown: 'unclear whether planned',
};

const ABOUT_PRIMARY: readonly IncidentKind[] = ['primary_lost', 'primary_changed'];

export function summaryOf(kinds: readonly IncidentKind[], planned: Plan, findings: readonly Finding[]): string {
  const of = <Name extends Finding['finding']>(name: Name): readonly FindingOf<Name>[] => named(findings, name);
  const writes = of('no_route').filter(({ write }) => write);
  const old = of('old_primary')[0]?.member;
  const last = of('next_primary').at(-1);
  const names = [old, ...of('next_primary').map(({ member }) => member)].filter((name) => name !== undefined);
  const members = names.filter((name, index) => name !== names[index - 1]);
  const change =
    last !== undefined && members.length > 0 ? ` (${members.join(' to ')})` : old === undefined ? '' : ` (${old})`;
  const [timeline] = of('timelines');
  const what = kinds
    .filter((kind) => kind !== 'primary_changed' || !kinds.includes('primary_lost'))
    .map((kind) => `${wordsOf(kind, planned, members.length)}${ABOUT_PRIMARY.includes(kind) ? change : ''}`);
  const refused = of('members_refused').map(({ text }) => `n${text.slice(1, -1)}`);
  const isUnclear = planned === 'unknown' && kinds.includes('no_primary_usable');
  const parts = [
    ...outage(writes),
    ...(timeline === undefined || timeline.before === timeline.after
      ? []
      : [`timeline ${timeline.before ?? '?'} to ${timeline.after ?? '?'}`]),
    ...moves(of('sessions_moved')),
    ...of('reads_late').map(lateReads),
    ...of('sessions_cut').map(({ total }) => `${countText(total, 'session')} cut`),
    ...of('logins_refused').map(refusedLogins),
    ...waits(of('holds')),
    ...of('clients_refused').map(({ total }) => `${countText(total, 'client')} refused`),
    ...refused,
    ...(isUnclear ? [] : [PLAN_WORDS[planned]]),
  ];
  return `${what.join(', ')}: ${parts.join(', ')}`;
}

/** A change that an operation wanted is no loss. */
function wordsOf(kind: IncidentKind, planned: Plan, members: number): string {
  if (kind !== 'primary_lost' || planned !== 'planned') return KIND_WORDS[kind];
  return members > 1 ? 'change of the primary' : 'pause of writes';
}

/** `340 reads late on pg-3` */
function lateReads({ total, member }: FindingOf<'reads_late'>): string {
  return `${countText(total, 'read')} late on ${member}`;
}

/** The reason only if there is one alone: the finding has all of them. */
function refusedLogins({ groups, total, text }: FindingOf<'logins_refused'>): string {
  if (groups.length === 1) return text.slice(0, -1);
  const members = [...new Set(groups.map(({ member }) => member))];
  return `${countText(total, 'login')} refused by ${members.join(' and ')}`;
}

function outage(writes: readonly FindingOf<'no_route'>[]): readonly string[] {
  if (writes.length === 0) return [];
  const total = sumOf(writes, ({ seconds }) => seconds ?? 0);
  const often = writes.length === 1 ? '' : ` in ${writes.length} interruptions`;
  if (writes.some(({ to }) => to === null)) return [`no write route yet${often}`];
  return [`no write route for ${secondsText(total)}${often}`];
}

function moves(all: readonly FindingOf<'sessions_moved'>[]): readonly string[] {
  const moved = sumOf(all, (one) => one.moved);
  return moved === 0 ? [] : [`${countText(moved, 'session')} moved`];
}

function waits(holds: readonly FindingOf<'holds'>[]): readonly string[] {
  const count = sumOf(holds, (one) => one.count);
  if (count === 0) return [];
  const longest = mostOf(holds, (one) => one.longest_seconds);
  return [`${countText(count, 'client')} waited at most ${secondsText(longest)}`];
}
