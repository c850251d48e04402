// A cluster for the commands of `pointsman cluster`: a ClusterControl in memory that records every operation.
import type { ClusterControl, ClusterOperation, ControlReading } from '../../../src/cluster/control.ts';
import type {
  ClusterConfiguration,
  ClusterReport,
  HistoryEntry,
  MemberReport,
  OperationResult,
} from '../../../src/documents/cluster-documents.ts';

export interface FakeCluster extends ClusterControl {
  /** Knobs: what the next answers are. */
  report_: ClusterReport;
  config_: ClusterConfiguration;
  history_: readonly HistoryEntry[];
  /** Makes every reading fail. */
  unreadable: string | undefined;
  /** Answers one operation; undefined: success. */
  answer: (operation: ClusterOperation) => OperationResult | undefined;
  readonly performed: ClusterOperation[];
}

export function aMember(name: string, overrides: Partial<MemberReport> = {}): MemberReport {
  return {
    name,
    role: 'replica',
    state: 'streaming',
    api: `http://10.0.0.${name.at(-1)}:8008`,
    postgres: `10.0.0.${name.at(-1)}:5432`,
    timeline: 4,
    lag_bytes: 0,
    wal_position: null,
    indicators: [],
    tags: {},
    pending_restart: false,
    ...overrides,
  };
}

export function aLeader(name: string, overrides: Partial<MemberReport> = {}): MemberReport {
  return aMember(name, { role: 'leader', state: 'running', lag_bytes: null, ...overrides });
}

export function aReport(members: readonly MemberReport[], overrides: Partial<ClusterReport> = {}): ClusterReport {
  return {
    scope: 'lab',
    paused: false,
    leader: members.find(({ role }) => role.includes('leader'))?.name ?? null,
    members,
    reports_restarts: true,
    scheduled_switchover: null,
    refused_members: [],
    ...overrides,
  };
}

/** pg-1 leads, pg-2 and pg-3 stream. */
export function fakeCluster(): FakeCluster {
  const read = <T>(value: T): Promise<ControlReading<T>> =>
    Promise.resolve(
      cluster.unreadable === undefined ? { kind: 'read', value } : { kind: 'unreadable', why: cluster.unreadable },
    );
  /** The candidate becomes the leader. */
  const lead = (operation: ClusterOperation): void => {
    if (operation.kind !== 'switchover' && operation.kind !== 'failover') return;
    const { members } = cluster.report_;
    const next = operation.candidate ?? members.find(({ role }) => !role.includes('leader'))?.name;
    const moved = members.map((member) => ({ ...member, role: member.name === next ? 'leader' : 'replica' }));
    cluster.report_ = { ...cluster.report_, members: moved, leader: next ?? null };
  };
  const cluster: FakeCluster = {
    source: () => 'http://10.0.0.1:8008',
    report_: aReport([aLeader('pg-1'), aMember('pg-2'), aMember('pg-3')]),
    config_: { ttl: 30, loop_wait: 10, postgresql: { parameters: { max_connections: '100', work_mem: '4MB' } } },
    history_: [],
    unreadable: undefined,
    answer: () => undefined,
    performed: [],
    report: () => read(cluster.report_),
    config: () => read(cluster.config_),
    history: () => read(cluster.history_),
    plan: (operation) => {
      const { kind, ...fields } = operation;
      return read({ method: 'POST', url: `http://10.0.0.1:8008/${kind}`, body: fields } as const);
    },
    perform: (operation) => {
      cluster.performed.push(operation);
      const given = cluster.answer(operation);
      if (given === undefined) lead(operation);
      return Promise.resolve(given ?? { kind: 'done', text: `Done: ${operation.kind}.`, reason: '' });
    },
  };
  return cluster;
}
