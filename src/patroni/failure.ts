// Maps error codes of Node, TLS and undici to failure causes. An unknown error counts as our own fault: it must never
// be evidence against a member.
import type { FailureCause } from '../model/observation.ts';
import { shown } from '../model/printable.ts';
import { connectErrorCode } from '../model/tcp-target.ts';

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
    };

/** An answer that exceeds one of our limits. The message is one readable clause. */
export class AnswerError extends Error {
  readonly failureCause: FailureCause;

  constructor(failureCause: FailureCause, message: string) {
    super(message);
    this.failureCause = failureCause;
  }
}

const CAUSES: Readonly<Record<string, FailureCause>> = {
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'oversized',
  HPE_HEADER_OVERFLOW: 'oversized',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'malformed',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'malformed',
};

/** OpenSSL reports verification results by name, handshake failures as ERR_SSL_… or EPROTO. */
const TLS_CODE = new RegExp(
  '^(?:EPROTO$|HOSTNAME_MISMATCH|' +
    '(?:ERR_SSL|ERR_TLS|ERR_OSSL|CERT|CRL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|INVALID|PATH_LENGTH|ERROR_IN)_)',
);

function causeOf(code: string, message: string): FailureCause {
  const known = Object.hasOwn(CAUSES, code) ? CAUSES[code] : undefined;
  if (known !== undefined) return known;
  // undici's one code for "closed before the answer was whole" and for an answer it does not expect (1xx).
  if (code === 'UND_ERR_SOCKET') return message.startsWith('bad ') ? 'malformed' : 'reset';
  if (code.startsWith('HPE_')) return 'malformed';
  return TLS_CODE.test(code) ? 'tls' : 'local';
}

/** No socket could be made. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

const WORDS: Readonly<Record<FailureCause, string>> = {
  timeout: 'connection timed out',
  reset: 'connection closed before the answer was whole',
  unreachable: 'no way to the address',
  malformed: 'not an HTTP answer',
  oversized: 'answer too large',
  redirect: 'redirected',
  unexpected_status: 'unexpected status',
  tls: 'TLS failed',
  local: 'fault on this side',
};

export function failure(error: unknown): ReadFailure {
  if (error instanceof AnswerError) {
    return { kind: 'failed', cause: error.failureCause, detail: `${WORDS[error.failureCause]} (${error.message})` };
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  if (code === 'ECONNREFUSED') return { kind: 'refused' };
  // Some of undici's parser errors have no code.
  const isParserError = error instanceof Error && error.name === 'HTTPParserError';
  const cause = isParserError && !Object.hasOwn(CAUSES, code) ? 'malformed' : causeOf(code, message);
  const detail = `${WORDS[cause]} (${shown(code === '' ? message : code)})`;
  return { kind: 'failed', cause, detail, ...(EXHAUSTED.has(code) ? { isUnsent: true } : {}) };
}

export function errorCode(error: unknown): string {
  return error instanceof Error ? connectErrorCode(error) : '';
}
