// A real Prometheus with its own storage and configuration, asked through its HTTP API.
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { findFreePorts } from '../sockets/free-ports.ts';
import { waitUntil } from '../waiting/wait.ts';

/** Another process can take the port that was free a moment ago. */
const TRIES = 3;

export const missingPrometheus = isThere()
  ? undefined
  : 'prometheus and setpriv (npm run prerequisites installs the package prometheus; setpriv is in util-linux)';

function isThere(): boolean {
  try {
    for (const program of ['prometheus', 'setpriv']) execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const labels = z.record(z.string(), z.string());
const answer = z.union([
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);
const series = z.object({ metric: labels });
const result = z.object({ result: z.array(series) });
const firing = z.object({
  alerts: z.array(z.object({ labels, annotations: labels, state: z.enum(['pending', 'firing']) })),
});

/** A time of the past, in seconds of Unix time. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

export class PrometheusProcess {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #port: number;
  readonly #said: string[] = [];

  private constructor(child: ChildProcess, directory: string, port: number) {
    this.#child = child;
    this.#directory = directory;
    this.#port = port;
    child.stderr?.on('data', (chunk: Buffer) => this.#said.push(chunk.toString()));
  }

  /** It answers when this resolves. Relative names in `config` are those of its directory, which has `files`. */
  static async start(config: unknown, files: Readonly<Record<string, string>>): Promise<PrometheusProcess> {
    for (let tries = 1; ; tries += 1) {
      const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
      const directory = await mkdtemp(join(tmpdir(), 'pointsman-prometheus-'));
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
      await writeFile(join(directory, 'prometheus.yml'), stringify(config));
      const own = [
        `--config.file=${join(directory, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
      ];
      const args = ['--pdeathsig', 'KILL', 'prometheus', ...own, `--web.listen-address=127.0.0.1:${port}`];
      const one = new PrometheusProcess(
        spawn('setpriv', args, { stdio: ['ignore', 'ignore', 'pipe'] }),
        directory,
        port,
      );
      if (await one.#isReady()) return one;
      await one.stop();
      if (tries === TRIES) throw new Error(`Prometheus ended: ${one.#said.join('').slice(-2000)}`);
    }
  }

  /** The labels of every series of `expr` that had a sample in this time. Throws for a query that it refuses. */
  async series(expr: string, { start, end }: TimeRange): Promise<readonly z.infer<typeof labels>[]> {
    const form = { query: expr, start: String(start), end: String(end), step: '1' };
    const data = await this.#post('query_range', form);
    return result.parse(data).result.map(({ metric }) => metric);
  }

  /** Pending and firing alerts with their rendered texts. */
  async alerts(): Promise<z.infer<typeof firing>['alerts']> {
    return firing.parse(await this.#post('alerts')).alerts;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await exited;
    }
    await rm(this.#directory, { recursive: true });
  }

  async #post(path: string, form?: Readonly<Record<string, string>>): Promise<unknown> {
    const request = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const response = await fetch(`http://127.0.0.1:${this.#port}/api/v1/${path}`, request);
    const given = answer.parse(await response.json());
    if (given.status === 'error') throw new Error(`${form?.['query'] ?? path}: ${given.error}`);
    return given.data;
  }

  /** False when the process has ended instead. */
  #isReady(): Promise<boolean> {
    return waitUntil(
      'Prometheus ready',
      async () => {
        const response = await fetch(`http://127.0.0.1:${this.#port}/-/ready`).catch(() => undefined);
        // After the question: another process may have answered it.
        if (this.#child.exitCode !== null) return 'ended';
        return response?.ok === true ? 'ready' : undefined;
      },
      { timeoutMs: 30_000, explain: () => Promise.resolve(this.#said.join('')) },
    ).then((found) => found === 'ready');
  }
}
