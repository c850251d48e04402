// What a command sees of the world, so that it can run without a process; and what its end means.
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import type { Problem } from '../config/problem.ts';

export interface CliIo {
  readonly env: Environment;
  /** Each writes the text as it is: lines bring their own end. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Reads a file whole; throws what node:fs throws. Default: node:fs. */
  readonly readFile?: (file: string) => string;
}

/** Runs the proxy until it is told to stop; resolves with the exit code. Warnings are for its log. */
export type RunApp = (config: Config, warnings: readonly Problem[]) => Promise<number>;

export const EXIT = {
  ok: 0,
  /** Something failed while running. */
  failure: 1,
  /** The configuration or the command line is wrong; nothing was started. */
  usage: 2,
} as const;
