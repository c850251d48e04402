// `pointsman sessions move`: moves sessions one by one, and says of each how it went.
import type { z } from 'zod';
import { pinText } from '../../core/pin-words.ts';
import { onOneLine } from '../../model/printable.ts';
import { looseReader, type Loose } from '../../documents/loose-reader.ts';
import { movedSession } from '../../documents/sessions-document.ts';
import { EXIT, type CliIo } from '../io.ts';
import { changeEach, checkIds, type SessionChange } from './read-sessions.ts';
import { findRunning, type RunningOptions } from '../running.ts';

/** A busy session, and a parked one, take their time. */
const DEADLINE_MS = 60_000;

type MoveAnswer = Loose<z.infer<typeof movedSession>>;

export interface MoveOptions extends RunningOptions {
  readonly abort?: true;
}

/** Exit code 1 if a session did not move. */
export async function move(ids: readonly string[], options: MoveOptions, io: CliIo): Promise<number> {
  checkIds(ids, io);
  const change: SessionChange<MoveAnswer> = {
    request: (id) => ({
      method: 'POST',
      path: `/sessions/${id}/move`,
      ...(options.abort === true && { body: { abort: true } }),
      deadlineMs: DEADLINE_MS,
    }),
    reader: looseReader(movedSession, { dropsUnknown: true }),
    textOf: movedText,
  };
  const { code, results } = await changeEach(new Set(ids), change, findRunning(options, io), options.json, io);
  return results.every(({ result }) => result === 'moved') ? code : EXIT.failure;
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
