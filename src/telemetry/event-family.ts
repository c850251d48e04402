// A metric of events. prom-client finds the series anew for each value, which would be a good part of the cost of a
// session. So the values of a known series wait here, and prom-client gets them together at the scrape.
import type { Registry } from 'prom-client';
import type { MemberName } from '../model/member.ts';
import { familyIn, type Labels } from './families.ts';

interface EventFamily<Label extends string> {
  /** Increases a total, sets a gauge, or takes milliseconds into a histogram of seconds. */
  readonly put: (labels: Labels<Label>, value: number) => void;
  /** Creates a series. In a histogram it has no value yet. */
  readonly begin: (labels: Labels<Label>, value: number) => void;
  /** Removes the series of all other members. Values that wait are removed as well. */
  readonly retain: (members: ReadonlySet<MemberName>) => void;
}

interface EventSeries<Label extends string> {
  readonly of: Labels<Label> & { readonly member?: MemberName };
  /** The increase of a total that waits. */
  sum: number;
  /** The values of a histogram that wait. Milliseconds. */
  values: number[] | undefined;
}

/** A series of a histogram keeps so many values at most, for a program that nobody scrapes. */
const MOST_WAITING = 256;

export function eventFamilyIn<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labels: readonly Label[],
  buckets?: readonly number[],
): EventFamily<Label> {
  const all = new Map<string, EventSeries<Label>>();
  const collect = (): void => all.forEach(give);
  const family = familyIn(registry, name, help, labels, buckets, collect);
  const give = (series: EventSeries<Label>): void => {
    if (series.sum > 0) family.put(series.of, series.sum);
    series.sum = 0;
    for (const ms of series.values ?? []) family.put(series.of, ms);
    series.values = undefined;
  };
  /** Undefined: it was not known, and is from now on. */
  const known = (of: Labels<Label>): EventSeries<Label> | undefined => {
    const key = keyOf(labels, of);
    const found = all.get(key);
    if (found === undefined) all.set(key, { of, sum: 0, values: undefined });
    return found;
  };
  const isTotal = name.endsWith('_total');
  const put = (of: Labels<Label>, value: number): void => {
    const series = known(of);
    // prom-client creates the series, and says why it does not take a value.
    const mayWait = series !== undefined && value > 0 && value < Infinity;
    if (mayWait && buckets !== undefined) {
      const values = (series.values ??= []);
      values.push(value);
      if (values.length === MOST_WAITING) give(series);
    } else if (mayWait && isTotal) series.sum += value;
    else family.put(of, value);
  };
  const begin = (of: Labels<Label>, value: number): void => {
    known(of);
    family.begin(of, value);
  };
  const retain = (members: ReadonlySet<MemberName>): void => {
    for (const [key, { of }] of all) {
      if (of.member === undefined || members.has(of.member)) continue;
      family.remove(of);
      all.delete(key);
    }
  };
  return { put, begin, retain };
}

/** Values of labels are names without NUL. */
function keyOf<Label extends string>(labels: readonly Label[], of: Labels<Label>): string {
  let key = '';
  for (const label of labels) key = key === '' ? of[label] : `${key}\0${of[label]}`;
  return key;
}
