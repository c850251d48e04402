// HTTP requests to a running Pointsman: their answers as documents, and their failures on the terminal.
import type { z } from 'zod';
import { failure } from '../documents/action-answers.ts';
import { looseReader } from '../documents/loose-reader.ts';
import { addressText } from '../model/member.ts';
import { adminExchange, whyNot } from './admin-exchange.ts';
import { CommandEnd, fail } from './command-end.ts';
import { EXIT, type CliIo } from './io.ts';
import { ELSEWHERE, tokenFor, type Running } from './running.ts';

/** The limit of a request that names none. */
const DEADLINE_MS = 5000;
/** The body of a refusal. */
export const failureReader = looseReader(failure);
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

/** `?pool=write`. A value that is undefined is left out. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, value);
  return `?${query.toString()}`;
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

/** Undefined: no answer, or one that the reader does not understand. */
export async function tryDocument<Document>(
  running: Running,
  path: string,
  reader: z.ZodType<Document>,
  deadlineMs = DEADLINE_MS,
): Promise<Document | undefined> {
  const answer = await tryRequest(running, { method: 'GET', path, deadlineMs });
  return answer.kind === 'answer' ? reader.safeParse(answer.body).data : undefined;
}

/** With the token. Ends the command with the answer's own error; `codes`: its exit code for some of the statuses. */
export async function documentOf<Document>(
  running: Running,
  sent: Omit<AdminRequest, 'token'>,
  reader: z.ZodType<Document>,
  io: CliIo,
  codes: Readonly<Record<number, number>> = {},
): Promise<Document> {
  const answer = await requestWithToken(running, sent, io);
  const { data } = reader.safeParse(answer.body);
  return answer.status === 200 && data !== undefined ? data : reportFailure(answer, io, codes[answer.status]);
}

export async function requestWithToken(
  running: Running,
  sent: Omit<AdminRequest, 'token'>,
  io: CliIo,
): Promise<AdminAnswer> {
  return await request(running, { ...sent, token: await tokenFor(running, io) }, io);
}

/** Ends the command with the answer's own error. */
export function reportFailure(answer: AdminAnswer, io: CliIo, code: number = EXIT.failure): never {
  printFailure(answer, io);
  throw new CommandEnd(code);
}

export function printFailure({ status, body }: AdminAnswer, io: CliIo): void {
  const { data } = failureReader.safeParse(body);
  const error = data?.error ?? `unexpected answer with HTTP status ${status}`;
  io.stderr([`pointsman: ${error}`, ...(data?.problems ?? [])].map((line) => `${line}\n`).join(''));
}
