// The cluster and its primary, as this Pointsman sees them.
import { REFUSAL_KINDS, type RefusalKind, type Snapshot } from '../core/snapshot.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import { PRIMARY_CHANGES } from '../history/primary-history.ts';
import type { Moment } from '../history/route-history.ts';
import type { Families } from './families.ts';

export interface ClusterMetricsOptions {
  readonly snapshot: Snapshot;
  readonly isComplete: boolean;
  readonly history: Pick<ClusterHistory, 'primary' | 'primaryChanges'>;
  readonly refusals: readonly RefusalKind[];
}

/** Returns a function that updates the values. */
export function createClusterMetrics(families: Families): (options: ClusterMetricsOptions) => void {
  const cluster = families.gauge(
    'pointsman_cluster_info',
    'Always 1. The label is the system identifier of the cluster; it is empty while it is unknown.',
    ['system_identifier'],
  );
  const complete = families.gauge(
    'pointsman_first_round_complete',
    '1 after the first round of probes is complete; nothing is routed before.',
  );
  const refused = families.gauge(
    'pointsman_primary_refused',
    '1 while a member that claims to be primary is refused and no other primary is known, by reason.',
    ['reason'],
  );
  const setPrimary = createPrimaryMetrics(families);
  return ({ snapshot, isComplete, refusals, history }) => {
    cluster.reset();
    cluster.set({ system_identifier: snapshot.systemIdentifier ?? '' }, 1);
    complete.set(isComplete ? 1 : 0);
    for (const reason of REFUSAL_KINDS) refused.set({ reason }, refusals.includes(reason) ? 1 : 0);
    setPrimary(history);
  };
}

function createPrimaryMetrics({ gauge, counter }: Families): (history: ClusterMetricsOptions['history']) => void {
  const info = gauge('pointsman_primary_info', 'Always 1: the member that takes writes; absent while there is none.', [
    'member',
    'timeline',
  ]);
  const since = gauge(
    'pointsman_primary_since_timestamp_seconds',
    'Time since which the member that takes writes is the primary, as seen by this Pointsman (Unix time).',
    ['member'],
  );
  const changes = counter(
    'pointsman_primary_changes_total',
    'Changes of the primary: switchover (planned; or unknown, and the old primary answers) or failover (others).',
    ['kind'],
  );
  const changedAt = gauge(
    'pointsman_primary_last_change_timestamp_seconds',
    'Time of the last change of the primary, by its kind (Unix time); absent before the first.',
    ['kind'],
  );
  return (history) => {
    const current = history.primary();
    for (const metric of [info, since, changes, changedAt]) metric.reset();
    if (current !== undefined) {
      const { member, timeline } = current;
      info.set({ member, timeline: timeline === undefined ? 'unknown' : String(timeline) }, 1);
      since.set({ member }, unixSeconds(current.since));
    }
    for (const kind of PRIMARY_CHANGES) {
      const { count, last } = history.primaryChanges()[kind];
      changes.inc({ kind }, count);
      if (last !== undefined) changedAt.set({ kind }, unixSeconds(last));
    }
  };
}

/** Fixed at the event: the same time must not differ between two scrapes. */
function unixSeconds({ wallClock }: Moment): number {
  return Math.round(wallClock) / 1000;
}
