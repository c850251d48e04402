// Readers in a closed loop: pgbench, which costs less than a reader in this process would. Each reads one row by key.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTool, type ToolTarget } from '../../../support/applications/client-tools.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';

export const ROWS = 1_000;
export const CREATE_ROWS = `create table kept (id int primary key, n int not null);
  insert into kept select id, 0 from generate_series(1, ${ROWS}) as id`;
const SCRIPT = `\\set id random(1, ${ROWS})\nselect n from kept where id = :id;\n`;
const LOG = 'reads';
/** More than a run takes: they are ended. pgbench counts its time from before it connects. Seconds. */
const LONGEST_S = 600;
const WAIT = { timeoutMs: 60_000, everyMs: 20 };

export interface ReaderPlan {
  readonly to: ToolTarget;
  readonly readers: number;
  /** For their files. */
  readonly directory: string;
}

export interface Window {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Readers {
  /** When they read. */
  readonly reading: () => Promise<void>;
  /** Ends them. The reads within the window, by the clock of the day. */
  readonly end: (window: Window) => Promise<EndedReads>;
}

export interface EndedReads {
  readonly perSecond: number;
  /** Milliseconds, in order. */
  readonly timesMs: readonly number[];
  /** Readers that ended with an error. */
  readonly errors: readonly string[];
}

export function startReaders({ to, readers, directory }: ReaderPlan): Readers {
  const own = mkdtempSync(join(directory, 'readers-'));
  const file = join(own, 'read.sql');
  writeFileSync(file, SCRIPT);
  const { stdout, done, signal } = startTool('pgbench', to, [
    '--no-vacuum',
    `--file=${file}`,
    '--protocol=prepared',
    `--client=${readers}`,
    `--time=${LONGEST_S}`,
    '--log',
    `--log-prefix=${join(own, LOG)}`,
  ]);
  stdout.resume();
  const ended = done.then(() => [], errorsOf);
  const ends = (): readonly End[] => {
    const logs = readdirSync(own).filter((name) => name.startsWith(`${LOG}.`));
    return logs.flatMap((name) => endsOf(join(own, name)));
  };
  /** pgbench writes its log in blocks. */
  const untilRead = async (untilMs: number): Promise<void> => {
    const hasRead = waitUntil('reads', async () => ends().some(({ atMs }) => atMs >= untilMs), WAIT);
    await Promise.race([hasRead, ended.then(raise)]);
  };
  return {
    reading: () => untilRead(0),
    end: async (window) => {
      await untilRead(window.untilMs);
      signal('SIGKILL');
      const errors = await ended;
      const read = within(window, ends());
      rmSync(own, { recursive: true });
      return { errors, ...read };
    },
  };
}

function raise(errors: readonly string[]): never {
  throw new Error(`no reader is left: ${errors.join('\n')}`);
}

/** A reader ends with its first error, and the others go on. */
function errorsOf(error: unknown): readonly string[] {
  const text = error instanceof Error ? error.message : '';
  if (!/^pgbench ended with null|client \d+ .*aborted/.test(text)) throw error;
  return text.match(/client \d+ .*aborted.*/g) ?? [];
}

interface End {
  readonly atMs: number;
  readonly tookMs: number;
}

/** A line: client, transaction, microseconds, script, and the second and the microsecond of its end. */
function endsOf(log: string): readonly End[] {
  // The text behind the last newline is not complete.
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [, , took = Number.NaN, , second = Number.NaN, us = Number.NaN] = line.split(' ').map(Number);
    return { atMs: second * 1000 + us / 1000, tookMs: took / 1000 };
  });
}

function within({ fromMs, untilMs }: Window, ends: readonly End[]): Pick<EndedReads, 'perSecond' | 'timesMs'> {
  const inside = ends.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  const timesMs = inside.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  return { perSecond: timesMs.length / ((untilMs - fromMs) / 1000), timesMs };
}
