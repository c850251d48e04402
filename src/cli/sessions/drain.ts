// `pointsman drain` and `pointsman resume`: a member leaves all pools and comes back. `--wait` follows its sessions
// until none is left.
import { setTimeout as sleep } from 'node:timers/promises';
import { unknownName } from '../../config/closest.ts';
import { countText, durationText } from '../../core/describe.ts';
import { drained as drainedDocument, type DrainedDocument } from '../../documents/action-answers.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import { CommandEnd, unlessEnded, wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { documentOf } from '../admin-request.ts';
import { poolsText } from '../pools-text.ts';
import { findRunning, tokenFor, type Running, type RunningOptions } from '../running.ts';
import { readStatus, statusFrom, type Status } from '../status/read-status.ts';
import { confirm } from '../terminal/confirm.ts';
import { drainWarning, remainText, sessionsOn } from './drain-text.ts';

export interface DrainOptions extends RunningOptions {
  readonly wait?: boolean | undefined;
  /** Milliseconds. Undefined: no limit. */
  readonly timeout?: number | undefined;
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

const POLL_MS = 250;
/** Between two lines of progress where they are kept: a file or a pipe. */
const LINE_EVERY_MS = 10_000;

export async function drain(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  const { status, running } = await readStatus(options, io);
  const isJson = options.json === true;
  const warning = drainWarning(member, status);
  if (options.dryRun === true) {
    const unknown = whyUnknown(member, status);
    if (unknown !== undefined) return wrong(io, unknown);
    const effect = `no new session would go to ${member}; ${remainText(member, status)}`;
    if (isJson) io.stdout(json({ dry_run: true, member, effect, warning: warning ?? null }));
    else io.stdout(`${warning === undefined ? '' : `${warning}\n`}${effect}\n`);
    return EXIT.ok;
  }
  await tokenFor(running, io);
  if (warning !== undefined) {
    await confirm({ question: `${warning}. Drain it?`, yes: options.yes, json: isJson }, io);
  }
  const drained = await change(member, 'drain', running, io);
  if (!isJson) io.stdout(`${changedText(drained)}${remainText(member, status)}\n`);
  const emptied =
    options.wait === true
      ? await waitUntilEmpty(member, { running, timeoutMs: options.timeout, isJson }, io)
      : undefined;
  if (isJson) io.stdout(json({ ...drained, ...(emptied && { sessions_left: emptied.left }) }));
  return emptied?.code ?? EXIT.ok;
}

export async function resume(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  if (options.dryRun === true) return resumePlan(member, options, io);
  const running = findRunning(options, io);
  const resumed = await change(member, 'resume', running, io);
  io.stdout(options.json === true ? json({ ...resumed }) : changedText(resumed));
  return EXIT.ok;
}

async function resumePlan(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  const found = await readStatus(options, io);
  const unknown = whyUnknown(member, found.status);
  if (unknown !== undefined) return wrong(io, unknown);
  const isDrained = found.status.cluster.drained.includes(member);
  const effect = isDrained ? `${member} would be resumed` : `${member} is not drained`;
  io.stdout(options.json === true ? json({ dry_run: true, member, effect }) : `${effect}\n`);
  return EXIT.ok;
}

/** Undefined: the member is known. */
function whyUnknown(member: string, { members, cluster }: Status): string | undefined {
  const names = members.map(({ name }) => name);
  return names.includes(member) || cluster.drained.includes(member) ? undefined : unknownName('member', member, names);
}

async function change(member: string, what: 'drain' | 'resume', running: Running, io: CliIo): Promise<DrainedDocument> {
  const path = `/members/${encodeURIComponent(member)}/${what}`;
  // 404: there is no such member.
  return await documentOf(running, { method: 'POST', path }, looseReader(drainedDocument), io, { 404: EXIT.usage });
}

interface DrainWait {
  readonly running: Running;
  readonly timeoutMs: number | undefined;
  /** No line about the end of the wait. */
  readonly isJson: boolean;
}

interface DrainResult {
  readonly code: number;
  /** Sessions. */
  readonly left: number;
}

async function waitUntilEmpty(member: string, wait: DrainWait, io: CliIo): Promise<DrainResult> {
  const interruption = new AbortController();
  const stop = io.onInterrupt?.((code) => interruption.abort(code));
  const progress = new DrainProgress(member, io);
  try {
    return await follow(member, wait, progress, interruption.signal, io);
  } finally {
    stop?.();
  }
}

async function follow(
  member: string,
  { running, timeoutMs, isJson }: DrainWait,
  progress: DrainProgress,
  interrupted: AbortSignal,
  io: CliIo,
): Promise<DrainResult> {
  let left = 0;
  const failed = (why: string, code: number = EXIT.failure): DrainResult => {
    progress.end();
    io.stderr(`pointsman: ${why}\n`);
    return { code, left };
  };
  for (;;) {
    if (interrupted.aborted) {
      const undo = `undo it with: pointsman resume ${member}`;
      return failed(`interrupted: ${member} stays drained, ${remain(left)}; ${undo}`, Number(interrupted.reason));
    }
    const status = await unlessEnded(() => statusFrom(running, io));
    if (status instanceof CommandEnd) return failed(`${member} stays drained unless Pointsman has ended`);
    if (!status.cluster.drained.includes(member)) return failed(`${member} is not drained any more`);
    left = sessionsOn(member, status.pools);
    if (left === 0) {
      progress.end();
      if (!isJson) io.stdout(`no session is left on ${member} (after ${durationText(progress.waitedMs())})\n`);
      return { code: EXIT.ok, left };
    }
    if (timeoutMs !== undefined && progress.waitedMs() >= timeoutMs) {
      return failed(`${remain(left)} on ${member} after ${durationText(timeoutMs)}; it stays drained`);
    }
    progress.show(left);
    await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => {});
  }
}

function remain(sessions: number): string {
  return `${countText(sessions, 'session')} ${sessions === 1 ? 'remains' : 'remain'}`;
}

/** One line that changes on a terminal; elsewhere a line from time to time. */
class DrainProgress {
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

function changedText({ member, drained, was_drained: wasDrained, pools }: DrainedDocument): string {
  const resumed = wasDrained === false ? 'was not drained' : 'resumed';
  const what = drained ? 'drained: no new sessions until it is resumed' : resumed;
  return `${member} ${what}\n${poolsText(pools)}`;
}
