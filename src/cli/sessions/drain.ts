// `pointsman drain` and `pointsman resume`: a member leaves all pools and comes back. `--wait` follows its sessions
// until none is left.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { durationText } from '../../core/describe.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { operate, operateOn } from '../operate.ts';
import { poolsText } from '../pools-text.ts';
import { tokenFor } from '../running.ts';
import type { Running, RunningOptions } from '../running.ts';
import { readStatus, statusFrom } from '../status/document.ts';
import type { Status } from '../status/document.ts';
import { confirm } from '../terminal/confirm.ts';
import { drainWarning, remainText, sessionsOn, sessionsText } from './drain-text.ts';

export interface DrainOptions extends RunningOptions {
  readonly wait?: boolean | undefined;
  /** Milliseconds. Undefined: no limit. */
  readonly timeout?: number | undefined;
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

const changed = z.object({
  member: z.string(),
  drained: z.boolean(),
  was_drained: z.boolean().optional(),
  pools: z.record(z.string(), z.string()),
});

const POLL_MS = 250;
/** Between two lines of progress where they are kept: a file or a pipe. */
const LINE_EVERY_MS = 10_000;

export async function drain(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  const found = await readStatus(options, io);
  if (typeof found === 'number') return found;
  const { status, running } = found;
  const warning = drainWarning(member, status);
  if (options.dryRun === true) {
    io.stdout(warning === undefined ? '' : `${warning}\n`);
    return plan(status, member, `no new session would go to ${member}; ${remainText(member, status)}`, io);
  }
  if ((await tokenFor(running, io)) === undefined) return EXIT.usage;
  if (warning !== undefined) {
    const confirmed = await confirm({ question: `${warning}. Drain it?`, yes: options.yes }, io);
    if (confirmed !== 'confirmed') return confirmed;
  }
  const code = await operateOn(running, `/members/${encodeURIComponent(member)}/drain`, {}, io, (body) => {
    const text = changedText(body);
    return text && `${text}${remainText(member, status)}\n`;
  });
  return code === EXIT.ok && options.wait === true
    ? waitUntilEmpty(member, { running, timeoutMs: options.timeout }, io)
    : code;
}

export async function resume(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  if (options.dryRun !== true) {
    return operate(`/members/${encodeURIComponent(member)}/resume`, options, io, changedText);
  }
  const found = await readStatus(options, io);
  if (typeof found === 'number') return found;
  const isDrained = found.status.cluster.drained.includes(member);
  return plan(found.status, member, isDrained ? `${member} would be resumed` : `${member} is not drained`, io);
}

function plan({ members, cluster }: Status, member: string, text: string, io: CliIo): number {
  const isKnown = members.some(({ name }) => name === member) || cluster.drained.includes(member);
  if (isKnown) io.stdout(`${text}\n`);
  else
    io.stderr(`pointsman: unknown member ${member}: the members are ${members.map(({ name }) => name).join(', ')}\n`);
  return isKnown ? EXIT.ok : EXIT.failure;
}

interface Wait {
  readonly running: Running;
  readonly timeoutMs: number | undefined;
}

async function waitUntilEmpty(member: string, wait: Wait, io: CliIo): Promise<number> {
  const interruption = new AbortController();
  const stop = io.onInterrupt?.((code) => interruption.abort(code));
  const progress = new Progress(member, io);
  try {
    return await follow(member, wait, progress, interruption.signal, io);
  } finally {
    stop?.();
  }
}

async function follow(
  member: string,
  { running, timeoutMs }: Wait,
  progress: Progress,
  interrupted: AbortSignal,
  io: CliIo,
): Promise<number> {
  const failed = (why: string, code: number = EXIT.failure): number => {
    progress.end();
    io.stderr(`pointsman: ${why}\n`);
    return code;
  };
  let left = 0;
  for (;;) {
    if (interrupted.aborted) {
      const undo = `undo it with: pointsman resume ${member}`;
      return failed(`interrupted: ${member} stays drained, ${remain(left)}; ${undo}`, Number(interrupted.reason));
    }
    const status = await statusFrom(running, io);
    if (typeof status === 'number') return failed(`${member} stays drained unless Pointsman has ended`);
    if (!status.cluster.drained.includes(member)) return failed(`${member} is not drained any more`);
    left = sessionsOn(member, status.pools);
    if (left === 0) {
      progress.end();
      io.stdout(`no session is left on ${member} (after ${durationText(progress.waitedMs())})\n`);
      return EXIT.ok;
    }
    if (timeoutMs !== undefined && progress.waitedMs() >= timeoutMs) {
      return failed(`${remain(left)} on ${member} after ${durationText(timeoutMs)}; it stays drained`);
    }
    progress.show(left);
    await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => {});
  }
}

function remain(sessions: number): string {
  return `${sessionsText(sessions)} ${sessions === 1 ? 'remains' : 'remain'}`;
}

/** One line that changes on a terminal; elsewhere a line from time to time. */
class Progress {
  readonly #member: string;
  readonly #io: CliIo;
  readonly #since = performance.now();
  #shownAt = -Infinity;
  #isLineOpen = false;

  constructor(member: string, io: CliIo) {
    this.#member = member;
    this.#io = io;
  }

  waitedMs(): number {
    return performance.now() - this.#since;
  }

  show(left: number): void {
    const text = `${remain(left)} on ${this.#member}, waiting for ${Math.round(this.waitedMs() / 1000)} s`;
    if (this.#io.screen !== undefined) {
      this.#isLineOpen = true;
      this.#io.stderr(`\r\u001b[K${text}`);
    } else if (this.waitedMs() - this.#shownAt >= LINE_EVERY_MS) {
      this.#shownAt = this.waitedMs();
      this.#io.stderr(`${text}\n`);
    }
  }

  end(): void {
    if (this.#isLineOpen) this.#io.stderr('\r\u001b[K');
    this.#isLineOpen = false;
  }
}

function changedText(body: unknown): string | undefined {
  const { data } = changed.safeParse(body);
  if (data === undefined) return undefined;
  const resumed = data.was_drained === false ? 'was not drained' : 'resumed';
  const what = data.drained ? 'drained: no new sessions until it is resumed' : resumed;
  return `${data.member} ${what}\n${poolsText(data.pools)}`;
}
