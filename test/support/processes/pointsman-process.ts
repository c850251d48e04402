// Pointsman as its users run it: a process of its own, started from the command line with a configuration file, watched
// through its log lines and its admin port. Ends with the test, by its own id.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { z } from 'zod';
import { waitUntil } from '../waiting/wait.ts';
import { withoutScope } from '../values/samples.ts';
import { MAIN } from './program.ts';
import { expectNoCanary } from '../values/canaries.ts';

const FILE = 'pointsman.yaml';
/** Less than a test or a hook may take, so that a start that fails is explained by the log. */
const START_MS = 45_000;
/** The same for an answer of the admin port. */
const ANSWER_MS = 20_000;

const listening = z.looseObject({ event: z.literal('listening'), pool: z.string(), address: z.string() });

const logLine = z
  .string()
  .transform((line, context): unknown => {
    try {
      return JSON.parse(line);
    } catch {
      context.addIssue('not JSON');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.unknown()));

export type LogLine = Readonly<Record<string, unknown>>;

export class PointsmanProcess {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #exited: Promise<number | string>;
  /** After the exit: its output is complete. */
  readonly #closed: Promise<void>;
  readonly lines: LogLine[] = [];
  readonly stderr: string[] = [];

  constructor(child: ChildProcess, directory: string) {
    this.#child = child;
    this.#directory = directory;
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
    this.#closed = new Promise((resolve) => void child.once('close', () => resolve()));
    if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => this.#take(line));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk.toString());
      expectNoCanary('stderr', this.stderr.slice(-2).join(''));
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('Pointsman did not start');
    return this.#child.pid;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Port of the listener for a pool, or of `admin`, as the process said when it was bound. */
  async port(pool: string): Promise<number> {
    const address = await this.waitFor(`a listener for ${pool}`, () => {
      for (const line of this.lines) {
        const { data } = listening.safeParse(line);
        if (data?.pool === pool) return data.address;
      }
      return this.#hasEnded && 'none';
    });
    if (address === 'none') throw new Error(`Pointsman has ended, and had no listener for ${pool}`);
    return Number(address.slice(address.lastIndexOf(':') + 1));
  }

  async admin(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const url = `http://127.0.0.1:${await this.port('admin')}${path}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    expectNoCanary(`the answer to GET ${path}`, text);
    return { status: response.status, text };
  }

  /** An operation, which must succeed. */
  async operate(path: string, token: string): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${await this.port('admin')}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  }

  async waitUntilReady(): Promise<void> {
    const isReady = async (): Promise<boolean> => (await this.admin('/readyz')).status === 200;
    await this.waitFor('readiness or the end', async () => this.#hasEnded || (await isReady()), START_MS);
    if (this.#hasEnded) throw new Error(`Pointsman has ended before it was ready\n${this.explain()}`);
  }

  /** The value of a metric's sample, by its name and labels without the scope; undefined when there is none. */
  async metric(sample: string): Promise<number | undefined> {
    const { text } = await this.admin('/metrics');
    const line = withoutScope(text)
      .split('\n')
      .find((candidate) => candidate.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length + 1));
  }

  waitFor<T>(what: string, ask: () => T | undefined | false | Promise<T | undefined | false>, timeoutMs = 20_000) {
    const asked = async (): Promise<T | undefined | false> => await ask();
    return waitUntil(what, asked, { timeoutMs, everyMs: 20, explain: () => Promise.resolve(this.explain()) });
  }

  /** The log without ordinary traffic, for failure messages. */
  explain(): string {
    const told = this.lines.filter((line) => line['level'] !== 'debug').slice(-60);
    const tail = told.map(
      (line) => `${String(line['time'])} ${String(line['level'])} ${String(line['msg'] ?? line['raw'])}`,
    );
    return ['Pointsman said:', ...tail, ...this.stderr].join('\n');
  }

  /** Writes its configuration file anew; it reads it at a SIGHUP. */
  async configure(config: unknown): Promise<void> {
    await writeConfig(this.#directory, config);
  }

  /** Its configuration file, for tests that do other things to it. */
  get file(): string {
    return join(this.#directory, FILE);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The exit code, or the signal's name. Its output and that of its workers is complete. */
  async exited(): Promise<number | string> {
    await this.#closed;
    return this.#exited;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
    await rm(this.#directory, { recursive: true, force: true });
  }

  #take(line: string): void {
    expectNoCanary('the log', line);
    const parsed = logLine.safeParse(line);
    this.lines.push(parsed.success ? parsed.data : { raw: line });
  }
}

async function writeConfig(directory: string, config: unknown): Promise<string> {
  const file = join(directory, FILE);
  await writeFile(file, typeof config === 'string' ? config : stringify(config));
  return file;
}

/** Ends with the process that started it, in every case: its standard input closes then. */
export const END_WITH_PARENT =
  'data:text/javascript,process.stdin.once("close", () => process.kill(process.pid, "SIGKILL")).resume()';

export interface ProcessOptions {
  /** A file for the log, whose lines are not read then. */
  readonly stdout?: number | 'pipe';
  /** The limit on them, which it cannot raise. */
  readonly openFiles?: number;
  /** Words before its command, such as the way into a network namespace. */
  readonly within?: readonly string[];
}

function startProcess(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  directory: string,
  { stdout = 'pipe', openFiles, within = [] }: ProcessOptions = {},
): PointsmanProcess {
  const argv = ['--import', END_WITH_PARENT, MAIN, command, ...args];
  const limited = openFiles === undefined ? [] : ['prlimit', `--nofile=${openFiles}:${openFiles}`];
  const [program = '', ...rest] = [...within, ...limited, process.execPath, ...argv];
  // Nothing else of the tests' own environment: it could carry settings.
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(program, rest, { stdio: ['pipe', stdout, 'pipe'], env: { NODE_COMPILE_CACHE, ...env } });
  return new PointsmanProcess(child, directory);
}

/** Starts `pointsman run` with this configuration; see waitUntilReady(). */
export async function startPointsman(
  config: unknown,
  env: NodeJS.ProcessEnv = {},
  options?: ProcessOptions,
): Promise<PointsmanProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  return startProcess('run', ['-c', await writeConfig(directory, config)], env, directory, options);
}

/** Runs `pointsman check` with these arguments behind it. */
export async function checkConfig(config: unknown, ...args: readonly string[]): Promise<PointsmanProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  return startProcess('check', ['-c', await writeConfig(directory, config), ...args], {}, directory);
}

/** Starts it without a file. */
export async function startPointsmanFrom(env: NodeJS.ProcessEnv): Promise<PointsmanProcess> {
  return startProcess('run', [], env, await mkdtemp(join(tmpdir(), 'pointsman-test-')));
}
