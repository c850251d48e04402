// pgbench, at full load or at a steady rate: each transaction inserts one row, so that the acknowledged ones can be
// counted in the table.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { startTool, type ToolTarget } from '../applications/client-tools.ts';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';

export type PgbenchMode = 'simple' | 'extended' | 'prepared' | 'pipeline';

/** Unless it is finished before. */
const MOST_SECONDS = 120;
/** Transactions a second for a test of a whole cluster: at full load its members themselves have too little time. */
export const STEADY_RATE = 50;

export const PGBENCH_MODES: readonly PgbenchMode[] = ['simple', 'extended', 'prepared', 'pipeline'];

export interface PgbenchResult {
  /** Transactions that pgbench had confirmed. */
  readonly acknowledged: number;
  /** Its words about each client that it lost. */
  readonly errors: readonly string[];
  /** The longest transaction, the waiting for its next server included. */
  readonly longestMs: number;
}

export interface PgbenchOptions {
  readonly mode: PgbenchMode;
  readonly clients: number;
  /** For its script and its log. */
  readonly directory: string;
  /** The source of the rows. */
  readonly source: string;
  /** Transactions a second of all its clients. Absent: full load. */
  readonly rate?: number;
}

/** Two rows a transaction in a pipeline, of which both must be there or none. */
function scriptOf(mode: PgbenchMode, source: string): string {
  const insert = `insert into loaded (source) values ('${source}');`;
  if (mode !== 'pipeline') return `${insert}\n`;
  return ['\\startpipeline', 'begin;', insert, insert, 'commit;', '\\endpipeline', ''].join('\n');
}

export function rowsOf(mode: PgbenchMode, { acknowledged }: PgbenchResult): number {
  return mode === 'pipeline' ? 2 * acknowledged : acknowledged;
}

/** The rows of this source on the primary. */
export async function storedRows(cluster: ClusterUnderTest, source: string): Promise<number> {
  const { name } = await cluster.leader();
  const count = `select count(*)::int as n from loaded where source = '${source}'`;
  const [row] = await cluster.sql(name, count, { timeoutMs: 20_000 });
  return Number(row?.['n']);
}

export interface RunningPgbench {
  /** Settles when its clients have ended, too. */
  readonly result: Promise<PgbenchResult>;
  /** Each client ends after its transaction. */
  finish(): Promise<PgbenchResult>;
}

export function startPgbench(to: ToolTarget, options: PgbenchOptions): RunningPgbench {
  const { mode, clients, directory, source, rate } = options;
  const script = join(directory, `${source}.sql`);
  writeFileSync(script, scriptOf(mode, source));
  const log = `${source}-log`;
  const { stdout, done, signal } = startTool('pgbench', to, [
    '--no-vacuum',
    `--file=${script}`,
    `--protocol=${mode === 'pipeline' ? 'extended' : mode}`,
    `--client=${clients}`,
    `--time=${MOST_SECONDS}`,
    ...(rate === undefined ? [] : [`--rate=${rate}`]),
    '--log',
    `--log-prefix=${join(directory, log)}`,
  ]);
  const result = resultOf(stdout, done, directory, log);
  result.catch(() => undefined);
  return {
    result,
    finish() {
      // Its own alarm clock for the end of its time.
      signal('SIGALRM');
      return result;
    },
  };
}

async function resultOf(stdout: Readable, done: Promise<void>, directory: string, log: string): Promise<PgbenchResult> {
  const ended = done.then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const [said, failure] = await Promise.all([text(stdout), ended]);
  const acknowledged = /transactions actually processed: (\d+)/.exec(said)?.[1];
  if (acknowledged === undefined) throw new Error(`pgbench: ${failure}${said}`);
  const files = readdirSync(directory).filter((file) => file.startsWith(`${log}.`));
  const lines = files.flatMap((file) => readFileSync(join(directory, file), 'utf8').trim().split('\n'));
  return {
    acknowledged: Number(acknowledged),
    errors: failure.split('\n').filter((line) => /error: client \d+/.test(line)),
    longestMs: lines.map(latencyMs).reduce((most, one) => Math.max(most, one), 0),
  };
}

/** Client, transaction, microseconds, and more. */
function latencyMs(line: string): number {
  return Number(line.split(' ')[2] ?? Number.NaN) / 1000;
}
