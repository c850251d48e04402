// PostgreSQL's own client programs, as a user runs them against one of Pointsman's listeners. They come from the
// distribution's packages: the npm package of the sandbox has the server only.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { findPostgresBinDir } from '../patroni/availability.ts';
import type { Credentials } from '../patroni/settings.ts';

export type ClientTool = 'psql' | 'pgbench' | 'pg_isready' | 'pg_receivewal' | 'pg_recvlogical';

/** The listener, and the role. */
export interface ToolTarget {
  readonly port: number;
  readonly as: Credentials;
  /** Loopback unless told; several with commas between them: the one that accepts writes. */
  readonly host?: string;
  /** Drivers that can bind their login to the certificate must do so. Default: none does. */
  readonly isBound?: boolean;
}

export interface RunningTool {
  readonly stdout: Readable;
  /** Rejects, with what it said, when it ends with another code than 0. */
  readonly done: Promise<void>;
  readonly signal: (name: NodeJS.Signals) => void;
}

/** For people; undefined when it is there. */
export function whyNoTool(name: ClientTool): string | undefined {
  if (findPostgresBinDir(name) !== undefined) return undefined;
  return `${name}: apt-get install ${name === 'pgbench' ? 'postgresql' : 'postgresql-client'}`;
}

export function startTool(name: ClientTool, to: ToolTarget, args: readonly string[], input?: Readable): RunningTool {
  const directory = findPostgresBinDir(name);
  if (directory === undefined) throw new Error(whyNoTool(name));
  const { port, as, host = '127.0.0.1' } = to;
  const child = spawn(join(directory, name), ['-h', host, '-p', String(port), ...args], {
    env: {
      PGPASSWORD: as.password,
      PGUSER: as.user,
      PGDATABASE: as.database,
      ...encryption(to),
      ...sessionAttributes(host),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const done = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${name} ended with ${code}: ${errors.join('')}`));
    });
  });
  if (input === undefined) child.stdin.end();
  else pipeline(input, child.stdin).catch(() => undefined);
  return { stdout: child.stdout, done, signal: (name) => void child.kill(name) };
}

/** In libpq's variables, which other drivers' programs read, too. */
export function encryption({ as: { ssl }, isBound = false }: Pick<ToolTarget, 'as' | 'isBound'>): NodeJS.ProcessEnv {
  if (ssl === undefined) return { PGSSLMODE: 'disable' };
  const PGCHANNELBINDING = isBound ? 'require' : 'disable';
  return { PGSSLMODE: 'verify-full', PGSSLROOTCERT: ssl.caFile, PGCHANNELBINDING };
}

/** For libpq, which takes any server without it. */
export function sessionAttributes(host: string): NodeJS.ProcessEnv {
  return host.includes(',') ? { PGTARGETSESSIONATTRS: 'read-write' } : {};
}

/** Its output. */
export async function runTool(name: ClientTool, to: ToolTarget, args: readonly string[]): Promise<string> {
  const { stdout, done } = startTool(name, to, args);
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await done;
  return Buffer.concat(chunks).toString().trim();
}
