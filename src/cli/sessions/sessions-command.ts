// `pointsman sessions`: the live sessions of a running Pointsman, one line each.
import { countText } from '../../core/describe.ts';
import type { SessionSort } from '../../reports/session-list.ts';
import { wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { findRunning, type RunningOptions } from '../running.ts';
import { asJson } from '../json.ts';
import { clientKind } from './client-kind.ts';
import { readSessions, type SessionRows } from './read-sessions.ts';
import { sessionsTable } from './session-table.ts';

export interface ListSessionsOptions extends RunningOptions {
  readonly pool?: string | undefined;
  readonly member?: string | undefined;
  readonly client?: string | undefined;
  readonly state?: string | undefined;
  readonly limit?: string | undefined;
  readonly sort?: SessionSort | undefined;
}

/** The limit of the server. */
const MOST_SESSIONS = 1000;

/** Exit code 1 also if a worker did not answer: its sessions are missing. */
export async function sessions(options: ListSessionsOptions, io: CliIo): Promise<number> {
  const problem = problemWith(options);
  if (problem !== undefined) return wrong(io, problem);
  const running = findRunning(options, io);
  const { pool, member, client, state, limit, sort, json } = options;
  const found = await readSessions(running, { pool, member, client, state, limit, sort }, io);
  io.stdout(json === true ? asJson(found) : listText(found, sort, io));
  for (const worker of found.silent_workers) {
    io.stderr(`pointsman: worker ${worker} did not answer: its sessions are missing\n`);
  }
  return found.silent_workers.length === 0 ? EXIT.ok : EXIT.failure;
}

function problemWith({ client, limit }: ListSessionsOptions): string | undefined {
  if (limit !== undefined && !(/^\d+$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MOST_SESSIONS)) {
    return `--limit: ${limit} is not a number from 1 to ${MOST_SESSIONS}`;
  }
  if (client === undefined || clientKind(client) !== undefined) return undefined;
  return `--client: ${client} is not an address, or an address with its port`;
}

function listText(
  { sessions: shown, total, left_out: leftOut }: SessionRows,
  sort: SessionSort | undefined,
  io: CliIo,
): string {
  if (total === 0) return 'no sessions\n';
  const which = sort === undefined || sort === 'age' ? `${shown.length} oldest` : `first ${shown.length} by ${sort}`;
  const rest = leftOut === 0 ? '' : `, the ${which} are shown: --limit shows more, filters show fewer`;
  return `${sessionsTable(shown, io, sort)}${countText(total, 'session')}${rest}\n`;
}
