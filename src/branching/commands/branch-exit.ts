// Exit codes of `pointsman branches`, beside those of every command: a job of CI decides by them.
import { fail } from '../../cli/command-end.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';

export const BRANCH_EXIT = {
  ...EXIT,
  /** The same command, run again, goes on. */
  unfinished: 3,
  /** A rule forbids it: the same command is refused again. */
  refused: 4,
} as const;

export function endWith(code: (typeof BRANCH_EXIT)[keyof typeof BRANCH_EXIT], why: string, io: CliIo): never {
  return fail(io, why, code);
}
