// The environment of a command (variables, output, files), so that tests run it without a process; and the exit codes.
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/source/environment.ts';
import type { LoadResult } from '../config/load.ts';
import type { Problem } from '../config/fault.ts';
import type { SkillDialect } from '../model/skill-dialect.ts';

export interface CliIo {
  readonly env: Environment;
  /** Writes the text as it is; lines include their newline. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Reads a whole file; throws what node:fs throws. Default: node:fs. */
  readonly readFile?: (file: string) => string;
  /** Writes a whole file; throws what node:fs throws. `mode`: `wx` fails for a file that exists. Default: node:fs. */
  readonly writeFile?: (file: string, text: string, mode: 'w' | 'wx') => void;
  /** The terminal on standard output: for colour, widths and live screens. Absent: a file or a pipe. */
  readonly screen?: { readonly size: () => { readonly columns: number; readonly rows: number } };
  /** Asks on the terminal. Undefined: the input ended, or Ctrl-C. Absent: nobody can be asked. */
  readonly readLine?: (question: string) => Promise<string | undefined>;
  /** The lines of standard input, until its end. Absent: there is no input. */
  readonly readLines?: () => AsyncIterable<string>;
  /** Calls the listener for each key, Ctrl-C included, until the returned function is called. Absent: no terminal. */
  readonly onKey?: (listener: (key: string) => void) => () => void;
  /**
   * Calls the listener for Ctrl-C, SIGTERM and SIGHUP, which else end the process, until the returned function is
   * called. `code`: the exit code of a command that the signal ends. Absent: no signal arrives.
   */
  readonly onInterrupt?: (listener: (code: number) => void) => () => void;
  /** Calls the listener when standard output takes nothing any more, until the returned function is called. */
  readonly onOutputLost?: (listener: () => void) => () => void;
}

/** Reads the same file and environment again. `no-file`: the configuration came from the environment alone. */
export type Reload = () => LoadResult | { readonly kind: 'no_file' };

export interface RunRequest {
  readonly config: Config;
  /** For the log. */
  readonly warnings: readonly Problem[];
  /** Undefined: the environment alone. */
  readonly file: string | undefined;
  readonly reload: Reload;
}

/** Runs the proxy until it is stopped; resolves with the exit code. */
export type RunApp = (request: RunRequest) => Promise<number>;

export interface SandboxRequest {
  readonly members: number;
  /** `embedded`, `system` or a directory. */
  readonly postgres: string;
  readonly dialect: 'manager' | 'patroni';
  /** With branches; their list comes from this API. */
  readonly branches?: 'storage' | 'console';
  /** Sessions move to the next primary. */
  readonly moves?: boolean;
  /** Reads see every acknowledged write. */
  readonly causalReads?: boolean;
  /** TLS on both sides of Pointsman. */
  readonly tls?: boolean;
  /** With a model platform; commands name versions of skills in this way. */
  readonly platform?: SkillDialect;
  /** Each host:port, on loopback. */
  readonly write: string;
  readonly read: string;
  readonly admin: string;
  readonly control: string;
  /** The verbs find the sandbox without being told its address. */
  readonly isUsualControl: boolean;
}

/** One line for the terminal: the result, or the reason of the failure. */
export interface SandboxAnswer {
  readonly ok: boolean;
  /** The sandbox has no such member. */
  readonly isUnknown?: boolean;
  readonly text: string;
}

/** `control`: host:port of the sandbox. */
export interface SandboxParts {
  readonly verbs: readonly {
    readonly name: string;
    /** True: it takes no member. */
    readonly alone?: boolean;
    readonly target: 'primary' | 'replica' | undefined;
    readonly summary: string;
  }[];
  /** Resolves with the exit code after the sandbox has ended and cleaned up. */
  readonly run: (request: SandboxRequest) => Promise<number>;
  readonly ask: (control: string, verb: string, target: string | undefined) => Promise<SandboxAnswer>;
  /** One statement, through the Pointsman of the sandbox. */
  readonly sql: (control: string, pool: 'write' | 'read', statement: string) => Promise<SandboxAnswer>;
  /** The configuration for a second Pointsman before its cluster. */
  readonly config: (control: string) => Promise<SandboxAnswer>;
}

/** deploy/operate.md has their meaning over all commands, and those of `branches` beside them. */
export const EXIT = {
  ok: 0,
  /** A failure at run time. */
  failure: 1,
  /** Wrong configuration or command line. */
  usage: 2,
  /** Ctrl-C: 128 and the number of the signal, as a shell reports it. */
  interrupted: 130,
} as const;
