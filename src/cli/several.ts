// Commands at several Pointsmen: `--admin` names them, each answers for itself, and one table has their answers.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { parseAdminAddress } from '../config/schema/address.ts';
import { countText } from '../core/describe.ts';
import { addressText } from '../model/member.ts';
import { CommandEnd, unlessEnded, wrong } from './command-end.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';
import type { ConsentOptions, RunningOptions } from './running.ts';
import { paintFor } from './terminal/colour.ts';
import { confirm } from './terminal/confirm.ts';
import { tableText, widthFor } from './terminal/terminal-table.ts';

/** A command at one of them. */
export interface AnswerOf<Result> {
  /** As `--admin` takes it. */
  readonly admin: string;
  /** Undefined: the command has ended with an error. */
  readonly result: Result | undefined;
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * The addresses of `--admin`: separated by commas, and all those of a DNS name. One alone stays as it was given. Ends
 * the command if one is no address.
 */
export async function adminAddresses({ admin }: RunningOptions, io: CliIo): Promise<readonly string[]> {
  if (admin === undefined) return [];
  const parts = admin.split(',').map((part) => part.trim());
  const all = await Promise.all(parts.map((part) => resolved(part, io)));
  return [...new Set(all.flat())];
}

/** A URL with TLS keeps its name, which the certificate has. */
async function resolved(text: string, io: CliIo): Promise<readonly string[]> {
  const parsed = parseAdminAddress(text);
  if (parsed.kind === 'invalid') return wrong(io, `--admin: ${parsed.message}`);
  const { host, port, isTls } = parsed.value;
  if (isTls || isIP(host) !== 0) return [text];
  // A name that is not known now is an error of the request.
  const found = await lookup(host, { all: true }).catch(() => []);
  const [first] = found;
  // A process with IPv4 and IPv6 has an address of each.
  const hosts = found.filter(({ family }) => family === first?.family).map(({ address }) => address);
  return hosts.length < 2 ? [text] : hosts.toSorted().map((one) => addressText({ host: one, port }));
}

/** Runs the command at all of them at the same time. Its output comes back instead of being printed. */
export async function askEach<Result>(
  addresses: readonly string[],
  io: CliIo,
  ask: (admin: string, io: CliIo) => Promise<Result>,
): Promise<readonly AnswerOf<Result>[]> {
  return await Promise.all(
    addresses.map(async (admin) => {
      let [out, err] = ['', ''];
      const { env, readFile, onInterrupt } = io;
      const own: CliIo = {
        env,
        stdout: (text) => void (out += text),
        stderr: (text) => void (err += text),
        ...(readFile && { readFile }),
        ...(onInterrupt && { onInterrupt }),
      };
      const result = await unlessEnded(() => ask(admin, own));
      return result instanceof CommandEnd
        ? { admin, result: undefined, code: result.code, out, err }
        : { admin, result, code: EXIT.ok, out, err };
    }),
  );
}

/** One Pointsman: the command as it is. `question`: for a command that changes something; asked once for all. */
export async function atEach<Options extends ConsentOptions>(
  options: Options,
  io: CliIo,
  act: (options: Options, io: CliIo) => Promise<number>,
  question?: string,
): Promise<number> {
  const addresses = await adminAddresses(options, io);
  const [admin = options.admin] = addresses;
  if (addresses.length < 2) return await act({ ...options, admin }, io);
  const each = async (own: Options): Promise<readonly AnswerOf<number>[]> =>
    await askEach(addresses, io, async (one, captured) => act({ ...own, admin: one }, captured));
  if (question !== undefined && options.dryRun !== true && options.yes !== true) {
    const plans = await each({ ...options, dryRun: true, json: false });
    if (options.json !== true) io.stdout(answersText(plans, io));
    const able = plans.filter(({ result }) => result === EXIT.ok).length;
    if (able === 0) return worstOf(plans);
    const where = able === plans.length ? countText(able, 'Pointsman', 'Pointsmen') : `the ${able} that can`;
    await confirm({ question: `${question} at ${where}?`, json: options.json }, io);
  }
  const answers = await each({ ...options, yes: true });
  io.stdout(options.json === true ? json({ pointsmen: answers.map(documentOf) }) : answersText(answers, io));
  return worstOf(answers);
}

/** The largest exit code: 2, wrong usage, before 1, a failure. */
export function worstOf(answers: readonly AnswerOf<unknown>[]): number {
  return Math.max(...answers.map(({ result, code }) => (typeof result === 'number' ? result : code)));
}

/** The output of one, without empty lines. */
export function linesOf({ out, err }: Pick<AnswerOf<unknown>, 'out' | 'err'>): readonly string[] {
  return `${out}${err.replaceAll(/^pointsman: /gm, '')}`.split('\n').filter((line) => line.trim() !== '');
}

function answersText(answers: readonly AnswerOf<number>[], io: CliIo): string {
  const paint = paintFor(io);
  const rows = answers.flatMap((answer) =>
    linesOf(answer).map((line, index) => [
      index === 0 ? answer.admin : '',
      (answer.result ?? answer.code) === EXIT.ok ? line : paint('bad', line),
    ]),
  );
  return tableText([{ title: 'ADMIN' }, { title: 'ANSWER', wraps: true }], rows, widthFor(io));
}

/** For `--json`. */
function documentOf(answer: AnswerOf<number>): Readonly<Record<string, unknown>> {
  const { admin, out, err } = answer;
  return {
    admin,
    exit_code: answer.result ?? answer.code,
    answer: out === '' ? null : (JSON.parse(out) as unknown),
    error: err === '' ? null : linesOf({ out: '', err }).join(' '),
  };
}
