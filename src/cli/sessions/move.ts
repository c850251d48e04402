// `pointsman sessions move`: moves sessions one by one, and says of each how it went.
import type { z } from 'zod';
import { pinText } from '../../core/pin-words.ts';
import { onOneLine } from '../../model/printable.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import { movedSession } from '../../documents/sessions-document.ts';
import { CommandEnd, unlessEnded } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { reportFailure, requestWithToken, type OperateOptions } from '../send-operation.ts';
import { checkIds } from './read-sessions.ts';
import { findRunning, type Running } from '../running.ts';

/** A busy session, and a parked one, take their time. */
const DEADLINE_MS = 60_000;

const movedReader = looseReader(movedSession, { dropsUnknown: true });
type MoveAnswer = z.infer<typeof movedReader>;

/** Exit code 1 if a session did not move. */
export async function move(ids: readonly string[], options: OperateOptions, io: CliIo): Promise<number> {
  checkIds(ids, io);
  const running = findRunning(options, io);
  let code: number = EXIT.ok;
  const results: MoveAnswer[] = [];
  for (const id of new Set(ids)) {
    const one = await unlessEnded(() => moveOne(id, running, io));
    if (one instanceof CommandEnd) code = one.code;
    else {
      results.push(one);
      if (one.result !== 'moved') code = EXIT.failure;
      if (options.json !== true) io.stdout(movedText(one));
    }
  }
  if (options.json === true) io.stdout(json({ results }));
  return code;
}

async function moveOne(id: string, running: Running, io: CliIo): Promise<MoveAnswer> {
  const path = `/sessions/${id}/move`;
  const answer = await requestWithToken(running, { method: 'POST', path, deadlineMs: DEADLINE_MS }, io);
  const { data } = movedReader.safeParse(answer.body);
  return answer.status === 200 && data !== undefined ? data : reportFailure(answer, io);
}

function movedText({ session, result, from, to, reason, detail, duration_ms: durationMs }: MoveAnswer): string {
  const why = pinText(reason ?? 'unknown', detail);
  switch (result) {
    case 'moved':
      return from !== null && from === to
        ? `session ${session} has a new connection to ${to} after ${durationMs} ms\n`
        : `session ${session} moved from ${from ?? 'no member'} to ${to ?? 'no member'} in ${durationMs} ms\n`;
    case 'stayed':
      return `session ${session} stayed${from === null ? '' : ` on ${from}`}: it ${onOneLine(why)}\n`;
    case 'failed':
    default:
      return `session ${session} ended: ${reason ?? 'unknown'}${detail === null ? '' : ` (${onOneLine(detail)})`}\n`;
  }
}
