// The kind of a failed read of the list, for events and metrics.
import type { BranchListFailure } from '../model/branch.ts';
import { ApiError } from '../http/request.ts';

/** `why`: one clause without a secret. */
export function listFailure(error: unknown): { readonly failure: BranchListFailure; readonly why: string } {
  const why = error instanceof Error ? error.message : 'the list cannot be read';
  return { failure: error instanceof ApiError ? error.failure : 'local', why };
}
