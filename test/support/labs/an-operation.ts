// The document of a switchover in one of its phases, or at its end.
import type { OperationDocument, Phase } from '../../../src/documents/switchover-document.ts';
import { aReport } from './switchover-lab.ts';

export function anOperation(phases: readonly Phase[], changes: Partial<OperationDocument> = {}): OperationDocument {
  const hasEnded = changes.outcome !== undefined;
  return {
    id: 'k3x9',
    kind: 'switchover',
    state: hasEnded ? 'ended' : 'running',
    outcome: null,
    why: null,
    started_at: '2026-01-01T00:00:00.000Z',
    duration_ms: 4000,
    phase: phases.at(-1) ?? 'check',
    phases: phases.map((phase, index) => ({
      phase,
      started_at: '2026-01-01T00:00:00.000Z',
      duration_ms: hasEnded || index < phases.length - 1 ? 10 * (index + 1) : null,
    })),
    from: 'pg-1',
    to: null,
    transaction_timeout_ms: 10_000,
    fleet: false,
    sessions: {
      at_start: 100,
      held: 12,
      waiting: 0,
      longest_wait_ms: 5800,
      not_served: 0,
      ended: 99,
      parked: 0,
      moved: 0,
      aborted: 0,
      move_failed: 0,
      cut: 1,
      lost: 0,
    },
    held_ms: 6000,
    switch_ms: 5000,
    without_primary_ms: 2500,
    primary: 'pg-2',
    cluster: aReport({ leader: 'pg-2' }),
    ...changes,
  };
}
