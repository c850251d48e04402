// A ClusterControl whose answers a test chooses. It records the operations.
import type { ClusterControl, ClusterOperation } from '../../../src/cluster/control.ts';
import type { ClusterReport, OperationResult } from '../../../src/documents/cluster-documents.ts';

export const REPORT: ClusterReport = {
  scope: 'demo',
  paused: false,
  leader: 'pg-1',
  members: [
    {
      name: 'pg-1',
      role: 'leader',
      state: 'running',
      api: 'http://10.0.0.1:8008',
      postgres: '10.0.0.1:5432',
      timeline: 3,
      lag_bytes: null,
      wal_position: null,
      indicators: [],
      tags: { zone: 'eu-1' },
      pending_restart: true,
      pending_restart_reason: { max_connections: { old_value: '100', new_value: '200' } },
      scheduled_restart: '2026-12-01T02:00:00+00:00',
    },
  ],
  reports_restarts: true,
  scheduled_switchover: { at: '2026-12-01T02:00:00+00:00', from: 'pg-1', to: null },
  refused_members: [{ name: 'pg-9', why: 'its address is not in cluster.allow_addresses' }],
};

export interface FakeControl extends ClusterControl {
  readonly performed: ClusterOperation[];
  result: () => OperationResult | Promise<OperationResult>;
  isReadable: boolean;
}

export function fakeControl(): FakeControl {
  const why = 'no seed answers';
  const read = <T>(value: T) =>
    Promise.resolve(control.isReadable ? { kind: 'read' as const, value } : { kind: 'unreadable' as const, why });
  const control: FakeControl = {
    source: () => 'http://10.0.0.1:8008',
    performed: [],
    isReadable: true,
    result: () => ({ kind: 'done', text: 'done', reason: 'ok' }),
    report: () => read(REPORT),
    history: () => read([{ timeline: 2, lsn: 100, reason: 'no recovery target', at: null, new_leader: 'pg-1' }]),
    config: () => read({ ttl: 30, postgresql: { parameters: { max_connections: 100 } } }),
    plan: ({ kind }) => read({ method: 'POST' as const, url: `http://10.0.0.1:8008/${kind}`, body: {} }),
    async perform(operation) {
      control.performed.push(operation);
      return await control.result();
    },
  };
  return control;
}
