// When each alert must fire: the series of a sick cluster and of a healthy one. The sick ones are complete, so that one
// job with two clusters shows whether an alert mixes them.

/** A cluster with two Pointsmen. Both clusters of a test are in one job. */
export interface Site {
  readonly scope: string;
  /** The labels of every series of the first Pointsman and of the second one. */
  readonly targets: readonly [string, string];
}

export interface Series {
  readonly series: string;
  readonly values: string;
}

export interface AlertCase {
  /**
   * `cluster`: raised once for all Pointsmen of a cluster. `instance`: for each Pointsman, here the first.
   * `target`: the same by a series of Prometheus itself, without the cluster.
   */
  readonly of: 'cluster' | 'instance' | 'target';
  readonly sick: (site: Site) => readonly Series[];
  readonly healthy: (site: Site) => readonly Series[];
  /** Labels of the alert, beside those of the cluster or the instance. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Minutes after which it fires; a minute before the last of `for` it must not. */
  readonly firesAt: number;
  readonly isSilentAt?: number;
}

export function site(scope: string): Site {
  const target = (pod: string): string => `namespace="d",job="j",pod="${pod}",instance="${pod}:8432",scope="${scope}"`;
  return { scope, targets: [target(`${scope}-1`), target(`${scope}-2`)] };
}

export function withoutScope({ scope, targets: [first, second] }: Site): Site {
  const bare = (target: string): string => target.replace(`,scope="${scope}"`, '');
  return { scope, targets: [bare(first), bare(second)] };
}

const LONG = 'x400';
const REFUSED = 'pointsman_backend_refused_total';
const MEMBER_EXPIRY = 'pointsman_member_tls_certificate_expiry_timestamp_seconds';

/** A series of each Pointsman with these values. */
function both({ targets }: Site, metric: string, labels: string, ...values: readonly [string, string]): Series[] {
  return targets.map((target, index) => ({
    series: `${metric}{${target}${labels === '' ? '' : `,${labels}`}}`,
    values: values[index] ?? '',
  }));
}

/** Sessions of a pool with 100 sessions at each Pointsman move to members that came back, so many in a minute. */
function moving(one: Site, moves: string): Series[] {
  const reason = 'pool="write",result="moved",reason="rebalance"';
  const sessions = `100${LONG}`;
  return [
    ...both(one, 'pointsman_moves_total', reason, `${moves}${LONG}`, `${moves}${LONG}`),
    ...both(one, 'pointsman_sessions', 'pool="write",state="relaying"', sessions, sessions),
  ];
}

/** A gauge that is sick with one value at the first Pointsman (at both, for a cluster) and healthy with another. */
function gauge(
  of: AlertCase['of'],
  metric: string,
  labels: Readonly<Record<string, string>>,
  [bad, good]: readonly [string, string],
  [firesAt, isSilentAt]: readonly [number, number],
): AlertCase {
  const text = Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
  return {
    of,
    sick: (one) => both(one, metric, text, `${bad}${LONG}`, `${of === 'cluster' ? bad : good}${LONG}`),
    healthy: (one) => both(one, metric, text, `${good}${LONG}`, `${good}${LONG}`),
    firesAt,
    isSilentAt,
  };
}

function primary(one: Site, first: string, second: string): Series[] {
  const of = (index: 0 | 1, member: string): Series => ({
    series: `pointsman_primary_info{${one.targets[index]},member="${member}",timeline="1"}`,
    values: `1${LONG}`,
  });
  return [of(0, first), of(1, second)];
}

/** A value beside its limit, of which the first Pointsman uses 90 % when it is sick. */
function limited(metric: string, limit: string): AlertCase {
  const used = (one: Site, first: string): Series[] => [
    ...both(one, metric, '', `${first}${LONG}`, `700${LONG}`),
    ...both(one, limit, '', `1000${LONG}`, `1000${LONG}`),
  ];
  return {
    of: 'instance',
    sick: (one) => used(one, '900'),
    healthy: (one) => used(one, '700'),
    firesAt: 5,
    isSilentAt: 4,
  };
}

/** Reads that wait, and late ones. */
function reads(one: Site, late: string): Series[] {
  const of = (result: string, values: string): Series[] =>
    both(one, 'pointsman_causal_reads_total', `pool="read",result="${result}"`, `${values}${LONG}`, `${values}${LONG}`);
  return [...of('moved', late), ...of('waited', '0+600')];
}

