// The wish for a new branch and its outcome, for both sources. Each reason is one clause without a secret.
import type { Branch, EndpointType } from '../model/branch.ts';

export interface BranchWish {
  readonly name: string;
  /** Undefined: the console's default branch; the only root of a storage node. */
  readonly parent?: Branch | undefined;
  /** Undefined: the parent's position of this moment. */
  readonly lsn?: string | undefined;
  readonly schemaOnly?: boolean;
  readonly endpoints?: readonly EndpointType[];
  /** From now to the last attempt. */
  readonly waitMs: number;
  /** Called before each pause, with the reason for the next attempt. */
  readonly onRetry?: (why: string) => void;
}

export interface BranchFailure {
  readonly kind: 'failed';
  readonly why: string;
}

export type CreationResult =
  /** `isNew`: false when it existed already. */
  | { readonly kind: 'created'; readonly branch: Branch; readonly isNew: boolean }
  /** `unfinished`: the same wish continues with the same branch. `refused`: it cannot succeed with these arguments. */
  | { readonly kind: 'unfinished' | 'refused'; readonly why: string }
  | BranchFailure;

export type RemovalResult = { readonly kind: 'removed' } | BranchFailure;

export function refused(why: string): CreationResult {
  return { kind: 'refused', why };
}

export function failed(why: string): BranchFailure {
  return { kind: 'failed', why };
}
