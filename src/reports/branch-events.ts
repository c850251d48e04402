// Events about sessions with a branch as their target. The events about the list of branches are in model/branch.ts.
import type { BranchIdentity, BranchListEvent, BranchLookup } from '../model/branch.ts';
import type { EventClass, OfSession } from './event-parts.ts';

/**
 * One connect to the backend of a branch. `starting`: it answered that it cannot serve yet (57P03). `failed`: any
 * other end before an answer.
 */
export const BRANCH_DIAL_OUTCOMES = ['connected', 'refused', 'timeout', 'unresolvable', 'starting', 'failed'] as const;
export type BranchDialOutcome = (typeof BRANCH_DIAL_OUTCOMES)[number];

/** `unreachable`: the budget is used up. */
export const BRANCH_WAIT_OUTCOMES = ['connected', 'unreachable', 'gave_up'] as const;
export type BranchWaitOutcome = (typeof BRANCH_WAIT_OUTCOMES)[number];

/** About a session with a branch as its target. `pool`: the reserved one of branches. */
export type BranchSessionEvent =
  /** The target of a client was looked up. Its text is cut and made printable. */
  | (OfSession & {
      readonly kind: 'branch_located';
      readonly target: string;
      readonly result: BranchLookup['kind'];
      readonly durationMs: number;
    })
  | (OfSession & {
      readonly kind: 'branch_dial_finished';
      readonly branch: BranchIdentity;
      /** `10.0.0.9:55432` */
      readonly backend: string;
      readonly outcome: BranchDialOutcome;
      readonly durationMs: number;
    })
  /** The client waits no longer for the branch. `waitedMs`: since its first connect. */
  | (OfSession & {
      readonly kind: 'branch_wait_ended';
      readonly branch: BranchIdentity;
      readonly outcome: BranchWaitOutcome;
      readonly attempts: number;
      readonly waitedMs: number;
    });

export type BranchEvent = BranchListEvent | BranchSessionEvent;

/** Branches are no part of the cluster, so no incident keeps any of them. */
export const BRANCH_EVENT_CLASSES = {
  branch_list_read: 'detail',
  branch_list_failed: 'notice',
  branch_list_recovered: 'notice',
  branch_shadowed: 'notice',
  branch_located: 'detail',
  branch_dial_finished: 'detail',
  branch_wait_ended: 'detail',
} as const satisfies Readonly<Record<BranchEvent['kind'], EventClass>>;
