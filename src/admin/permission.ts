// The token that operations and private documents need. No answer contains it.
import type * as Crypto from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { failure, type Answer } from './answer.ts';

/** node:crypto takes 4 MB, so it is loaded at the first token. */
const load = createRequire(import.meta.url);

export type Token =
  | { readonly kind: 'none' }
  /** `why` names the file, never its content. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'token'; readonly value: string };

const HOW = 'set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE)';

const WHAT = { operation: 'operations are disabled', private: 'this document is disabled' } as const;

/** Undefined: allowed. */
export function whyNotAllowed(
  token: Token,
  access: keyof typeof WHAT,
  headers: IncomingHttpHeaders,
): Answer | undefined {
  const what = WHAT[access];
  if (token.kind === 'none') return failure(403, `${what} because no token is configured: ${HOW}`);
  if (token.kind === 'unusable') return failure(403, `${what}: ${token.why}`);
  const [, given] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && isSame(given, token.value)) return undefined;
  const error = given === undefined ? 'the token is missing: send Authorization: Bearer TOKEN' : 'wrong token';
  return failure(401, error, { headers: { 'www-authenticate': 'Bearer' } });
}

/** Compares digests, which have equal lengths, so that the time reveals nothing about the token. */
function isSame(given: string, token: string): boolean {
  const { createHash, timingSafeEqual }: typeof Crypto = load('node:crypto');
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
