// Error codes of connections and names: their cause, and their words for an operator. Every room takes its words here.

/**
 * `no_network`: far more often a missing route here than the answer of a router. `unresolved`: no address is known for
 * the name. `exhausted`: this machine ran out of a resource.
 */
export type ErrnoCause = 'refused' | 'reset' | 'unreachable' | 'no_network' | 'timeout' | 'unresolved' | 'exhausted';

interface ErrnoFacts {
  readonly cause: ErrnoCause;
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
]);

/**
 * Empty: the error has none. Addresses of one name that all failed come as one error: `ECONNREFUSED` only if every
 * address refused.
 */
export function errorCode(error: unknown): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((one) => (one instanceof Error && 'code' in one ? String(one.code) : ''));
  return codes.find((code) => code !== 'ECONNREFUSED') ?? codes[0] ?? '';
}

export function errnoCause(code: string): ErrnoCause | undefined {
  return ERRNO.get(code)?.cause ?? (code.startsWith('EAI_') ? 'unresolved' : undefined);
}

/** Undefined: the code says more than our words. */
export function errnoText(code: string): string | undefined {
  return ERRNO.get(code)?.words;
}
