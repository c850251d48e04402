// Many Pointsmen, of one cluster or of many: which of them needs attention.
import { CHOSEN, CHOSEN_CLUSTERS, RATE } from './dashboard.ts';
import type { Dashboard, Row } from './dashboard.ts';
import { lines, stat, table } from './panels.ts';
import type { Step } from './panels.ts';

const BAD_FROM_ONE: readonly Step[] = [
  [null, 'green'],
  [1, 'red'],
];
const RANGE = '[$__range]';
const GOOD_AT_ZERO = 'or vector(0)';
const KNOWN = `last_over_time(pointsman_build_info{${CHOSEN}}[1d])`;

const now: Row = {
  title: 'Now',
  panels: [
    stat({
      title: 'Pointsmen',
      description: 'Pointsmen that Prometheus can read.',
      queries: [[`count(pointsman_build_info{${CHOSEN}})`]],
      unit: 'short',
      alerts: ['PointsmanAbsent'],
      width: 3,
    }),
    stat({
      title: 'Not reachable',
      description: 'Pointsmen that answered within the last day, and that Prometheus cannot read now.',
      queries: [[`count(up{job=~"$job"} == 0 and on (namespace, job, pod, instance) ${KNOWN}) ${GOOD_AT_ZERO}`]],
      unit: 'short',
      steps: BAD_FROM_ONE,
      alerts: ['PointsmanDown'],
      width: 3,
    }),
    stat({
      title: 'Not ready',
      description: 'Pointsmen that have not completed their first round of probes.',
      queries: [[`count(pointsman_first_round_complete{${CHOSEN}} == 0) ${GOOD_AT_ZERO}`]],
      unit: 'short',
      steps: BAD_FROM_ONE,
      alerts: ['PointsmanNotReady'],
      width: 3,
    }),
    stat({
      title: 'Without a write route',
      description: 'Pointsmen whose pool `write` has no member to route to.',
      queries: [[`count(pointsman_pool_route{${CHOSEN},pool="write",route="open"} == 0) ${GOOD_AT_ZERO}`]],
      unit: 'short',
      steps: BAD_FROM_ONE,
      alerts: ['PointsmanPoolClosed'],
      width: 3,
    }),
    stat({
      title: 'Clusters in disagreement',
      description: 'Clusters whose Pointsmen route writes to different members.',
      queries: [
        [`count(count by (scope) (count by (scope, member) (pointsman_primary_info{${CHOSEN}})) > 1) ${GOOD_AT_ZERO}`],
      ],
      unit: 'short',
      steps: BAD_FROM_ONE,
      alerts: ['PointsmanDisagreement'],
      width: 3,
    }),
    stat({
      title: 'Failed reloads',
      description: 'Pointsmen whose last reload of the configuration failed.',
      queries: [[`count(pointsman_config_last_reload_successful{${CHOSEN}} == 0) ${GOOD_AT_ZERO}`]],
      unit: 'short',
      steps: BAD_FROM_ONE,
      alerts: ['PointsmanReloadFailed'],
      width: 3,
    }),
    stat({
      title: 'Branch lists that fail',
      description: 'Pointsmen that cannot read the list of branches. The last list stays in use.',
      queries: [[`count(pointsman_branch_list_failing{${CHOSEN}} == 1) ${GOOD_AT_ZERO}`]],
      unit: 'short',
      steps: BAD_FROM_ONE,
      alerts: ['PointsmanBranchListFailing'],
      width: 3,
    }),
    stat({
      title: 'First certificate to expire',
      description: 'When the first TLS certificate that a Pointsman presents expires.',
      queries: [[`min(pointsman_tls_certificate_expiry_timestamp_seconds{${CHOSEN}}) - time()`]],
      unit: 's',
      steps: [
        [null, 'red'],
        [1_209_600, 'green'],
      ],
      alerts: ['PointsmanCertificateExpires', 'PointsmanCertificateUnusable'],
      width: 3,
    }),
  ],
};

