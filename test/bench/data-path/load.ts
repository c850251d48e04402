// The load program (test/bench/load, in C): compiled once per run into its own directory, started per measurement.
import { existsSync, globSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findExecutable } from '../../support/patroni/availability.ts';
import { Child, run } from './child.ts';

const SOURCES = join(import.meta.dirname, '../load');

const FLAGS = ['-std=c11', '-O2', '-Wall', '-Werror'];
const LIBRARIES = ['-lssl', '-lcrypto'];

const measured = z.object({
  /** Completed round trips or sessions. */
  done: z.number(),
  failed: z.number().default(0),
  seconds: z.number(),
  /** Processor time of the watched processes in the measured window. */
  cpuUs: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
  p999Us: z.number(),
});

export type Measured = z.infer<typeof measured>;
export type LoadArguments = Readonly<Record<string, string | number>>;

export function whyNoLoad(): string | undefined {
  const isThere = findExecutable('gcc') !== undefined && existsSync('/usr/include/openssl/ssl.h');
  return isThere ? undefined : 'gcc and OpenSSL: apt-get install gcc libc6-dev libssl-dev';
}

export class Load implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), 'pointsman-load-'));
  readonly #program = join(this.#directory.path, 'load');
  /** The cores of later starts, as taskset lists them. */
  cores: string | undefined;

  private constructor() {
    // Only compile() creates it.
  }

  static async compile(): Promise<Load> {
    const missing = whyNoLoad();
    if (missing !== undefined) throw new Error(`the load program needs ${missing}`);
    using started = new DisposableStack();
    const load = started.use(new Load());
    const sources = globSync(join(SOURCES, '*.c'));
    await run({ command: 'gcc', args: [...FLAGS, '-o', load.#program, ...sources, ...LIBRARIES] });
    started.move();
    return load;
  }

  start(mode: string, given: LoadArguments = {}): Child {
    const args = [mode, ...Object.entries(given).map(([key, value]) => `${key}=${value}`)];
    return new Child({ command: this.#program, args, cores: this.cores });
  }

  /** Resolves with the backend's port. `given`: with a certificate it takes TLS as well. */
  async backend(given: LoadArguments = {}): Promise<{ readonly port: number; readonly child: Child }> {
    const child = this.start('backend', given);
    const told = z.object({ port: z.number() });
    return { child, port: await child.saying('port', (line) => told.safeParse(jsonOf(line)).data?.port) };
  }

  async measure(mode: 'ping-pong' | 'connects', given: LoadArguments): Promise<Measured> {
    await using child = this.start(mode, given);
    child.release();
    const lines = await child.done();
    return measured.parse(jsonOf(lines.at(-1) ?? ''));
  }

  /** Resolves when all sessions are open; they stay open until the child is disposed of. */
  async hold(mode: 'idle' | 'stalled', given: LoadArguments): Promise<Child> {
    const child = this.start(mode, given);
    const told = z.object({ held: z.number() });
    await child.saying('sessions', (line) => told.safeParse(jsonOf(line)).data?.held, 120_000);
    return child;
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
