// One sample or more of every event of branches, with its meaning.
import type { BranchEvent } from '../../../src/reports/branch-events.ts';

type EventOf<Kind extends BranchEvent['kind']> = Extract<BranchEvent, { readonly kind: Kind }>;

export const branch = { id: 'br-aged-salad', name: 'pr-1' } as const;
const branchDial = {
  kind: 'branch_dial_finished',
  pool: 'branches',
  session: 7,
  branch,
  backend: '10.0.0.9:55432',
  durationMs: 3,
} as const;
const listFailure = { failure: 'unreachable', why: 'connection refused' } as const;

export const BRANCH_SAMPLES: {
  readonly [Kind in BranchEvent['kind']]: { readonly meaning: string; readonly samples: readonly EventOf<Kind>[] };
} = {
  branch_list_read: {
    meaning: 'A read of the list of branches ended. `outcome`: `read`, or the kind of failure.',
    samples: [
      { kind: 'branch_list_read', outcome: 'read', why: undefined, branches: 3, durationMs: 5 },
      { kind: 'branch_list_read', outcome: listFailure.failure, why: listFailure.why, branches: 3, durationMs: 5 },
    ],
  },
  branch_list_failed: {
    meaning: 'The list of branches cannot be read. The last one stays in use; no `age_ms`: there is none.',
    samples: [
      { kind: 'branch_list_failed', ...listFailure, branches: 3, ageMs: 15_000 },
      { kind: 'branch_list_failed', ...listFailure, branches: 0, ageMs: undefined },
    ],
  },
  branch_list_recovered: {
    meaning: 'The list of branches can be read again.',
    samples: [{ kind: 'branch_list_recovered', branches: 3, failedForMs: 60_000 }],
  },
  branch_shadowed: {
    meaning: 'A branch has the name of a pool, which wins. The branch is reached by its id.',
    samples: [{ kind: 'branch_shadowed', branch, pool: 'read' }],
  },
  branch_located: {
    meaning:
      'A client asked for a branch. `result`: `found`, `unknown`, `not_allowed`, `ambiguous`, `no_backend` or ' +
      '`unavailable`.',
    samples: [{ kind: 'branch_located', pool: 'branches', session: 7, target: 'pr-1', result: 'found', durationMs: 0 }],
  },
  branch_dial_finished: {
    meaning: 'A connect to the backend of a branch ended. `starting`: it is not ready for clients yet (57P03).',
    samples: (['connected', 'starting'] as const).map((outcome) => ({ ...branchDial, outcome })),
  },
  branch_wait_ended: {
    meaning: 'The wait of a client for a branch ended. `outcome`: `connected`, `unreachable` or `gave_up`.',
    samples: (['connected', 'unreachable'] as const).map((outcome) => ({
      kind: 'branch_wait_ended',
      pool: 'branches',
      session: 7,
      branch,
      outcome,
      attempts: outcome === 'connected' ? 1 : 9,
      waitedMs: 30_000,
    })),
  },
};
