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
import { findRunning, tokenFor, type ConsentOptions, type Running } from '../running.ts';
import { readStatus, statusFrom, type Status } from '../status/read-status.ts';
import { confirm } from '../terminal/confirm.ts';
import { drainWarning, remainText, sessionsOn } from './drain-text.ts';

export interface DrainOptions extends ConsentOptions {
  readonly wait?: boolean | undefined;
  /** Milliseconds. Undefined: no limit. */
  readonly timeout?: number | undefined;
}

const POLL_MS = 250;
/** Between two lines of progress where they are kept: a file or a pipe. */
const LINE_EVERY_MS = 10_000;

export async function drain(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  const { status, running } = await readStatus(options, io);
  const isJson = options.json === true;
  const warning = drainWarning(member, status);
  if (options.dryRun === true) {
    checkMember(member, status, io);
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
  const emptied = options.wait === true ? await waitUntilEmpty(member, running, options, io) : undefined;
  if (isJson) io.stdout(json({ ...drained, ...(emptied && { sessions_left: emptied.left }) }));
  return emptied?.code ?? EXIT.ok;
}

export async function resume(member: string, options: DrainOptions, io: CliIo): Promise<number> {
  const isJson = options.json === true;
  if (options.dryRun === true) {
    const { status } = await readStatus(options, io);
    checkMember(member, status, io);
    const isDrained = status.cluster.drained.includes(member);
    const effect = isDrained ? `${member} would be resumed` : `${member} is not drained`;
    io.stdout(isJson ? json({ dry_run: true, member, effect }) : `${effect}\n`);
    return EXIT.ok;
  }
  const resumed = await change(member, 'resume', findRunning(options, io), io);
  io.stdout(isJson ? json({ ...resumed }) : changedText(resumed));
  return EXIT.ok;
}

/** Ends the command if there is no such member. */
function checkMember(member: string, { members, cluster }: Status, io: CliIo): void {
  const names = members.map(({ name }) => name);
  if (!names.includes(member) && !cluster.drained.includes(member)) wrong(io, unknownName('member', member, names));
}

async function change(member: string, what: 'drain' | 'resume', running: Running, io: CliIo): Promise<DrainedDocument> {
  const path = `/members/${encodeURIComponent(member)}/${what}`;
  // 404: there is no such member.
  return await documentOf(running, { method: 'POST', path }, looseReader(drainedDocument), io, { 404: EXIT.usage });
}

/** Resolves with the exit code, and the number of sessions that are left. */
async function waitUntilEmpty(
  member: string,
  running: Running,
  { timeout, json: isJson }: DrainOptions,
  io: CliIo,
): Promise<{ readonly code: number; readonly left: number }> {
  const interruption = new AbortController();
  const { signal } = interruption;
  const release = io.onInterrupt?.((code) => interruption.abort(code));
  const since = performance.now();
  const showProgress = progressLine(io);
  let left = 0;
  const failed = (why: string, code: number = EXIT.failure) => {
    showProgress(undefined);
    io.stderr(`pointsman: ${why}\n`);
    return { code, left };
  };
  try {
    while (!signal.aborted) {
      const status = await unlessEnded(() => statusFrom(running, io));
      if (status instanceof CommandEnd) return failed(`${member} stays drained unless Pointsman has ended`);
      if (!status.cluster.drained.includes(member)) return failed(`${member} is not drained any more`);
      left = sessionsOn(member, status.pools);
      const waitedMs = performance.now() - since;
      if (left === 0) {
        showProgress(undefined);
        if (isJson !== true) io.stdout(`no session is left on ${member} (after ${durationText(waitedMs)})\n`);
        return { code: EXIT.ok, left };
      }
      if (timeout !== undefined && waitedMs >= timeout)
        return failed(`${remain(left)} on ${member} after ${durationText(timeout)}; it stays drained`);
      showProgress(`${remain(left)} on ${member}, waiting for ${Math.round(waitedMs / 1000)} s`);
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
    const undo = `undo it with: pointsman resume ${member}`;
    return failed(`interrupted: ${member} stays drained, ${remain(left)}; ${undo}`, Number(signal.reason));
  } finally {
    release?.();
  }
}

function remain(sessions: number): string {
  return `${countText(sessions, 'session')} ${sessions === 1 ? 'remains' : 'remain'}`;
}

/** One line that changes on a terminal; elsewhere a line from time to time. Undefined: the line goes away. */
function progressLine({ screen, stderr }: CliIo): (text: string | undefined) => void {
  let shownAt = -Infinity;
  return (text) => {
    if (screen !== undefined) {
      if (text !== undefined || shownAt > 0) stderr(`\r\u001b[K${text ?? ''}`);
    } else if (text !== undefined && performance.now() - shownAt >= LINE_EVERY_MS) stderr(`${text}\n`);
    else return;
    shownAt = performance.now();
  };
}

function changedText({ member, drained, was_drained: wasDrained, pools }: DrainedDocument): string {
  const resumed = wasDrained === false ? 'was not drained' : 'resumed';
  const what = drained ? 'drained: no new sessions until it is resumed' : resumed;
  return `${member} ${what}\n${poolsText(pools)}`;
}