function readers(one: Site, ...members: readonly string[]): Series[] {
  return ['pg-2', 'pg-3'].flatMap((member) => {
    const value = `${members.includes(member) ? 1 : 0}${LONG}`;
    return both(one, 'pointsman_member_standing', `pool="read",standing="open",member="${member}"`, value, value);
  });
}

const route = { pool: 'write' };

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  PointsmanAbsent: {
    of: 'cluster',
    sick: (one) => both(one, 'pointsman_cluster_info', 'system_identifier="7"', '1x30', '1x20'),
    healthy: (one) => both(one, 'pointsman_cluster_info', 'system_identifier="7"', '1x30', `1${LONG}`),
    firesAt: 41,
    isSilentAt: 34,
  },
  PointsmanPoolClosed: {
    ...gauge('cluster', 'pointsman_pool_route', { pool: 'write', route: 'open' }, ['0', '1'], [1, 0]),
    labels: route,
  },
  PointsmanDisagreement: {
    of: 'cluster',
    sick: (one) => primary(one, 'pg-1', 'pg-2'),
    // The primaries of the two clusters have different names.
    healthy: (one) => primary(one, `${one.scope}-1`, `${one.scope}-1`),
    firesAt: 2,
    isSilentAt: 1,
  },
  PointsmanPrimaryRefused: {
    ...gauge('cluster', 'pointsman_primary_refused', { reason: 'timeline' }, ['1', '0'], [1, 0]),
    labels: { reason: 'timeline' },
  },
  PointsmanDown: {
    of: 'target',
    sick: (one) => both(withoutScope(one), 'up', '', `1x30 0${LONG}`, `1${LONG}`),
    healthy: (one) => both(withoutScope(one), 'up', '', `1${LONG}`, `1${LONG}`),
    firesAt: 36,
    isSilentAt: 34,
  },
  PointsmanNotReady: gauge('instance', 'pointsman_first_round_complete', {}, ['0', '1'], [5, 4]),
  PointsmanClientsRefused: {
    ...gauge(
      'cluster',
      'pointsman_sessions_closed_total',
      { pool: 'write', reason: 'hold_timeout' },
      ['0+6', '7+0'],
      [7, 5],
    ),
    labels: { ...route, reason: 'hold_timeout' },
  },
  PointsmanLoginsRefused: {
    ...gauge('cluster', REFUSED, { member: 'pg-3', sqlstate: '53300' }, ['0+6', '7+0'], [7, 5]),
    // Clients with a wrong password are no trouble of the server.
    healthy: (one) => [
      ...both(one, REFUSED, 'member="pg-3",sqlstate="53300"', `7+0${LONG}`, `7+0${LONG}`),
      ...both(one, REFUSED, 'member="pg-3",sqlstate="28P01"', `0+6${LONG}`, `0+6${LONG}`),
    ],
    labels: { member: 'pg-3', sqlstate: '53300' },
  },
  PointsmanClientsWaiting: {
    ...gauge('cluster', 'pointsman_held_clients', route, ['2', '0'], [1, 0]),
    labels: route,
  },
  PointsmanMemberSilent: {
    ...gauge('cluster', 'pointsman_member_up', { member: 'pg-3' }, ['0', '1'], [1, 0]),
    labels: { member: 'pg-3' },
  },
  PointsmanMemberVouched: {
    ...gauge('cluster', 'pointsman_member_vouched', { member: 'pg-3' }, ['1', '0'], [5, 4]),
    labels: { member: 'pg-3' },
  },
  PointsmanFailoversOften: gauge(
    'cluster',
    'pointsman_primary_changes_total',
    { kind: 'failover' },
    ['0x5 1x10 2', '0x5 1'],
    [17, 10],
  ),
  PointsmanReplicasMissing: {
    of: 'cluster',
    // The third member has left the member list, as it does some time after its death.
    sick: (one) => [...both(one, 'pointsman_members', '', `3x10 2${LONG}`, `3x10 2${LONG}`), ...readers(one, 'pg-2')],
    healthy: (one) => [...both(one, 'pointsman_members', '', `3${LONG}`, `3${LONG}`), ...readers(one, 'pg-2', 'pg-3')],
    firesAt: 16,
    isSilentAt: 14,
  },
  PointsmanFallback: {
    ...gauge('cluster', 'pointsman_pool_fallback_active', { pool: 'read' }, ['1', '0'], [15, 14]),
    labels: { pool: 'read' },
  },
  PointsmanLagging: {
    ...gauge('cluster', 'pointsman_pool_lagging_active', { pool: 'read' }, ['1', '0'], [15, 14]),
    labels: { pool: 'read' },
  },
  PointsmanReplicaStale: {
    ...gauge('cluster', 'pointsman_member_staleness_seconds', { member: 'pg-2' }, ['301', '299'], [5, 4]),
    labels: { member: 'pg-2' },
  },
  PointsmanDrainForgotten: {
    ...gauge(
      'cluster',
      'pointsman_member_drained_timestamp_seconds',
      { member: 'pg-2' },
      ['0', '9999999999'],
      [241, 239],
    ),
    labels: { member: 'pg-2' },
  },
  PointsmanMembersRefused: {
    ...gauge('cluster', 'pointsman_members_refused', { reason: 'address' }, ['2', '0'], [10, 9]),
    labels: { reason: 'address' },
  },
  PointsmanMemberListOld: gauge(
    'instance',
    'pointsman_discovery_last_success_timestamp_seconds',
    {},
    ['0', '0+60'],
    [11, 9],
  ),
  PointsmanUrgentProbing: gauge('instance', 'pointsman_urgent_probing', {}, ['1', '0'], [10, 9]),
  PointsmanSessionsNearLimit: limited('pointsman_sessions', 'pointsman_sessions_limit'),
  PointsmanOpenFilesNearLimit: limited('process_open_fds', 'process_max_fds'),
  PointsmanWorkerRestarts: gauge(
    'instance',
    'pointsman_worker_restarts_total',
    { worker: '1' },
    ['0x10 1', '1'],
    [12, 10],
  ),
  PointsmanBusy: gauge('instance', 'nodejs_eventloop_lag_p99_seconds', {}, ['0.5', '0.1'], [10, 9]),
  PointsmanReloadFailed: gauge('instance', 'pointsman_config_last_reload_successful', {}, ['0', '1'], [1, 0]),
  PointsmanCertificateExpires: {
    ...gauge(
      'instance',
      'pointsman_tls_certificate_expiry_timestamp_seconds',
      { file: '/tls.crt' },
      ['86400', '9999999999'],
      [60, 59],
    ),
    labels: { file: '/tls.crt' },
  },
  PointsmanCertificateUnusable: {
    ...gauge('instance', 'pointsman_tls_certificate_current', { file: '/tls.crt' }, ['0', '1'], [5, 4]),
    labels: { file: '/tls.crt' },
  },
  PointsmanMemberTlsFails: {
    ...gauge(
      'cluster',
      'pointsman_member_tls_failures_total',
      { member: 'pg-3', reason: 'expired' },
      ['0+6', '7+0'],
      [7, 5],
    ),
    labels: { member: 'pg-3', reason: 'expired' },
  },
  PointsmanPositionsFail: {
    ...gauge('cluster', 'pointsman_position_failing', { member: 'pg-3' }, ['1', '0'], [1, 0]),
    labels: { member: 'pg-3' },
  },
  PointsmanReadsLate: {
    of: 'cluster',
    sick: (one) => reads(one, '0+60'),
    healthy: (one) => reads(one, '0+0'),
    labels: { pool: 'read' },
    firesAt: 6,
    isSilentAt: 5,
  },
  PointsmanMemberCertificateExpires: {
    ...gauge('cluster', MEMBER_EXPIRY, { member: 'pg-3' }, ['86400', '9999999999'], [60, 59]),
    // A Pointsman without new sessions still shows the certificate from before its renewal.
    healthy: (one) => both(one, MEMBER_EXPIRY, 'member="pg-3"', `86400${LONG}`, `9999999999${LONG}`),
    labels: { member: 'pg-3' },
  },
  PointsmanMovesFail: {
    ...gauge(
      'cluster',
      'pointsman_moves_total',
      { pool: 'write', result: 'failed', reason: 'move_login' },
      ['0x10 7', '0x10 1'],
      [12, 10],
    ),
    labels: { ...route, reason: 'move_login' },
  },
  PointsmanSessionsMoveOften: {
    of: 'cluster',
    sick: (one) => moving(one, '0+10'),
    healthy: (one) => moving(one, '0+1'),
    labels: route,
    firesAt: 20,
    isSilentAt: 8,
  },
  PointsmanBranchListFailing: {
    ...gauge('instance', 'pointsman_branch_list_failing', { source: 'console' }, ['1', '0'], [15, 14]),
    labels: { source: 'console' },
  },
};
