// HTTP requests to a running Pointsman.
import { addressText } from '../model/member.ts';
import { adminExchange, whyNot } from './admin-exchange.ts';
import { fail } from './command-end.ts';
import type { CliIo } from './io.ts';
import { ELSEWHERE, type Running } from './running.ts';

/** The limit of a request that names none. */
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

/** Ends the command if there is no answer, or not from a Pointsman. */
export async function request(running: Running, sent: AdminRequest, io: CliIo): Promise<AdminAnswer> {
  const answer = await tryRequest(running, sent);
  if (answer.kind === 'answer') return answer;
  return fail(io, `${answer.why} ${ELSEWHERE}`);
}

/** `why`: one or two sentences. `isSent`: a Pointsman may have the request. */
export type RequestResult =
  | ({ readonly kind: 'answer' } & AdminAnswer)
  | { readonly kind: 'failed'; readonly why: string; readonly isSent: boolean };

export async function tryRequest(running: Running, request: AdminRequest): Promise<RequestResult> {
  const { method, path, token, body = {}, deadlineMs = DEADLINE_MS } = request;
  const where = addressText(running.address);
  let isSent = false;
  try {
    const { status, body: text } = await adminExchange(running, {
      method,
      path,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(method === 'POST' && { json: body }),
      deadlineMs,
      onSent: () => void (isSent = true),
    });
    const isText = request.isText === true && status === 200;
    return { kind: 'answer', status, body: isText ? text : JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError)
      return { kind: 'failed', why: `${where} is not a Pointsman admin endpoint.`, isSent };
    return { kind: 'failed', why: `no answer from ${where} (${whyNot(error)}). ${IS_IT_RUNNING}`, isSent };
  }
}
