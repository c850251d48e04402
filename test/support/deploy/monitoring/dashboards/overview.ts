// One cluster at a glance.
import { CHOSEN, CHOSEN_CLUSTERS, RATE } from './dashboard.ts';
import type { Dashboard, Row } from './dashboard.ts';
import { MEMBERS } from './members.ts';
import { lines, stat, states, table } from './panels.ts';

/** Names and colours of ROUTE_STATE. */
export const ROUTE_NAMES = { 0: ['open', 'green'], 1: ['clients wait', 'orange'], 2: ['closed', 'red'] } as const;
/** The route of each pool as a number; the worst one where Pointsmen differ. */
export const ROUTE_STATE = `max by (pool) ((${hasRoute('hold')} == 1) or 2 * ${hasRoute('closed')})`;

const now: Row = {
  title: 'Now',
  panels: [
    stat({
      title: 'Routes',
      description: 'Whether each pool has a member to route to. Where Pointsmen differ, the worst one is shown.',
      queries: [[`min by (pool) (pointsman_pool_route{${CHOSEN},route="open"})`, '{{pool}}']],
      unit: 'short',
      names: { 0: ['no route', 'red'], 1: ['open', 'green'] },
      alerts: ['PointsmanPoolClosed'],
      width: 4,
    }),
    stat({
      title: 'Primary',
      description: 'The member that gets the writes, and its timeline. Two names: the Pointsmen disagree.',
      queries: [
        [`max by (member, timeline) (pointsman_primary_info{${CHOSEN}})`, '{{member}} (timeline {{timeline}})'],
      ],
      unit: 'short',
      isNamed: true,
      alerts: ['PointsmanDisagreement', 'PointsmanPrimaryRefused'],
      width: 4,
    }),
    stat({
      title: 'Primary since',
      description: 'Since when the member is the primary, as Pointsman has seen it.',
      queries: [[`min(pointsman_primary_since_timestamp_seconds{${CHOSEN}}) * 1000`]],
      unit: 'dateTimeFromNow',
      width: 3,
    }),
    stat({
      title: 'Writes available, 30 days',
      description: 'Part of the last 30 days in which the pool `write` had a route, planned switchovers included.',
      queries: [[`scope_pool:pointsman_pool_available:ratio30d{${CHOSEN_CLUSTERS},pool="write"}`]],
      unit: 'percentunit',
      steps: [
        [null, 'red'],
        [0.999, 'orange'],
        [0.9995, 'green'],
      ],
      width: 4,
    }),
    stat({
      title: 'Waiting clients',
      description: 'Clients that wait for an eligible member now.',
      queries: [[`sum(pointsman_held_clients{${CHOSEN}})`]],
      unit: 'short',
      steps: [
        [null, 'green'],
        [1, 'orange'],
      ],
      alerts: ['PointsmanClientsWaiting'],
      width: 3,
    }),
    stat({
      title: 'Sessions',
      description: 'Client connections in any state.',
      queries: [[`sum(pointsman_sessions{${CHOSEN}})`]],
      unit: 'short',
      width: 3,
    }),
    stat({
      title: 'Pointsmen',
      description: 'Pointsmen of this cluster that Prometheus can read.',
      queries: [[`count(pointsman_build_info{${CHOSEN}})`]],
      unit: 'short',
      alerts: ['PointsmanDown', 'PointsmanAbsent'],
      width: 3,
    }),
    table({
      title: 'Alerts',
      description: 'Alerts of this cluster and its Pointsmen that are pending or fire. Empty: none.',
      queries: [[`ALERTS{alertname=~"Pointsman.*",job=~"$job",scope=~"|$scope"}`]],
      columns: [null],
      hidden: ['job', 'namespace', 'scope', 'container', 'endpoint', 'service'],
      width: 24,
      height: 6,
    }),
  ],
};

const routes: Row = {
  title: 'Routes',
  panels: [
    states({
      title: 'Route of each pool',
      description: 'Open, or clients wait, or clients are refused. Where Pointsmen differ, the worst one is shown.',
      queries: [[ROUTE_STATE, '{{pool}}']],
      unit: 'short',
      names: ROUTE_NAMES,
      alerts: ['PointsmanPoolClosed', 'PointsmanFallback', 'PointsmanLagging'],
      width: 12,
    }),
    states({
      title: 'Primary',
      description: 'The member that gets the writes. Two at a time: the Pointsmen disagree.',
      queries: [[`max by (member) (pointsman_primary_info{${CHOSEN}})`, '{{member}}']],
      unit: 'short',
      names: { 1: ['primary', 'blue'] },
      alerts: ['PointsmanDisagreement'],
      width: 12,
    }),
    lines({
      title: 'Availability',
      description: 'Part of the last 5 minutes and of the last hour in which each pool had a route.',
      queries: [
        [`scope_pool:pointsman_pool_available:ratio5m{${CHOSEN_CLUSTERS}}`, '{{pool}}, 5 min'],
        [`scope_pool:pointsman_pool_available:ratio1h{${CHOSEN_CLUSTERS}}`, '{{pool}}, 1 h'],
      ],
      unit: 'percentunit',
      max: 1,
      width: 12,
    }),
    lines({
      title: 'Changes of the primary in an hour',
      description: 'Planned (switchover) and unplanned (failover).',
      queries: [[`scope:pointsman_primary_changes:increase1h{${CHOSEN_CLUSTERS}}`, '{{kind}}']],
      unit: 'short',
      alerts: ['PointsmanFailoversOften'],
      width: 12,
    }),
  ],
};

