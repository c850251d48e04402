// One operation of a running Pointsman: the request with the token, and its result or its refusal on the terminal.
import { failure } from '../documents/action-answers.ts';
import { looseReader } from '../documents/loose-reader.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { request } from './admin-request.ts';
import type { AdminAnswer, AdminRequest } from './admin-request.ts';
import { findRunning, tokenFor } from './running.ts';
import type { Running, RunningOptions } from './running.ts';

/** The body of a refusal. */
export const failureReader = looseReader(failure);

export interface OperateOptions extends RunningOptions {
  /** Print the answer instead of text. */
  readonly json?: boolean | undefined;
}

/** `describe` turns the answer into text; undefined: the answer has another shape. */
export async function operate(
  path: string,
  options: OperateOptions,
  io: CliIo,
  describe: (body: unknown) => string | undefined,
): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const answer = await requestWithToken(running, { method: 'POST', path }, io);
  if (typeof answer === 'number') return answer;
  const text = answer.status === 200 ? describe(answer.body) : undefined;
  if (text === undefined) return reportFailure(answer, io);
  io.stdout(options.json === true ? asJson(answer.body) : text);
  return EXIT.ok;
}

/** A number is the exit code; the reason is then on stderr. */
export async function requestWithToken(
  running: Running,
  sent: Omit<AdminRequest, 'token'>,
  io: CliIo,
): Promise<AdminAnswer | number> {
  const token = await tokenFor(running, io);
  if (token === undefined) return EXIT.usage;
  return (await request(running, { ...sent, token }, io)) ?? EXIT.failure;
}

/** The documents of the admin API have their version. */
export function asJson(body: unknown): string {
  return `${JSON.stringify(body, null, 2)}\n`;
}

/** Prints the answer's own error. */
export function reportFailure({ status, body }: AdminAnswer, io: CliIo): number {
  const { data } = failureReader.safeParse(body);
  const error = data?.error ?? `unexpected answer with HTTP status ${status}`;
  io.stderr([`pointsman: ${error}`, ...(data?.problems ?? [])].map((line) => `${line}\n`).join(''));
  return EXIT.failure;
}
