// The members of a cluster, as its Pointsmen see them.
import { CHOSEN, RATE, YES_NO, type Row } from './dashboard.ts';
import { lines, table } from './panels.ts';

const READ_WAIT = 'pointsman_causal_read_wait_seconds';

export const MEMBERS: Row = {
  title: 'Members',
  panels: [
    table({
      title: 'Members',
      description: 'What each member reports of itself, and what Pointsman makes of it.',
      queries: [
        [`max by (member, role, state, timeline) (pointsman_member_info{${CHOSEN}})`],
        [`min by (member) (pointsman_member_up{${CHOSEN}})`],
        [`max by (member) (pointsman_member_replication_lag_bytes{${CHOSEN}})`],
        [`max by (member) (pointsman_member_staleness_seconds{${CHOSEN}})`],
        [`sum by (member) (pointsman_member_sessions{${CHOSEN}})`],
        [`max by (member) (pointsman_member_drained{${CHOSEN}})`],
        [`time() - max by (member) (pointsman_member_last_answer_timestamp_seconds{${CHOSEN}})`],
        [`max by (member) (pointsman_member_tls_certificate_expiry_timestamp_seconds{${CHOSEN}}) - time()`],
      ],
      columns: [
        null,
        { title: 'Answers', names: YES_NO },
        { title: 'Lag', unit: 'bytes' },
        { title: 'Staleness', unit: 's' },
        { title: 'Sessions' },
        { title: 'Drained', names: { 0: ['no', 'text'], 1: ['yes', 'orange'] } },
        { title: 'Last answer', unit: 's' },
        {
          title: 'Certificate expires in',
          unit: 's',
          steps: [
            [null, 'red'],
            [1_209_600, 'text'],
          ],
        },
      ],
      alerts: [
        'PointsmanMemberSilent',
        'PointsmanReplicasMissing',
        'PointsmanDrainForgotten',
        'PointsmanMembersRefused',
        'PointsmanMemberCertificateExpires',
      ],
      width: 24,
    }),
    lines({
      title: 'TLS to members that failed',
      description: 'Connections to members that could not be encrypted, by reason, per second. Empty: none.',
      queries: [
        [
          `sum by (member, reason) (rate(pointsman_member_tls_failures_total{${CHOSEN}}${RATE})) > 0`,
          '{{member}}, {{reason}}',
        ],
      ],
      unit: 'cps',
      alerts: ['PointsmanMemberTlsFails'],
      width: 8,
    }),
    lines({
      title: 'Replication lag',
      description: 'WAL that each replica has not replayed.',
      queries: [[`max by (member) (pointsman_member_replication_lag_bytes{${CHOSEN}})`, '{{member}}']],
      unit: 'bytes',
      alerts: ['PointsmanLagging'],
      width: 8,
    }),
    lines({
      title: 'Staleness of replicas',
      description: 'Age of the oldest WAL position of the primary that each replica has not replayed.',
      queries: [[`max by (member) (pointsman_member_staleness_seconds{${CHOSEN}})`, '{{member}}']],
      unit: 's',
      alerts: ['PointsmanReplicaStale'],
      width: 8,
    }),
    lines({
      title: 'Sessions by member',
      description: 'Client connections that are connected or connecting to each member.',
      queries: [[`sum by (member, pool) (pointsman_member_sessions{${CHOSEN}})`, '{{member}}, {{pool}}']],
      unit: 'short',
      isStacked: true,
      width: 8,
    }),
    lines({
      title: 'Latency of members',
      description: 'With balance latency: time to the first byte of a reply and of a login, as each Pointsman sees it.',
      queries: [
        [`max by (pool, member, of) (pointsman_member_latency_seconds{${CHOSEN}})`, '{{member}}, {{pool}}, {{of}}'],
      ],
      unit: 's',
      width: 12,
    }),
    lines({
      title: 'Share of slow members',
      description: 'With balance latency: the part of its weight that each member has for new sessions.',
      queries: [[`min by (pool, member) (pointsman_member_latency_share{${CHOSEN}})`, '{{member}}, {{pool}}']],
      unit: 'percentunit',
      width: 12,
    }),
    lines({
      title: 'Questions for WAL positions',
      description: 'Answers of members to causal reads, per second. Fails: 1 while reads need a member that is silent.',
      queries: [
        [`sum by (member, kind) (rate(pointsman_position_questions_total{${CHOSEN}}${RATE}))`, '{{member}}, {{kind}}'],
        [`max by (member) (pointsman_position_failing{${CHOSEN}})`, '{{member}} fails'],
      ],
      unit: 'short',
      alerts: ['PointsmanPositionsFail'],
      width: 24,
    }),
    lines({
      title: 'Causal reads',
      description: 'Transactions of pools with causal_reads, by result, per second. Late are moved, error and stale.',
      queries: [
        [`sum by (pool, result) (rate(pointsman_causal_reads_total{${CHOSEN}}${RATE}))`, '{{pool}}, {{result}}'],
      ],
      unit: 'ops',
      alerts: ['PointsmanReadsLate'],
      width: 12,
    }),
    lines({
      title: 'Wait of causal reads',
      description: 'Median and 99th percentile of the time that reads waited for their replica.',
      queries: [0.5, 0.99].map((part) => [
        `histogram_quantile(${part}, sum by (le, pool) (rate(${READ_WAIT}_bucket{${CHOSEN}}${RATE})))`,
        `{{pool}}, ${part * 100} %`,
      ]),
      unit: 's',
      width: 12,
    }),
  ],
};