const clients: Row = {
  title: 'Clients',
  panels: [
    lines({
      title: 'Sessions by state',
      description: 'Current client connections. Holding: waiting for a member. Relaying: in use.',
      queries: [[`sum by (state) (pointsman_sessions{${CHOSEN}})`, '{{state}}']],
      unit: 'short',
      isStacked: true,
      width: 8,
    }),
    lines({
      title: 'Sessions started',
      description: 'By pool, per second.',
      queries: [[`sum by (pool) (rate(pointsman_sessions_started_total{${CHOSEN}}${RATE}))`, '{{pool}}']],
      unit: 'cps',
      width: 8,
    }),
    lines({
      title: 'Sessions closed',
      description: 'By reason, per second. The reasons are those of the errors that clients get.',
      queries: [[`sum by (reason) (rate(pointsman_sessions_closed_total{${CHOSEN}}${RATE})) > 0`, '{{reason}}']],
      unit: 'cps',
      alerts: ['PointsmanClientsRefused'],
      width: 8,
    }),
    lines({
      title: 'Longest wait now',
      description: 'Time that the client that waits longest has waited, by pool.',
      queries: [[`max by (pool) (pointsman_held_clients_oldest_wait_seconds{${CHOSEN}})`, '{{pool}}']],
      unit: 's',
      alerts: ['PointsmanClientsWaiting'],
      width: 8,
    }),
    lines({
      title: 'Bytes relayed',
      description: 'By direction, per second.',
      queries: [[`sum by (direction) (rate(pointsman_relayed_bytes_total{${CHOSEN}}${RATE}))`, '{{direction}}']],
      unit: 'Bps',
      width: 8,
    }),
    lines({
      title: 'Encryption of clients',
      description: 'Startups per second: plain, terminated by Pointsman, or passed through to the member.',
      queries: [
        [
          `sum by (encryption, tls_version) (rate(pointsman_client_startups_total{${CHOSEN}}${RATE})) > 0`,
          '{{encryption}} {{tls_version}}',
        ],
      ],
      unit: 'cps',
      width: 8,
    }),
  ],
};

/** The part of a limit that is used, where there is one. */
const used = (value: string, limit: string): string => `max(${value}{${CHOSEN}} / ${limit}{${CHOSEN}})`;
/** The processor time of the main process, or of the workers. */
const cpuOf = (part: string): string => `rate(${part}_cpu_seconds_total{${CHOSEN}}${RATE})`;
const memoryOf = (part: string): string => `${part}_resident_memory_bytes{${CHOSEN}}`;
const PER_INSTANCE = 'sum without (pool, state)';

const limits: Row = {
  title: 'Limits and resources',
  panels: [
    lines({
      title: 'Use of limits',
      description: 'Part of each limit that is used, at the Pointsman that is nearest to it.',
      queries: [
        [`max(${PER_INSTANCE} (pointsman_sessions{${CHOSEN}}) / pointsman_sessions_limit{${CHOSEN}})`, 'sessions'],
        [
          `max(${PER_INSTANCE} (pointsman_held_clients{${CHOSEN}}) / pointsman_held_clients_limit{${CHOSEN}})`,
          'waiting clients',
        ],
        [used('pointsman_handshakes', 'pointsman_handshakes_limit'), 'handshakes'],
        [used('pointsman_pool_fallback_sessions', 'pointsman_pool_fallback_sessions_limit'), 'fallback'],
        [used('pointsman_event_streams', 'pointsman_event_streams_limit'), 'event streams'],
        [used('process_open_fds', 'process_max_fds'), 'open files'],
      ],
      unit: 'percentunit',
      max: 1,
      alerts: ['PointsmanSessionsNearLimit', 'PointsmanOpenFilesNearLimit'],
      width: 8,
    }),
    lines({
      title: 'CPU',
      description: 'Processor time per second, by Pointsman, main process and workers together.',
      queries: [[`sum by (instance) (${cpuOf('process')} or ${cpuOf('pointsman_worker')})`, '{{instance}}']],
      unit: 'percentunit',
      alerts: ['PointsmanBusy'],
      width: 8,
    }),
    lines({
      title: 'Memory',
      description: 'Resident memory by Pointsman, main process and workers together.',
      queries: [[`sum by (instance) (${memoryOf('process')} or ${memoryOf('pointsman_worker')})`, '{{instance}}']],
      unit: 'bytes',
      width: 8,
    }),
  ],
};

export const OVERVIEW: Dashboard = {
  name: 'overview',
  title: 'Pointsman: overview',
  description: 'One cluster behind Pointsman: routes, members, clients, limits.',
  from: 'now-6h',
  hasManyClusters: false,
  rows: [now, routes, MEMBERS, clients, limits],
};

function hasRoute(route: string): string {
  return `pointsman_pool_route{${CHOSEN},route="${route}"}`;
}
