// What a command sees of the world, so that it can run without a process; and what its end means.
import type { Config } from '../config/config.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { Environment } from '../config/source/environment.ts';
import type { Loaded } from '../config/load.ts';
import type { Problem } from '../config/fault.ts';
import type { Address, MemberName, MemberRefusal } from '../model/member.ts';

export interface CliIo {
  readonly env: Environment;
  /** Each writes the text as it is: lines bring their own end. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Reads a file whole; throws what node:fs throws. Default: node:fs. */
  readonly readFile?: (file: string) => string;
}

/** Reads the same file and environment again. Without a file there is nothing that could have changed. */
export type Reload = () => Loaded | { readonly kind: 'no_file' };

/** Runs the proxy until it is told to stop; resolves with the exit code. Warnings are for its log. */
export type RunApp = (config: Config, warnings: readonly Problem[], reload: Reload) => Promise<number>;

/** What one seed answered. */
export type SeedReport =
  | {
      readonly kind: 'found';
      readonly url: string;
      readonly scope: string | undefined;
      readonly leader: MemberName | undefined;
      /** `10.0.0.1:8008`: what its name, or directory, gave; empty where it is an address itself. */
      readonly contactPoints: readonly string[];
      readonly members: readonly { readonly name: MemberName; readonly postgres: Address | undefined }[];
      /** What would not be used of the document, and why. */
      readonly refused: readonly MemberRefusal[];
    }
  | { readonly kind: 'failed'; readonly url: string; readonly why: string };

/** Asks each seed by itself. */
export type Survey = (cluster: ClusterConfig) => Promise<readonly SeedReport[]>;

export interface SandboxRequest {
  readonly members: number;
  /** `embedded`, `system` or a directory. */
  readonly postgres: string;
  readonly dialect: 'manager' | 'patroni';
  /** Each host:port, on loopback. */
  readonly write: string;
  readonly read: string;
  readonly admin: string;
  readonly control: string;
}

/** Resolves with the exit code when the sandbox has ended and left nothing. */
export type RunSandbox = (request: SandboxRequest) => Promise<number>;

/** One line for people: what was done, or why not. */
export interface SandboxAnswer {
  readonly ok: boolean;
  readonly text: string;
}

/** Asks the sandbox that runs at `control` (host:port) to break or mend something. */
export type AskSandbox = (control: string, verb: string, target: string | undefined) => Promise<SandboxAnswer>;

/** Runs one statement through the Pointsman of the sandbox at `control`. */
export type SandboxSql = (control: string, pool: 'write' | 'read', statement: string) => Promise<SandboxAnswer>;

export interface SandboxParts {
  readonly verbs: readonly {
    readonly name: string;
    readonly target: 'primary' | 'replica' | undefined;
    readonly summary: string;
  }[];
  readonly run: RunSandbox;
  readonly ask: AskSandbox;
  readonly sql: SandboxSql;
}

export const EXIT = {
  ok: 0,
  /** Something failed while running. */
  failure: 1,
  /** The configuration or the command line is wrong; nothing was started. */
  usage: 2,
} as const;
