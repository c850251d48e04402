// The failure of a request to a management API, for the evidence model.
import { errorOf } from '../http/exchange-error.ts';
import { errnoCause } from '../model/errno.ts';
import type { FailureCause } from '../model/observation.ts';

/** How a request ended when it was not answered. */
export type ReadFailure =
  | { readonly kind: 'refused' }
  | {
      readonly kind: 'failed';
      readonly cause: FailureCause;
      /** One readable clause: `no answer within 800 ms`. */
      readonly detail: string;
      /** This machine ran out of a resource: the request was never sent. */
      readonly isUnsent?: boolean;
      /** TLS failed, and the API has not read the request, which may have left. */
      readonly isUnread?: boolean;
    };

export function failure(error: unknown): ReadFailure {
  const { fault, message, code, isSent } = errorOf(error);
  if (fault === 'refused') return { kind: 'refused' };
  const isUnsent = errnoCause(code) === 'exhausted';
  const cause = fault === 'cut' ? 'malformed' : fault;
  const isUnread = fault === 'tls' && !isSent;
  return {
    kind: 'failed',
    cause,
    detail: message,
    ...(isUnsent ? { isUnsent } : {}),
    ...(isUnread ? { isUnread } : {}),
  };
}
