// The kind of a failed read of the list, for events and metrics.
import type { BranchListFailure } from '../model/branch.ts';
import { BranchApiError } from './api/request.ts';

/** `why`: one clause without a secret. */
export function listFailure(error: unknown): { readonly failure: BranchListFailure; readonly why: string } {
  const why = error instanceof Error ? error.message : 'the list cannot be read';
  return { failure: error instanceof BranchApiError ? kindOf(error) : 'local', why };
}

function kindOf({ kind, status = 0 }: BranchApiError): BranchListFailure {
  switch (kind) {
    case 'setting':
      return 'local';
    case 'no_answer':
      return 'unreachable';
    case 'timeout':
      return kind;
    case 'unreadable':
      return 'invalid_answer';
    case 'status':
      if (status === 401 || status === 403) return 'denied';
      return status >= 500 ? 'server_error' : 'rejected';
  }
}
