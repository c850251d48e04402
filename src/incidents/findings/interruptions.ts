// The times in which a pool had no route: the recorded changes of its route, replayed in the account of routes.
import { ofKind } from '../../reports/events.ts';
import { RouteHistory, type Interruption, type Moment } from '../../history/route-history.ts';
import type { Instant } from '../../model/instant.ts';
import { poolsOf, type IncidentEvidence, type SnapshotOfPool, type RecordedEvent } from './recorded-events.ts';

export interface RecordedInterruption {
  /** From 1; pools of the primary come first. */
  readonly number: number;
  readonly pool: SnapshotOfPool;
  readonly loss: Interruption;
  readonly from: string;
  readonly to: string | undefined;
  readonly lost: RecordedEvent | undefined;
  readonly reopened: RecordedEvent | undefined;
  /** The end of the interruption before this one of the same pool. */
  readonly earliest: string | undefined;
}

export function interruptionsOf(evidence: IncidentEvidence): readonly RecordedInterruption[] {
  const pools = poolsOf(evidence).toSorted((a, b) => Number(b.exclusive) - Number(a.exclusive));
  return pools.flatMap((pool) => ofPool(pool, evidence)).map((one, index) => ({ number: index + 1, ...one }));
}

function ofPool(pool: SnapshotOfPool, evidence: IncidentEvidence): readonly Omit<RecordedInterruption, 'number'>[] {
  const { time, since } = evidence;
  const changes = ofKind(evidence.events, 'route_changed').filter(
    ({ event, at }) => event.pool === pool.name && at >= since,
  );
  const routes = new RouteHistory(momentOf(since));
  const first = evidence.routes.get(pool.name);
  if (first !== undefined) routes.take({ pool: pool.name, from: first, to: first }, momentOf(since));
  const ended = changes.flatMap(({ event, at }) => routes.take(event, momentOf(at)) ?? []);
  const last = routes.interruption(pool.name);
  const all = last === undefined || last.to !== undefined ? ended : [...ended, last];
  const changeAt = (moment: Moment | undefined, isOpen: boolean): RecordedEvent | undefined =>
    changes.find(({ event, at }) => at === moment?.at && (event.to.kind === 'open') === isOpen);
  return all
    .filter(({ before, cause }) => (pool.exclusive ? true : before !== undefined && cause !== 'none'))
    .map((loss) => ({
      pool,
      loss,
      from: time(loss.from.at),
      to: loss.to && time(loss.to.at),
      lost: changeAt(loss.from, loss.cause === 'none'),
      reopened: changeAt(loss.to, true),
      earliest: loss.precedingEnd === undefined ? undefined : time(loss.precedingEnd),
    }));
}

function momentOf(at: Instant): Moment {
  return { at, wallClock: at };
}
