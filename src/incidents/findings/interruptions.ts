// The times in which a pool had no route, from the events of its route.
import type { IncidentEvent } from '../schema.ts';
import { names, poolsOf, text } from './document-evidence.ts';
import type { Evidence, PoolPicture } from './document-evidence.ts';

export interface Interruption {
  /** From 1; pools of the primary come first. */
  readonly number: number;
  readonly pool: PoolPicture;
  readonly from: string;
  readonly to: string | undefined;
  /** `closed`, or the cause of the hold. `none`: the primary changed without a time in between. */
  readonly cause: string;
  readonly lost: IncidentEvent | undefined;
  readonly reopened: IncidentEvent | undefined;
  /** The member that served the pool before, and after. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The end of the interruption before this one of the same pool. */
  readonly earliest: string | undefined;
}

type Found = Omit<Interruption, 'number'>;

export function interruptionsOf(evidence: Evidence): readonly Interruption[] {
  const pools = poolsOf(evidence).toSorted((a, b) => Number(b.exclusive) - Number(a.exclusive));
  return pools.flatMap((pool) => ofPool(pool, evidence)).map((found, index) => ({ number: index + 1, ...found }));
}

function ofPool(pool: PoolPicture, { events, snapshots }: Evidence): readonly Found[] {
  const found: Found[] = [];
  const since = snapshots[0]?.time ?? '';
  let before = pool.members[0];
  let earliest: string | undefined;
  let open: Found | undefined =
    pool.route === 'open' || pool.cause === 'starting' || !pool.exclusive
      ? undefined
      : begin({ pool, from: since, cause: pool.cause ?? 'closed', lost: undefined, before, earliest });
  let wasOpen = pool.route === 'open' || pool.exclusive;
  const changes = events.filter((event) => event.event === 'route_changed' && text(event, 'pool') === pool.name);
  for (const event of changes.filter(({ time }) => time >= since)) {
    const to = text(event, 'to');
    const [after] = names(event, 'members');
    if (to !== 'open') {
      const cause = to === 'closed' ? 'closed' : (text(event, 'cause') ?? 'closed');
      const isLoss = open === undefined && cause !== 'starting' && wasOpen;
      if (isLoss) open = begin({ pool, from: event.time, cause, lost: event, before, earliest });
      continue;
    }
    const isDirect = open === undefined && pool.exclusive && before !== undefined && after !== before;
    if (isDirect) open = begin({ pool, from: event.time, cause: 'none', lost: event, before, earliest });
    if (open !== undefined) {
      found.push({ ...open, to: event.time, reopened: event, after });
      earliest = event.time;
    }
    open = undefined;
    before = after;
    wasOpen = true;
  }
  return open === undefined ? found : [...found, open];
}

function begin(start: Omit<Found, 'to' | 'reopened' | 'after'>): Found {
  return { ...start, to: undefined, reopened: undefined, after: undefined };
}
