// Error codes of connections, names and files: their cause, and their words for an operator. The one table of them.

/**
 * `no_network`: far more often a missing route here than the answer of a router. `unresolved`: no address is known for
 * the name. `exhausted`: this machine ran out of a resource.
 */
export type ErrnoCause = 'refused' | 'reset' | 'unreachable' | 'no_network' | 'timeout' | 'unresolved' | 'exhausted';

interface ErrnoFacts {
  /** Absent: the code is about files. */
  readonly cause?: ErrnoCause;
  readonly words: string;
}

const RESET: ErrnoFacts = { cause: 'reset', words: 'connection reset' };
const HOST: ErrnoFacts = { cause: 'unreachable', words: 'host unreachable' };
const NETWORK: ErrnoFacts = { cause: 'no_network', words: 'network unreachable' };
const FILES: ErrnoFacts = { cause: 'exhausted', words: 'too many open files' };
const MEMORY: ErrnoFacts = { cause: 'exhausted', words: 'out of memory' };

const ERRNO: ReadonlyMap<string, ErrnoFacts> = new Map([
  ['ECONNREFUSED', { cause: 'refused', words: 'connection refused' }],
  ['ECONNRESET', RESET],
  ['ECONNABORTED', RESET],
  ['EPIPE', RESET],
  ['EHOSTUNREACH', HOST],
  ['EHOSTDOWN', HOST],
  ['ENETUNREACH', NETWORK],
  ['ENETDOWN', NETWORK],
  ['ETIMEDOUT', { cause: 'timeout', words: 'connection timed out' }],
  ['ENOTFOUND', { cause: 'unresolved', words: 'its name cannot be resolved' }],
  ['EAI_AGAIN', { cause: 'unresolved', words: 'its name cannot be resolved now' }],
  ['EMFILE', FILES],
  ['ENFILE', FILES],
  ['EADDRNOTAVAIL', { cause: 'exhausted', words: 'no local port is free' }],
  ['ENOBUFS', MEMORY],
  ['ENOMEM', MEMORY],
  ['ENOENT', { words: 'there is no such file' }],
  ['EACCES', { words: 'permission denied' }],
  ['EISDIR', { words: 'it is a directory' }],
  ['EFBIG', { words: 'it is too large for a configuration (over 4 MB)' }],
]);

/**
 * Empty: the error has none. Addresses of one name that all failed come as one error: `ECONNREFUSED` only if every
 * address refused.
 */
export function errorCode(error: unknown): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map(codeOf);
  return codes.find((code) => code !== 'ECONNREFUSED') ?? codes[0] ?? '';
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) return '';
  return typeof error.code === 'string' || typeof error.code === 'number' ? String(error.code) : '';
}

export function errnoCause(code: string): ErrnoCause | undefined {
  return ERRNO.get(code)?.cause ?? (code.startsWith('EAI_') ? 'unresolved' : undefined);
}

/** Undefined: the code says more than our words. */
export function errnoText(code: string): string | undefined {
  return ERRNO.get(code)?.words;
}

/** Why a file cannot be read or written; takes an error of node:fs. */
export function fileFault(error: unknown): string {
  const code = errorCode(error);
  return errnoText(code) ?? (code === '' ? 'unknown error' : code);
}
