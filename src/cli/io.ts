// What a command sees of the world, so that it can run without a process; and what its end means.
import type { ClusterConfig, Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import type { Loaded } from '../config/load.ts';
import type { Problem } from '../config/problem.ts';
import type { Address, MemberName } from '../core/member.ts';

export interface CliIo {
  readonly env: Environment;
  /** Each writes the text as it is: lines bring their own end. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Reads a file whole; throws what node:fs throws. Default: node:fs. */
  readonly readFile?: (file: string) => string;
}

/** Reads the same file and environment again. Without a file there is nothing that could have changed. */
export type Reload = () => Loaded | { readonly kind: 'no-file' };

/** Runs the proxy until it is told to stop; resolves with the exit code. Warnings are for its log. */
export type RunApp = (config: Config, warnings: readonly Problem[], reload: Reload) => Promise<number>;

/** What one seed answered. */
export type SeedReport =
  | {
      readonly kind: 'found';
      readonly url: string;
      readonly scope: string | undefined;
      readonly leader: MemberName | undefined;
      readonly members: readonly { readonly name: MemberName; readonly postgres: Address | undefined }[];
      /** Members of the document that would not be used, and why. */
      readonly refused: readonly { readonly name: MemberName; readonly why: string }[];
    }
  | { readonly kind: 'failed'; readonly url: string; readonly why: string };

/** Asks each seed by itself. */
export type Survey = (cluster: ClusterConfig) => Promise<readonly SeedReport[]>;

export const EXIT = {
  ok: 0,
  /** Something failed while running. */
  failure: 1,
  /** The configuration or the command line is wrong; nothing was started. */
  usage: 2,
} as const;
