// `pointsman sessions`: the live sessions of a running Pointsman, one line each.
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { findRunning } from '../running.ts';
import type { RunningOptions } from '../running.ts';
import { readSessions } from './document.ts';
import type { Sessions } from './document.ts';
import { sessionsTable } from './table.ts';

export interface SessionsOptions extends RunningOptions {
  readonly pool?: string | undefined;
  readonly member?: string | undefined;
  readonly client?: string | undefined;
  readonly state?: string | undefined;
  readonly limit?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Exit code 1 also if a worker did not answer: its sessions are missing. */
export async function sessions(options: SessionsOptions, io: CliIo): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const { pool, member, client, state, limit, json } = options;
  const found = await readSessions(running, { pool, member, client, state, limit }, io);
  if (typeof found === 'number') return found;
  io.stdout(json === true ? `${JSON.stringify(found, null, 2)}\n` : listText(found, io));
  for (const worker of found.silent_workers) {
    io.stderr(`pointsman: worker ${worker} did not answer: its sessions are missing\n`);
  }
  return found.silent_workers.length === 0 ? EXIT.ok : EXIT.failure;
}

function listText({ sessions: shown, total, left_out: leftOut }: Sessions, io: CliIo): string {
  if (total === 0) return 'no sessions\n';
  const count = total === 1 ? '1 session' : `${total} sessions`;
  const rest = leftOut === 0 ? '' : `, the ${shown.length} oldest are shown: --limit shows more, filters show fewer`;
  return `${sessionsTable(shown, io)}${count}${rest}\n`;
}
