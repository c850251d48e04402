// HTTP requests to a running Pointsman.
import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import { addressText } from '../model/member.ts';
import type { CliIo } from './io.ts';
import { ELSEWHERE } from './running.ts';
import type { Running } from './running.ts';

// Importing node:http would also load fetch and WebSocket: 12 MB of memory.
const require = createRequire(import.meta.url);
/** With TLS: verified with the certificates that Node trusts (NODE_EXTRA_CA_CERTS adds some). */
export const httpFor = (isTls: boolean): typeof Http => require(isTls ? 'node:https' : 'node:http');

const MOST_BYTES = 16 * 1024 * 1024;
/** Of a request that names none. */
const DEADLINE_MS = 5000;
const IS_IT_RUNNING = 'Is Pointsman running with this admin.address?';

export interface AdminRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token?: string;
  /** The JSON body of a POST. Default: an empty object. */
  readonly body?: unknown;
  /** A successful answer is text. */
  readonly isText?: boolean;
  /** Milliseconds. Default: five seconds. */
  readonly deadlineMs?: number;
}

export interface AdminAnswer {
  readonly status: number;
  /** Parsed JSON, or a text that was asked for. */
  readonly body: unknown;
}

/** Undefined if there is no answer, or not from a Pointsman; the remedy is then on stderr. */
export async function request(running: Running, sent: AdminRequest, io: CliIo): Promise<AdminAnswer | undefined> {
  const answer = await tryRequest(running, sent);
  if (answer.kind === 'answer') return answer;
  io.stderr(`pointsman: ${answer.why} ${ELSEWHERE}\n`);
  return undefined;
}

/** `why`: one or two sentences. `isSent`: a Pointsman may have the request. */
export type RequestResult =
  | ({ readonly kind: 'answer' } & AdminAnswer)
  | { readonly kind: 'failed'; readonly why: string; readonly isSent: boolean };

export async function tryRequest(running: Running, sent: AdminRequest): Promise<RequestResult> {
  const where = addressText(running.address);
  let isSent = false;
  const onSent = (): void => void (isSent = true);
  try {
    const { status, text } = await exchange(running, sent, onSent);
    const isText = sent.isText === true && status === 200;
    return { kind: 'answer', status, body: isText ? text : JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError)
      return { kind: 'failed', why: `${where} is not a Pointsman admin endpoint.`, isSent };
    return { kind: 'failed', why: `no answer from ${where} (${whyNot(error)}). ${IS_IT_RUNNING}`, isSent };
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'no such host'],
  ['ECONNRESET', 'connection reset'],
  ['EHOSTUNREACH', 'no route to host'],
]);

/** In words an operator reads. */
export function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = error instanceof Error ? error.message : String(error);
  // The code EPROTO alone may be a fault of a server that speaks TLS: its version, or its wish for a certificate.
  if (/:(?:wrong version number|packet length too long):/.test(message)) return 'it does not speak TLS: write http://';
  return REASONS.get(code) ?? message.trim();
}

function exchange(
  { address: { host, port }, isTls }: Running,
  { method, path, token, body = {}, deadlineMs = DEADLINE_MS }: AdminRequest,
  onSent: () => void,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(deadlineMs);
    const sent = httpFor(isTls).request({ host, port, method, path, headers, agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MOST_BYTES) sent.destroy(new Error('the answer is too long'));
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', (error) => reject(signal.aborted ? new Error(`no answer within ${deadlineMs / 1000} s`) : error));
    sent.once('socket', (socket) => socket.once('connect', onSent));
    sent.end(method === 'POST' ? JSON.stringify(body) : undefined);
  });
}
