// One change of the primary: the evidence, the decision, and the effect on clients.
import { CHOSEN, RATE, YES_NO } from './dashboard.ts';
import type { Dashboard, Row } from './dashboard.ts';
import { ROUTE_NAMES, ROUTE_STATE } from './overview.ts';
import { lines, stat, states, table } from './panels.ts';

const RANGE = '[$__range]';
/** Sessions that did not end by the client's own wish. */
const CUT = 'reason=~"evicted_.*|move_.*|backend_.*|landed_on_standby|killed_by_operator|worker_died|connect_failed"';

const NO_ROUTE = `pointsman_pool_no_route_seconds_total{${CHOSEN},cause!="starting"}`;
const inWrite = (standing: string): string =>
  `pointsman_member_standing{${CHOSEN},pool="write",standing="${standing}"}`;

const summary: Row = {
  title: 'The chosen time: drag over a graph to choose one failover',
  panels: [
    stat({
      title: 'Without a route',
      description: 'Time without a route by pool and cause. The causes switchover, restart and drained are planned.',
      queries: [[`max by (pool, cause) (increase(${NO_ROUTE}${RANGE})) > 0`, '{{pool}}: {{cause}}']],
      unit: 's',
      alerts: ['PointsmanPoolClosed'],
      width: 6,
    }),
    stat({
      title: 'Changes of the primary',
      description: 'Planned (switchover) and unplanned (failover).',
      queries: [[`max by (kind) (round(increase(pointsman_primary_changes_total{${CHOSEN}}${RANGE})))`, '{{kind}}']],
      unit: 'short',
      width: 4,
    }),
    stat({
      title: 'Last change',
      description: 'When the primary changed for the last time, by kind.',
      queries: [[`max by (kind) (pointsman_primary_last_change_timestamp_seconds{${CHOSEN}}) * 1000`, '{{kind}}']],
      unit: 'dateTimeAsIso',
      width: 5,
    }),
    stat({
      title: 'Longest wait',
      description: 'The longest time that a client waited for a member, as far as scrapes saw it.',
      queries: [[`max(max_over_time(pointsman_held_clients_oldest_wait_seconds{${CHOSEN}}${RANGE}))`]],
      unit: 's',
      width: 3,
    }),
    stat({
      title: 'Sessions cut',
      description: 'Sessions that ended without the wish of their client, by reason.',
      queries: [
        [
          `sum by (reason) (round(increase(pointsman_sessions_closed_total{${CHOSEN},${CUT}}${RANGE}))) > 0`,
          '{{reason}}',
        ],
      ],
      unit: 'short',
      width: 6,
    }),
  ],
};

const decision: Row = {
  title: 'Decision',
  panels: [
    states({
      title: 'Route of each pool',
      description: 'Open, or clients wait, or clients are refused. Where Pointsmen differ, the worst one is shown.',
      queries: [[ROUTE_STATE, '{{pool}}']],
      unit: 'short',
      names: ROUTE_NAMES,
      alerts: ['PointsmanPoolClosed'],
      width: 12,
    }),
    states({
      title: 'Primary, as each Pointsman sees it',
      description: 'The member that gets the writes. Pointsmen follow within a second of each other.',
      queries: [[`pointsman_primary_info{${CHOSEN}}`, '{{instance}}: {{member}} (timeline {{timeline}})']],
      unit: 'short',
      names: { 1: ['primary', 'blue'] },
      alerts: ['PointsmanDisagreement'],
      width: 12,
    }),
    states({
      title: 'Members in the pool `write`',
      description: 'Open: gets new sessions. Keep: sessions stay. Leave: excluded, sessions end.',
      queries: [[`max by (member) (2 * (${inWrite('open')} == 1) or ${inWrite('keep')})`, '{{member}}']],
      unit: 'short',
      names: { 0: ['leave', 'text'], 1: ['keep', 'orange'], 2: ['open', 'green'] },
      width: 12,
    }),
    states({
      title: 'Primary refused',
      description: 'A member claims to be primary, and Pointsman refuses it, by reason.',
      queries: [[`max by (reason) (pointsman_primary_refused{${CHOSEN}})`, '{{reason}}']],
      unit: 'short',
      names: { 0: ['no', 'green'], 1: ['refused', 'red'] },
      alerts: ['PointsmanPrimaryRefused'],
      width: 12,
    }),
  ],
};

