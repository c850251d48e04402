// `pointsman cluster …` as a process of its own, without a terminal or on one.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { MAIN } from './program.ts';

export interface Ran {
  readonly code: number;
  /** On a terminal also what goes to standard error. */
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The command runs on a terminal (script(1)), where this is typed. */
  readonly typed?: string;
}

export async function runCluster(argv: readonly string[], { cwd, env = {}, typed }: RunOptions): Promise<Ran> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const options = { cwd, env: { PATH, NODE_COMPILE_CACHE, TZ: 'Europe/Berlin', TERM: 'xterm', ...env } };
  const command = [process.execPath, MAIN, 'cluster', ...argv];
  const [file = '', ...args] =
    typed === undefined ? command : ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null'];
  const child = promisify(execFile)(file, args, options);
  child.child.stdin?.end(typed);
  return child.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
  );
}

/** The output of a command that must succeed. */
export async function done(ran: Promise<Ran>): Promise<string> {
  const { code, out, err } = await ran;
  expect(code, `${out}${err}`).toBe(0);
  return out;
}
