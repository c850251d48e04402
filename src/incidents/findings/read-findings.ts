// The finding about causal reads that were late, from the events that tell of them.
import { countText } from '../../core/describe.ts';
import { sumOf } from '../../model/sums.ts';
import { ofKind } from '../../reports/events.ts';
import type { Finding } from '../schema.ts';
import { idsOf, ms, secondsText, type IncidentEvidence, type RecordedOf } from './recorded-events.ts';

type LateReads = RecordedOf<'reads_late'>;

export function readsLate(evidence: IncidentEvidence): readonly Finding[] {
  const late = ofKind(evidence.events, 'reads_late');
  return [...Map.groupBy(late, ({ event: { pool, member } }) => `${pool} ${member}`).values()].flatMap(findingOf);
}

/** A member and a pool. The count of an entry is that of its reads. */
function findingOf(group: readonly LateReads[]): readonly Finding[] {
  const [first] = group;
  if (first === undefined) return [];
  const { pool, member } = first.event;
  const of = (result: LateReads['event']['result']): number =>
    sumOf(
      group.filter(({ event }) => event.result === result),
      ({ count }) => count,
    );
  const numbers = {
    total: sumOf(group, ({ count }) => count),
    moved: of('moved'),
    refused: of('error'),
    stale: of('stale'),
  };
  const from = group.reduce((least, { time }) => (time < least ? time : least), first.time);
  const to = group.reduce((last, { lastTime }) => (lastTime > last ? lastTime : last), first.lastTime);
  const seconds = Math.max(0, ms(to) - ms(from)) / 1000;
  const fates = [
    ...(numbers.moved === 0 ? [] : [`${numbers.moved} moved`]),
    ...(numbers.refused === 0 ? [] : [`${numbers.refused} refused`]),
    ...(numbers.stale === 0 ? [] : [`${numbers.stale} ran all the same`]),
  ];
  const lasted = numbers.total === 1 ? '' : ` for ${secondsText(seconds)}`;
  const were = `${countText(numbers.total, 'read')} of pool ${pool} ${numbers.total === 1 ? 'was' : 'were'} late`;
  const text = `${were} on ${member}${lasted}: ${fates.join(', ')}. ${lastWhy(group)}`;
  return [{ finding: 'reads_late', pool, member, ...numbers, from, to, seconds, event_ids: idsOf(group), text }];
}

/** The sentence of the newest. */
function lastWhy(group: readonly LateReads[]): string {
  const newest = group.reduce((last, one) => (one.lastTime >= last.lastTime ? one : last)).last.event;
  return newest.kind === 'reads_late' ? newest.why : '';
}
