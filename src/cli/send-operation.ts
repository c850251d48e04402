// One operation of a running Pointsman: the request with the token, and its result or its refusal on the terminal.
import { failure } from '../documents/action-answers.ts';
import { looseReader } from '../documents/loose-reader.ts';
import { CommandEnd } from './command-end.ts';
import { EXIT, type CliIo } from './io.ts';
import { request, type AdminAnswer, type AdminRequest } from './admin-request.ts';
import { findRunning, tokenFor, type Running, type RunningOptions } from './running.ts';

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
  const answer = await requestWithToken(running, { method: 'POST', path }, io);
  const text = answer.status === 200 ? describe(answer.body) : undefined;
  if (text === undefined) return reportFailure(answer, io);
  io.stdout(options.json === true ? asJson(answer.body) : text);
  return EXIT.ok;
}

export async function requestWithToken(
  running: Running,
  sent: Omit<AdminRequest, 'token'>,
  io: CliIo,
): Promise<AdminAnswer> {
  return await request(running, { ...sent, token: await tokenFor(running, io) }, io);
}

/** The documents of the admin API have their version. */
export function asJson(body: unknown): string {
  return `${JSON.stringify(body, null, 2)}\n`;
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
