// `pointsman kill`: shows the sessions, asks, and ends them one by one.
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { killedSession } from '../../documents/sessions-document.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { findRunning, type ConsentOptions, type Running } from '../running.ts';
import { confirm } from '../terminal/confirm.ts';
import { changeEach, checkIds, readSessions, SESSION, type SessionChange, type SessionRow } from './read-sessions.ts';
import { sessionsTable } from './session-table.ts';

const killedReader = looseReader(killedSession, {
  needed: ['killed client_told statement note', ...SESSION],
  dropsUnknown: true,
});
type KillAnswer = z.infer<typeof killedReader>;

/** Exit code 1 if a session could not be ended, for example because it has ended already. */
export async function kill(ids: readonly string[], options: ConsentOptions, io: CliIo): Promise<number> {
  checkIds(ids, io);
  const running = findRunning(options, io);
  const { dryRun, yes, json: isJson } = options;
  const { live, code } = await find(new Set(ids), running, io);
  if (dryRun === true && isJson === true) io.stdout(json({ dry_run: true, sessions: live }));
  else if (live.length === 0 && isJson === true) io.stdout(json({ results: [] }));
  if (live.length === 0) return code;
  if (isJson !== true) io.stdout(sessionsTable(live, io));
  if (dryRun === true) {
    if (isJson !== true) io.stdout(`${live.length === 1 ? 'this session' : 'these sessions'} would be ended\n`);
    return code;
  }
  const question = live.length === 1 ? 'End this session?' : `End these ${live.length} sessions?`;
  await confirm({ question, yes, json: isJson }, io);
  const change: SessionChange<KillAnswer> = {
    request: (id) => ({ method: 'POST', path: `/sessions/${id}/kill` }),
    reader: killedReader,
    textOf: killedText,
  };
  const liveIds = live.map(({ id }) => id);
  const killed = await changeEach(liveIds, change, running, isJson, io);
  return killed.code === EXIT.ok ? code : killed.code;
}

/** `code`: the exit code, if some of the sessions are not live. */
async function find(
  ids: Iterable<string>,
  running: Running,
  io: CliIo,
): Promise<{ readonly live: readonly SessionRow[]; readonly code: number }> {
  const live: SessionRow[] = [];
  let code: number = EXIT.ok;
  for (const id of ids) {
    const answer = await readSessions(running, { id }, io);
    live.push(...answer.sessions);
    if (answer.sessions.length > 0) continue;
    const silent = answer.silent_workers.map((worker) => `; worker ${worker} did not answer`).join('');
    io.stderr(`pointsman: no session ${id}: it has ended, or never existed${silent}\n`);
    code = EXIT.failure;
  }
  return { live, code };
}

function killedText({ killed: gone, client_told: isTold, note }: KillAnswer): string {
  const client = isTold ? 'its client was told why' : 'its client could not be told why';
  return `session ${gone.id} ended: ${client}; ${note}\n`;
}
