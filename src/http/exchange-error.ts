// Why an exchange has no answer: errors of Node, TLS and undici by their code, in our own words. An unknown error
// counts as our own fault: it must never be evidence against a server.
import { certificateAlert } from '../model/certificate-alert.ts';
import { errnoCause, errnoText, errorCode, type ErrnoCause } from '../model/errno.ts';
import type { FailureCause } from '../model/observation.ts';
import { shown } from '../model/printable.ts';

/** `cut`: the connection ended within the answer, after the server had said that it would close it. */
export type ExchangeFault = Exclude<FailureCause, 'redirect' | 'unexpected_status'> | 'refused' | 'cut';

/** The message is one readable clause, without any part of the request. */
export class ExchangeError extends Error {
  readonly fault: ExchangeFault;
  /** The code of the cause. Empty: it has none. */
  readonly code: string;
  /** False: the server certainly has not received the request. */
  readonly isSent: boolean;

  constructor(fault: ExchangeFault, message: string, code = '', isSent = false) {
    super(message);
    this.fault = fault;
    this.code = code;
    this.isSent = isSent;
  }
}

const CLOSED_EARLY = 'connection closed before the answer was whole';
const WORDS: Readonly<Record<ExchangeFault, string>> = {
  refused: 'connection refused',
  timeout: 'connection timed out',
  reset: CLOSED_EARLY,
  cut: CLOSED_EARLY,
  unreachable: 'no way to the address',
  malformed: 'not an HTTP answer',
  oversized: 'answer too large',
  tls: 'TLS failed',
  local: 'fault on this side',
};

/** `detail`: what follows the words of the fault, such as the limit that an answer exceeds. */
export function faultError(fault: ExchangeFault, detail: string): ExchangeError {
  return new ExchangeError(fault, `${WORDS[fault]} (${detail})`);
}

const FAULTS: Readonly<Record<ErrnoCause, ExchangeFault>> = {
  refused: 'refused',
  reset: 'reset',
  unreachable: 'unreachable',
  no_network: 'unreachable',
  timeout: 'timeout',
  unresolved: 'local',
  exhausted: 'local',
};

const UNDICI: ReadonlyMap<string, ExchangeFault> = new Map([
  ['UND_ERR_HEADERS_OVERFLOW', 'oversized'],
  ['HPE_HEADER_OVERFLOW', 'oversized'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'cut'],
  ['UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', 'malformed'],
]);

/** OpenSSL reports verification results by name, handshake failures as ERR_SSL_… or EPROTO. */
const TLS_CODE = new RegExp(
  '^(?:EPROTO$|HOSTNAME_MISMATCH|' +
    '(?:ERR_SSL|ERR_TLS|ERR_OSSL|CERT|CRL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|INVALID|PATH_LENGTH|ERROR_IN)_)',
);

/** The reason of a handshake that failed stands between codes of OpenSSL. */
const TLS_REASON = /:SSL routines:[^:]*:([^:]+)/;

export function errorOf(error: unknown, isSent = false): ExchangeError {
  if (error instanceof ExchangeError) {
    return new ExchangeError(error.fault, error.message, error.code, isSent || error.isSent);
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  const alert = certificateAlert(code);
  // The server has not read the request, which may have left.
  if (alert !== undefined)
    return new ExchangeError('tls', `${WORDS.tls}: ${refusalText(alert)} (${shown(code)})`, code);
  // Some of undici's parser errors have no code.
  const isParserError = error instanceof Error && error.name === 'HTTPParserError';
  const fault = isParserError && !UNDICI.has(code) ? parserFault(message) : faultOf(code, message);
  return new ExchangeError(fault, wordsOf(fault, code, message), code, isSent);
}

function refusalText(alert: string): string {
  if (alert === 'certificate required') return 'the server requires a client certificate';
  return `the server refuses the client certificate: ${alert}`;
}

function parserFault(message: string): ExchangeFault {
  return message.includes('Invalid EOF state') ? 'cut' : 'malformed';
}

function wordsOf(fault: ExchangeFault, code: string, message: string): string {
  // One code of OpenSSL, EPROTO, stands for every fault. Its words have no part of the request.
  const [clause = message] = message.split(';', 1);
  if (fault === 'tls') return `${WORDS.tls}: ${shown(TLS_REASON.exec(message)?.[1] ?? clause)} (${shown(code)})`;
  const words = fault === 'reset' ? WORDS.reset : (errnoText(code) ?? WORDS[fault]);
  return `${words} (${shown(code === '' ? message : code)})`;
}

function faultOf(code: string, message: string): ExchangeFault {
  const cause = errnoCause(code);
  const known = cause === undefined ? UNDICI.get(code) : FAULTS[cause];
  if (known !== undefined) return known;
  // undici's one code for "closed before the answer was whole" and for an answer it does not expect (1xx).
  if (code === 'UND_ERR_SOCKET') return message.startsWith('bad ') ? 'malformed' : 'reset';
  if (code.startsWith('HPE_')) return 'malformed';
  return TLS_CODE.test(code) ? 'tls' : 'local';
}
