// The cluster and its primary, as this Pointsman sees them.
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import { PRIMARY_CHANGES } from '../history/primary-history.ts';
import type { Moment } from '../history/route-history.ts';
import { flag, scraped, scrapedNumber, type ScrapedMetric } from './scrape.ts';

export const CLUSTER_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_cluster_info',
    'Always 1. The label is the system identifier of the cluster; it is empty while it is unknown.',
    ['system_identifier'],
    ({ snapshot }) => [[{ system_identifier: snapshot.systemIdentifier ?? '' }, 1]],
  ),
  scrapedNumber(
    'pointsman_first_round_complete',
    '1 after the first round of probes is complete; nothing is routed before.',
    ({ table }) => flag(table.complete),
  ),
  scraped(
    'pointsman_primary_refused',
    '1 while a member that claims to be primary is refused and no other primary is known, by reason.',
    ['reason'],
    ({ refusals }) => REFUSAL_KINDS.map((reason) => [{ reason }, flag(refusals.includes(reason))]),
  ),
  scraped(
    'pointsman_primary_info',
    'Always 1: the member that takes writes; absent while there is none.',
    ['member', 'timeline'],
    ({ history }) => {
      const { member, timeline = 'unknown' } = history.primary() ?? {};
      return member === undefined ? [] : [[{ member, timeline: String(timeline) }, 1]];
    },
  ),
  scraped(
    'pointsman_primary_since_timestamp_seconds',
    'Time since which the member that takes writes is the primary, as seen by this Pointsman (Unix time).',
    ['member'],
    ({ history }) => {
      const { member, since } = history.primary() ?? {};
      return member === undefined ? [] : [[{ member }, unixTime(since)]];
    },
  ),
  scraped(
    'pointsman_primary_changes_total',
    'Changes of the primary: switchover (planned; or unknown, and the old primary answers) or failover (others).',
    ['kind'],
    ({ history }) => PRIMARY_CHANGES.map((kind) => [{ kind }, history.primaryChanges()[kind].count]),
  ),
  scraped(
    'pointsman_primary_last_change_timestamp_seconds',
    'Time of the last change of the primary, by its kind (Unix time); absent before the first.',
    ['kind'],
    ({ history }) => PRIMARY_CHANGES.map((kind) => [{ kind }, unixTime(history.primaryChanges()[kind].last)]),
  ),
];

/** Fixed at the event: the same time must not differ between two scrapes. */
function unixTime(moment: Moment | undefined): number | undefined {
  return moment && Math.round(moment.wallClock) / 1000;
}
