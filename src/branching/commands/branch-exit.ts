// Exit codes of `pointsman branches`, beside those of every command: a job of CI decides by them.
import { EXIT } from '../../cli/io.ts';

export const BRANCH_EXIT = {
  ...EXIT,
  /** The same command, run again, goes on. */
  unfinished: 3,
  /** A rule forbids it: the same command is refused again. */
  refused: 4,
} as const;
