// What can be asked for: POST, with the operator's token and a JSON body. Everything is looked at before anything is done, and a
// request that is turned away is told what would be right. The token itself is in no answer.
import type * as Crypto from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { MemberName } from '../model/member.ts';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import type { RefusalKind } from '../core/snapshot.ts';
import { failure, json } from './answer.ts';
import type { Answer } from './answer.ts';

/** Node's crypto keeps 4 MB: loaded when a token comes. */
const load = createRequire(import.meta.url);

/** What came of it: `result` is told as it is. */
export type Outcome =
  | { readonly kind: 'done'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown_member'; readonly known: readonly MemberName[] }
  /** Not now, or not like this; nothing changed. */
  | { readonly kind: 'refused'; readonly why: string; readonly problems?: readonly string[] };

export interface Operations {
  readonly refresh: () => Outcome;
  readonly reload: () => Promise<Outcome>;
  readonly drain: (member: MemberName) => Outcome;
  readonly resume: (member: MemberName) => Outcome;
  /** Believes the primary that is refused for this. */
  readonly accept: (kind: RefusalKind) => Outcome;
}

export type Token =
  | { readonly kind: 'none' }
  /** Configured, and of no use: `why` names the file, not what is in it. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'token'; readonly value: string };

export interface OperationsOptions {
  /** Asked at every request, so that a changed file counts at once. */
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
const HOW = 'put one into a file and name it: admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE)';

type Operation = (operations: Operations) => Outcome | Promise<Outcome>;

/** Undefined: the path is no operation. */
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
  const turnedAway = whyNotAllowed(await token(), request) ?? (await whyNotUnderstood(request));
  if (turnedAway !== undefined) return turnedAway;
  const outcome = await operation(operations);
  switch (outcome.kind) {
    case 'done':
      return json(200, outcome.result);
    case 'unknown_member':
      return failure(404, `no such member: known are ${outcome.known.join(', ') || 'none'}`);
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
  if (token.kind === 'none') return failure(403, `operations are off, since no token is configured: ${HOW}`);
  if (token.kind === 'unusable') return failure(403, `operations are off: ${token.why}`);
  const [, given] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && isSame(given, token.value)) return undefined;
  const error = given === undefined ? 'send the token: Authorization: Bearer TOKEN' : 'this is not the token';
  return failure(401, error, { 'www-authenticate': 'Bearer' });
}

/** Digests have one length, so that the time says nothing of the token's. */
function isSame(given: string, token: string): boolean {
  const { createHash, timingSafeEqual }: typeof Crypto = load('node:crypto');
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/** A page in a browser can send other content types, and forms, without being asked; not this one. */
async function whyNotUnderstood(request: IncomingMessage): Promise<Answer | undefined> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    return failure(415, 'send content-type: application/json, with {} as the body');
  }
  const body = await bodyOf(request);
  if (body === undefined) return failure(413, `the body is longer than ${MOST_BODY_BYTES} bytes: {} is enough`);
  return body === '' || isEmptyObject(body)
    ? undefined
    : failure(400, 'the body must be {}: operations take no fields');
}

/** Undefined: longer than it may be; the rest is not kept. */
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
