// The operations: POST, with the admin token and a JSON body. A request is validated completely before anything
// happens; a rejected one is told how to correct it. No answer contains the token.
import type * as Crypto from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { MemberName } from '../model/member.ts';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import type { RefusalKind } from '../core/snapshot.ts';
import { failure, json } from './answer.ts';
import type { Answer } from './answer.ts';

/** node:crypto takes 4 MB, so it is loaded at the first token. */
const load = createRequire(import.meta.url);

/** `result` becomes the body of the answer. */
export type Outcome =
  | { readonly kind: 'done'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown_member'; readonly known: readonly MemberName[] }
  /** Nothing changed. */
  | { readonly kind: 'refused'; readonly why: string; readonly problems?: readonly string[] };

export interface Operations {
  readonly refresh: () => Outcome;
  readonly reload: () => Promise<Outcome>;
  readonly drain: (member: MemberName) => Outcome;
  readonly resume: (member: MemberName) => Outcome;
  /** Accepts the primary that is refused for this reason. */
  readonly accept: (kind: RefusalKind) => Outcome;
}

export type Token =
  | { readonly kind: 'none' }
  /** `why` names the file, never its content. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'token'; readonly value: string };

export interface OperationsOptions {
  /** Called at every request, so that a changed file applies at once. */
  readonly token: () => Promise<Token>;
  readonly operations: Operations;
}

export const OPERATIONS = [
  '/refresh',
  '/reload',
  '/members/NAME/drain',
  '/members/NAME/resume',
  ...REFUSAL_KINDS.map((kind) => `/accept/${kind}` as const),
] as const;

const MOST_BODY_BYTES = 4 * 1024;
const HOW = 'set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE)';

type Operation = (operations: Operations) => Outcome | Promise<Outcome>;

/** Undefined: not the path of an operation. */
export function operationAt(path: string): Operation | undefined {
  if (path === '/refresh') return (operations) => operations.refresh();
  if (path === '/reload') return (operations) => operations.reload();
  const accepted = REFUSAL_KINDS.find((kind) => path === `/accept/${kind}`);
  if (accepted !== undefined) return (operations) => operations.accept(accepted);
  const [, written = '', verb] = /^\/members\/([^/]+)\/(drain|resume)$/.exec(path) ?? [];
  const member = decoded(written);
  if (member === undefined || verb === undefined) return undefined;
  return (operations) => (verb === 'drain' ? operations.drain(member) : operations.resume(member));
}

export async function operate(
  { token, operations }: OperationsOptions,
  operation: Operation,
  request: IncomingMessage,
): Promise<Answer> {
  const rejected = whyNotAllowed(await token(), request) ?? (await whyNotUnderstood(request));
  if (rejected !== undefined) return rejected;
  const outcome = await operation(operations);
  switch (outcome.kind) {
    case 'done':
      return json(200, outcome.result);
    case 'unknown_member':
      return failure(404, `unknown member: the members are ${outcome.known.join(', ') || '(none)'}`);
    case 'refused':
      return json(409, {
        error: outcome.why,
        ...(outcome.problems === undefined ? {} : { problems: outcome.problems }),
      });
  }
}

function decoded(written: string): string | undefined {
  try {
    return decodeURIComponent(written) || undefined;
  } catch {
    return undefined;
  }
}

function whyNotAllowed(token: Token, { headers }: IncomingMessage): Answer | undefined {
  if (token.kind === 'none') return failure(403, `operations are disabled because no token is configured: ${HOW}`);
  if (token.kind === 'unusable') return failure(403, `operations are disabled: ${token.why}`);
  const [, given] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && isSame(given, token.value)) return undefined;
  const error = given === undefined ? 'the token is missing: send Authorization: Bearer TOKEN' : 'wrong token';
  return failure(401, error, { 'www-authenticate': 'Bearer' });
}

/** Compares digests, which have equal lengths, so that the time reveals nothing about the token. */
function isSame(given: string, token: string): boolean {
  const { createHash, timingSafeEqual }: typeof Crypto = load('node:crypto');
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/** A web page can send forms and other content types without a preflight request, but not this one. */
async function whyNotUnderstood(request: IncomingMessage): Promise<Answer | undefined> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    return failure(415, 'send content-type: application/json, with {} as the body');
  }
  const body = await bodyOf(request);
  if (body === undefined) return failure(413, `the body exceeds ${MOST_BODY_BYTES} bytes: send {}`);
  return body === '' || isEmptyObject(body)
    ? undefined
    : failure(400, 'the body must be {}: operations take no fields');
}

/** Undefined: too long; the rest is discarded. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_BODY_BYTES) {
      request.resume();
      return undefined;
    }
  }
  return Buffer.concat(chunks).toString().trim();
}

function isEmptyObject(body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  } catch {
    return false;
  }
}
