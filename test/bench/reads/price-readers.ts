// Readers in a closed loop: pgbench, which costs less than a reader in this process would. Each reads one row by key.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTool, type ToolTarget } from '../../support/applications/client-tools.ts';
import { waitUntil } from '../../support/waiting/wait.ts';

export const ROWS = 1_000;
export const CREATE_ROWS = `create table kept (id int primary key, n int not null);
  insert into kept select id, 0 from generate_series(1, ${ROWS}) as id`;
const SCRIPT = `\\set id random(1, ${ROWS})\nselect n from kept where id = :id;\n`;
const LOG = 'reads';
/** From their first statement on they have more time than the window, because they must not end within it. */
const SPARE_S = 1.5;
const START_MS = 30_000;

export interface ReaderPlan {
  readonly to: ToolTarget;
  readonly readers: number;
  readonly seconds: number;
  /** For their files. */
  readonly directory: string;
}

export interface Window {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Readers {
  /** When they have read. */
  readonly reading: () => Promise<void>;
  /** The reads that ended within the window of the clock of the day, when all have ended. */
  readonly ended: (window: Window) => Promise<EndedReads>;
}

export interface EndedReads {
  readonly perSecond: number;
  /** Milliseconds, in order. */
  readonly timesMs: readonly number[];
  /** Readers that ended with an error. */
  readonly errors: readonly string[];
}

export function startReaders({ to, readers, seconds, directory }: ReaderPlan): Readers {
  const own = mkdtempSync(join(directory, 'readers-'));
  const file = join(own, 'read.sql');
  writeFileSync(file, SCRIPT);
  const { stdout, done } = startTool('pgbench', to, [
    '--no-vacuum',
    `--file=${file}`,
    '--protocol=prepared',
    `--client=${readers}`,
    `--time=${Math.ceil(seconds + SPARE_S)}`,
    '--log',
    `--log-prefix=${join(own, LOG)}`,
  ]);
  stdout.resume();
  const logs = () => readdirSync(own).flatMap((name) => (name.startsWith(`${LOG}.`) ? [join(own, name)] : []));
  const errors = done.then(() => [], errorsOf);
  return {
    reading: async () => {
      const wait = { timeoutMs: START_MS, everyMs: 20 };
      await waitUntil('the first reads', async () => logs().some((log) => statSync(log).size > 0), wait);
    },
    ended: async (window) => {
      const found = await errors;
      const ends = logs().flatMap(endsOf);
      rmSync(own, { recursive: true });
      return { errors: found, ...within(window, ends) };
    },
  };
}

/** A reader ends with its first error, and the others go on. */
function errorsOf(error: unknown): readonly string[] {
  const lines = error instanceof Error ? error.message.match(/client \d+ .*aborted.*/g) : null;
  if (lines === null) throw error;
  return lines;
}

interface End {
  readonly atMs: number;
  readonly tookMs: number;
}

/** A line: client, transaction, microseconds, script, and the second and the microsecond of its end. */
function endsOf(log: string): readonly End[] {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [, , took = Number.NaN, , second = Number.NaN, us = Number.NaN] = line.split(' ').map(Number);
    return { atMs: second * 1000 + us / 1000, tookMs: took / 1000 };
  });
}

function within({ fromMs, untilMs }: Window, ends: readonly End[]): Pick<EndedReads, 'perSecond' | 'timesMs'> {
  const inside = ends.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  // On a machine that is very busy they may end before the window.
  const lastMs = ends.reduce((last, { atMs }) => Math.max(last, atMs), 0);
  const seconds = (Math.min(untilMs, lastMs) - fromMs) / 1000;
  return { perSecond: inside.length / seconds, timesMs: inside.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b) };
}