const clusters: Row = {
  title: 'Clusters',
  panels: [
    table({
      title: 'Clusters',
      description:
        'One row for each cluster: its Pointsmen, the primaries that they see, sessions, and the chosen time.',
      queries: [
        [`count by (scope) (pointsman_build_info{${CHOSEN}})`],
        [`count by (scope) (count by (scope, member) (pointsman_primary_info{${CHOSEN}}))`],
        [`avg by (scope) (pointsman_pool_route{${CHOSEN},pool="write",route="open"})`],
        [`sum by (scope) (pointsman_sessions{${CHOSEN}})`],
        [`sum by (scope) (pointsman_held_clients{${CHOSEN}})`],
        [`max by (scope) (round(increase(pointsman_primary_changes_total{${CHOSEN},kind="failover"}${RANGE})))`],
        [`min by (scope) (scope_pool:pointsman_pool_available:ratio30d{${CHOSEN_CLUSTERS},pool="write"})`],
      ],
      columns: [
        { title: 'Pointsmen' },
        {
          title: 'Primaries',
          steps: [
            [null, 'red'],
            [1, 'green'],
            [2, 'red'],
          ],
        },
        {
          title: 'With a write route',
          unit: 'percentunit',
          steps: [
            [null, 'red'],
            [1, 'green'],
          ],
        },
        { title: 'Sessions' },
        { title: 'Waiting' },
        { title: 'Failovers' },
        { title: 'Writes available, 30 days', unit: 'percentunit' },
      ],
      alerts: ['PointsmanDisagreement', 'PointsmanFailoversOften'],
      width: 16,
    }),
    table({
      title: 'Versions',
      description: 'How many Pointsmen run each version.',
      queries: [[`count by (version, node_version) (pointsman_build_info{${CHOSEN}})`]],
      columns: [{ title: 'Pointsmen' }],
      width: 8,
    }),
  ],
};

const top = (expr: string): string => `topk(10, ${expr})`;

const outliers: Row = {
  title: 'Outliers: the ten highest',
  panels: [
    lines({
      title: 'Sessions',
      description: 'Client connections by Pointsman.',
      queries: [[top(`sum by (scope, instance) (pointsman_sessions{${CHOSEN}})`), '{{scope}} {{instance}}']],
      unit: 'short',
      alerts: ['PointsmanSessionsNearLimit'],
      width: 8,
    }),
    lines({
      title: 'Use of open files',
      description: 'Part of the open files that the main process of a Pointsman may have.',
      queries: [[top(`process_open_fds{${CHOSEN}} / process_max_fds{${CHOSEN}}`), '{{scope}} {{instance}}']],
      unit: 'percentunit',
      alerts: ['PointsmanOpenFilesNearLimit'],
      width: 8,
    }),
    lines({
      title: 'Delay of the event loop',
      description: '99th percentile. Sessions wait that long for their turn.',
      queries: [[top(`nodejs_eventloop_lag_p99_seconds{${CHOSEN}}`), '{{scope}} {{instance}}']],
      unit: 's',
      alerts: ['PointsmanBusy'],
      width: 8,
    }),
    lines({
      title: 'Memory',
      description: 'Resident memory of the main process.',
      queries: [[top(`process_resident_memory_bytes{${CHOSEN}}`), '{{scope}} {{instance}}']],
      unit: 'bytes',
      width: 8,
    }),
    lines({
      title: 'Age of the member list',
      description: 'Time since the member list was read.',
      queries: [
        [top(`time() - pointsman_discovery_last_success_timestamp_seconds{${CHOSEN}}`), '{{scope}} {{instance}}'],
      ],
      unit: 's',
      alerts: ['PointsmanMemberListOld'],
      width: 8,
    }),
    lines({
      title: 'Replaced workers and lost log lines',
      description: 'In the last hour, by Pointsman.',
      queries: [
        [top(`sum by (instance) (increase(pointsman_worker_restarts_total{${CHOSEN}}[1h]))`), '{{instance}}: workers'],
        [top(`increase(pointsman_log_lines_dropped_total{${CHOSEN}}[1h])`), '{{instance}}: log lines'],
      ],
      unit: 'short',
      alerts: ['PointsmanWorkerRestarts'],
      width: 8,
    }),
  ],
};

const load: Row = {
  title: 'Load on the management APIs',
  panels: [
    lines({
      title: 'Probes',
      description: 'Requests per second to the management APIs, by cluster.',
      queries: [[`sum by (scope) (rate(pointsman_probes_total{${CHOSEN}}${RATE}))`, '{{scope}}']],
      unit: 'reqps',
      width: 8,
    }),
    lines({
      title: 'Reads of the member list',
      description: 'Per second, by cluster and outcome.',
      queries: [
        [`sum by (scope, outcome) (rate(pointsman_discoveries_total{${CHOSEN}}${RATE}))`, '{{scope}}: {{outcome}}'],
      ],
      unit: 'reqps',
      alerts: ['PointsmanMemberListOld'],
      width: 8,
    }),
    lines({
      title: 'Urgent probing',
      description: 'Pointsmen that probe at the urgent interval, by cluster.',
      queries: [[`sum by (scope) (pointsman_urgent_probing{${CHOSEN}})`, '{{scope}}']],
      unit: 'short',
      alerts: ['PointsmanUrgentProbing'],
      width: 8,
    }),
  ],
};

export const FLEET: Dashboard = {
  name: 'fleet',
  title: 'Pointsman: fleet',
  description: 'Many Pointsmen, such as sidecars: versions, clusters, outliers, and their load on the management APIs.',
  from: 'now-6h',
  hasManyClusters: true,
  rows: [now, clusters, outliers, load],
};
