// `pointsman refresh`: has all members probed now, and shows what each of them said.
import { setTimeout as delay } from 'node:timers/promises';
import { refreshed } from '../documents/action-answers.ts';
import { looseReader } from '../documents/loose-reader.ts';
import { onOneLine, shown } from '../model/printable.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';
import { documentOf } from './admin-request.ts';
import { findRunning, type Running, type RunningOptions } from './running.ts';
import { ageText, lagText, roleOf } from './status/cells.ts';
import { statusFrom, type Status, type StatusMember } from './status/read-status.ts';
import { paintFor, type Paint } from './terminal/colour.ts';
import { MEMBER_COLUMNS, tableText, widthFor } from './terminal/terminal-table.ts';

const POLL_MS = 50;
/** More than the longest probe by the defaults. */
const MOST_WAIT_MS = 1000;

/** Exit code 0 also if a member does not answer: it was asked. */
export async function refresh(options: RunningOptions, io: CliIo): Promise<number> {
  const running = findRunning(options, io);
  const startedAt = performance.now();
  const { merged } = await documentOf(running, { method: 'POST', path: '/refresh' }, looseReader(refreshed), io);
  // A merged one belongs to a refresh of the last second.
  const status = await answered(running, startedAt - (merged ? 1000 : 0), io);
  const members = status.members.map(memberDocument);
  if (options.json === true) io.stdout(json({ merged, members }));
  else io.stdout(textOf(status.members, io));
  return EXIT.ok;
}

/** The status when every member has answered since then, or has had the time to. */
async function answered(running: Running, since: number, io: CliIo): Promise<Status> {
  for (;;) {
    const status = await statusFrom(running, io);
    const waitedMs = performance.now() - since;
    const isFresh = ({ last_answer_age_seconds: age, failing }: StatusMember): boolean =>
      failing === undefined && age !== null && age * 1000 <= waitedMs;
    if (waitedMs >= MOST_WAIT_MS || status.members.every(isFresh)) return status;
    await delay(POLL_MS);
  }
}

function memberDocument(member: StatusMember) {
  const { name, role, state, timeline, lag_bytes, last_answer_age_seconds: age, failing } = member;
  const outcome = failing?.outcome ?? null;
  return { name, answered: failing === undefined && age !== null, role, state, timeline, lag_bytes, outcome };
}

function textOf(members: readonly StatusMember[], io: CliIo): string {
  if (members.length === 0) return 'no known members\n';
  const paint = paintFor(io);
  const rows = members.map((member) => [
    shown(member.name),
    shown(roleOf(member) ?? '?'),
    shown(member.state ?? '?'),
    `${member.timeline ?? '–'}`,
    lagText(member),
    answerText(member, paint),
  ]);
  return tableText([...MEMBER_COLUMNS, { title: 'ANSWER', wraps: true }], rows, widthFor(io));
}

function answerText({ failing, last_answer_age_seconds: age }: StatusMember, paint: Paint): string {
  if (failing !== undefined) return paint('bad', onOneLine(failing.outcome));
  return age === null ? 'none yet' : paint('good', `${ageText(age)} ago`);
}