const evidence: Row = {
  title: 'Evidence',
  panels: [
    states({
      title: 'Members that answer',
      description: 'Whether the management API of each member answered the last probe of every Pointsman.',
      queries: [[`min by (member) (pointsman_member_up{${CHOSEN}})`, '{{member}}']],
      unit: 'short',
      names: YES_NO,
      alerts: ['PointsmanMemberSilent', 'PointsmanMemberVouched'],
      width: 12,
    }),
    table({
      title: 'Reports of the members',
      description: 'Every role, state and timeline that a member reported in the chosen time.',
      queries: [[`max by (member, role, state, timeline) (max_over_time(pointsman_member_info{${CHOSEN}}${RANGE}))`]],
      columns: [null],
      width: 12,
      height: 6,
    }),
    lines({
      title: 'Probes by outcome',
      description: 'Per second. Yes and no are answers; everything else is a failure.',
      queries: [
        [`sum by (member, outcome) (rate(pointsman_probes_total{${CHOSEN}}${RATE})) > 0`, '{{member}}: {{outcome}}'],
      ],
      unit: 'cps',
      width: 8,
    }),
    lines({
      title: 'Replication lag',
      description: 'WAL that each replica has not replayed. What the next primary had not received before is lost.',
      queries: [[`max by (member) (pointsman_member_replication_lag_bytes{${CHOSEN}})`, '{{member}}']],
      unit: 'bytes',
      width: 8,
    }),
    states({
      title: 'Urgent probing',
      description: 'Whether a Pointsman probes all members at the urgent interval.',
      queries: [[`max by (instance) (pointsman_urgent_probing{${CHOSEN}})`, '{{instance}}']],
      unit: 'short',
      names: { 0: ['no', 'text'], 1: ['urgent', 'orange'] },
      alerts: ['PointsmanUrgentProbing'],
      width: 8,
      height: 8,
    }),
  ],
};

const clients: Row = {
  title: 'Clients',
  panels: [
    lines({
      title: 'Waiting clients',
      description: 'Clients that wait for a member, by pool.',
      queries: [[`sum by (pool) (pointsman_held_clients{${CHOSEN}})`, '{{pool}}']],
      unit: 'short',
      alerts: ['PointsmanClientsWaiting'],
      width: 8,
    }),
    lines({
      title: 'End of waiting',
      description: 'Clients that waited, by outcome, per second. Released: a member was found.',
      queries: [[`sum by (outcome) (rate(pointsman_holds_ended_total{${CHOSEN}}${RATE}))`, '{{outcome}}']],
      unit: 'cps',
      width: 8,
    }),
    lines({
      title: 'Time of waiting',
      description: 'Median and 99th percentile of the time that clients waited, whatever the outcome.',
      queries: [
        [
          `histogram_quantile(0.5, sum by (le) (rate(pointsman_hold_duration_seconds_bucket{${CHOSEN}}${RATE})))`,
          'median',
        ],
        [
          `histogram_quantile(0.99, sum by (le) (rate(pointsman_hold_duration_seconds_bucket{${CHOSEN}}${RATE})))`,
          '99 %',
        ],
      ],
      unit: 's',
      width: 8,
    }),
    lines({
      title: 'Sessions by member',
      description: 'Client connections that are connected or connecting to each member.',
      queries: [[`sum by (member) (pointsman_member_sessions{${CHOSEN}})`, '{{member}}']],
      unit: 'short',
      isStacked: true,
      width: 8,
    }),
    lines({
      title: 'Sessions closed',
      description: 'By reason, per second.',
      queries: [[`sum by (reason) (rate(pointsman_sessions_closed_total{${CHOSEN}}${RATE})) > 0`, '{{reason}}']],
      unit: 'cps',
      alerts: ['PointsmanClientsRefused'],
      width: 8,
    }),
    lines({
      title: 'Connects to members',
      description: 'TCP connects to PostgreSQL by outcome, per second.',
      queries: [
        [`sum by (member, outcome) (rate(pointsman_dials_total{${CHOSEN}}${RATE})) > 0`, '{{member}}: {{outcome}}'],
      ],
      unit: 'cps',
      width: 8,
    }),
    lines({
      title: 'Logins refused by members',
      description: 'By SQLSTATE, per second: 53300 is too many connections. Some clients were served elsewhere.',
      queries: [
        [
          `sum by (member, sqlstate) (rate(pointsman_backend_refused_total{${CHOSEN}}${RATE})) > 0`,
          '{{member}}: {{sqlstate}}',
        ],
      ],
      unit: 'cps',
      alerts: ['PointsmanLoginsRefused'],
      width: 8,
    }),
    lines({
      title: 'Sessions that were to move',
      description: 'Per second, where moves are configured: moved, failed (they ended), or stayed, with the reason.',
      queries: [
        [`sum by (result, reason) (rate(pointsman_moves_total{${CHOSEN}}${RATE})) > 0`, '{{result}}: {{reason}}'],
      ],
      unit: 'cps',
      alerts: ['PointsmanMovesFail', 'PointsmanSessionsMoveOften'],
      width: 8,
    }),
    lines({
      title: 'Gap of moved sessions',
      description: 'Median of the time without a server, where the client waited and where it noticed nothing.',
      queries: [
        [
          `histogram_quantile(0.5, sum by (le, waiting) (rate(pointsman_move_gap_seconds_bucket{${CHOSEN}}${RATE})))`,
          'waiting: {{waiting}}',
        ],
      ],
      unit: 's',
      width: 8,
    }),
  ],
};

export const FAILOVER: Dashboard = {
  name: 'failover',
  title: 'Pointsman: one failover',
  description: 'What happened when the primary of one cluster changed: evidence, decision, and what clients noticed.',
  from: 'now-15m',
  hasManyClusters: false,
  rows: [summary, decision, evidence, clients],
};
