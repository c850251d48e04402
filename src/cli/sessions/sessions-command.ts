// `pointsman sessions`: the live sessions of a running Pointsman, one line each.
import { countText } from '../../core/describe.ts';
import { sumOf } from '../../model/sums.ts';
import type { SessionSort } from '../../reports/session-list.ts';
import { wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { findRunning, type RunningOptions } from '../running.ts';
import { asJson, json } from '../json.ts';
import { adminAddresses, askEach, linesOf, worstOf } from '../several.ts';
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
  const addresses = await adminAddresses(options, io);
  if (addresses.length > 1) return await sessionsOfEach(addresses, options, io);
  const [admin = options.admin] = addresses;
  const { sort } = options;
  const found = await readSessions(findRunning({ ...options, admin }, io), queryFor(options), io);
  io.stdout(options.json === true ? asJson(found) : listText(found, sort, io));
  for (const worker of found.silent_workers) {
    io.stderr(`pointsman: worker ${worker} did not answer: its sessions are missing\n`);
  }
  return found.silent_workers.length === 0 ? EXIT.ok : EXIT.failure;
}

function queryFor({ pool, member, client, state, limit, sort }: ListSessionsOptions) {
  return { pool, member, client, state, limit, sort };
}

/** One after the other in the table, each with its own order. */
async function sessionsOfEach(addresses: readonly string[], options: ListSessionsOptions, io: CliIo): Promise<number> {
  const { sort } = options;
  const answers = await askEach(addresses, io, async (admin, own) =>
    readSessions(findRunning({ ...options, admin }, own), queryFor(options), own),
  );
  const found = answers.flatMap(({ admin, result }) => (result === undefined ? [] : [{ admin, ...result }]));
  if (options.json === true) {
    io.stdout(json({ pointsmen: answers.map(({ admin, result = null }) => ({ admin, sessions: result })) }));
  } else {
    const rows = found.flatMap(({ admin, sessions: own }) => own.map((session) => ({ ...session, admin })));
    const [total, leftOut] = [sumOf(found, (one) => one.total), sumOf(found, (one) => one.left_out)];
    const rest = leftOut === 0 ? '' : `, ${leftOut} are not shown: --limit shows more, filters show fewer`;
    const where = countText(found.length, 'Pointsman', 'Pointsmen');
    io.stdout(
      `${rows.length === 0 ? '' : sessionsTable(rows, io, sort)}${countText(total, 'session')} at ${where}${rest}\n`,
    );
  }
  for (const { admin, result, ...said } of answers) {
    for (const line of linesOf(said)) io.stderr(`pointsman: ${admin}: ${line}\n`);
    for (const worker of result?.silent_workers ?? [])
      io.stderr(`pointsman: ${admin}: worker ${worker} did not answer: its sessions are missing\n`);
  }
  const isWhole = answers.every(({ result }) => result?.silent_workers.length === 0);
  return isWhole ? EXIT.ok : Math.max(EXIT.failure, worstOf(answers));
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
