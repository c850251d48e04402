// Metrics that change with each event. Each is one row: its name, its help, its labels, what each kind of event adds,
// and the series that exist before an event, so that their first increase is visible.
import type { Registry } from 'prom-client';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import { handle, type EventHandlers, type ReportedEvent } from '../reports/events.ts';
import { familyIn, type Labels, type Series } from './families.ts';

interface EventTotal {
  /** The label whose values come and go. */
  readonly owner: 'pool' | 'member' | 'none';
  /** The kinds of events that change it. */
  readonly kinds: readonly string[];
  readonly count: (event: ReportedEvent) => void;
  /** Creates the series that exist before an event. */
  readonly begin: (of: string) => void;
  readonly retain: (members: ReadonlySet<MemberName>) => void;
}

/** Creates the metric. */
export type EventMetric = (registry: Registry) => EventTotal;

interface EventMetricOptions<Label extends string> {
  /** Those of a histogram, in seconds. The events give milliseconds. */
  readonly buckets?: readonly number[];
  /** The series of a pool or member, or all of them, before an event. */
  readonly initial?: (of: string) => readonly Series<Label>[];
}

export function ofEvents<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
  on: EventHandlers<[], readonly Series<Label>[]>,
  { buckets, initial = () => [] }: EventMetricOptions<Label> = {},
): EventMetric {
  const names: readonly string[] = labels;
  const owner = names.includes('member') ? 'member' : names.includes('pool') ? 'pool' : 'none';
  return (registry) => {
    const family = familyIn(registry, name, help, labels, buckets);
    /** The series of members. */
    const seen = new Map<string, Labels<Label> & { readonly member?: MemberName }>();
    const tell = (all: readonly Series<Label>[], put: typeof family.put): void => {
      for (const [of, value] of all) {
        put(of, value);
        if (owner === 'member') seen.set(Object.values(of).join(' '), of);
      }
    };
    return {
      owner,
      kinds: Object.keys(on),
      count: (event) => tell(handle(on, event) ?? [], family.put),
      begin: (of) => tell(initial(of), family.begin),
      retain: (members) => {
        for (const [key, of] of seen) {
          if (members.has(of.member ?? '')) continue;
          family.remove(of);
          seen.delete(key);
        }
      },
    };
  };
}

export interface EventTotals {
  readonly count: (event: ReportedEvent) => void;
  /** Creates the series of new pools. */
  readonly learn: (pools: readonly PoolName[]) => void;
  /** Drops the series of all other members. */
  readonly retain: (members: ReadonlySet<MemberName>) => void;
}

export function createEventTotals(registry: Registry, metrics: readonly EventMetric[]): EventTotals {
  const totals = metrics.map((create) => create(registry));
  // Each session has several events, and an event changes few metrics.
  const byKind = new Map<string, EventTotal[]>();
  for (const total of totals) for (const kind of total.kinds) byKind.set(kind, [...(byKind.get(kind) ?? []), total]);
  const known = new Set<PoolName>();
  let members: ReadonlySet<MemberName> = new Set();
  const begin = (owner: EventTotal['owner'], names: readonly string[]): void => {
    for (const total of totals) if (total.owner === owner) names.forEach(total.begin);
  };
  const retain: EventTotals['retain'] = (kept) => totals.forEach((total) => total.retain(kept));
  begin('none', ['']);
  return {
    count: (event) => {
      for (const total of byKind.get(event.kind) ?? []) total.count(event);
      if (event.kind !== 'members_changed') return;
      begin('member', event.added);
      // A member may leave without a scrape.
      members = new Set([...members, ...event.added]).difference(new Set(event.removed));
      retain(members);
    },
    learn: (pools) => {
      begin(
        'pool',
        pools.filter((pool) => !known.has(pool)),
      );
      for (const pool of pools) known.add(pool);
    },
    retain,
  };
}
