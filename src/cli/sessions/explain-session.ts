// `pointsman explain SESSION`: where one session is, and why it moved, stays, or can move; or how it ended.
import { durationText } from '../../core/describe.ts';
import { pinText } from '../../core/pin-words.ts';
import { onOneLine, shown } from '../../model/printable.ts';
import { isClient } from '../../reports/session-list.ts';
import { eventListReader, eventText } from '../events/event.ts';
import { wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { requestWithToken } from '../admin-request.ts';
import { findRunning, type Running, type RunningOptions } from '../running.ts';
import { paintFor } from '../terminal/colour.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { clientKind } from './client-kind.ts';
import { readSessions, type SessionRow } from './read-sessions.ts';

/** `what`: the id of a session, or the address of its client with the port. */
export async function explainSession(what: string, options: RunningOptions, io: CliIo): Promise<number> {
  const filter = filterOf(what);
  if (filter === undefined) {
    const forms = 'give an id, or ADDRESS:PORT of a client, as `pointsman sessions` and the log show them';
    return wrong(io, `${shown(what)} is not a session: ${forms}`);
  }
  const running = findRunning(options, io);
  const found = await readSessions(running, { ...filter }, io);
  const [session] = found.sessions;
  if (session === undefined) return await explainEnd(filter, running, io);
  io.stdout(options.json === true ? json({ ...session }) : explanation(session));
  return EXIT.ok;
}

type Subject = { readonly id: string } | { readonly client: string };

function filterOf(what: string): Subject | undefined {
  if (/^\d+$/.test(what)) return { id: what };
  return clientKind(what) === 'with_port' ? { client: what } : undefined;
}

/** The log and the recent events have the reason of an end, unless its client ended it. */
async function explainEnd(subject: Subject, running: Running, io: CliIo): Promise<number> {
  const who = 'id' in subject ? `session ${subject.id}` : `session of ${subject.client}`;
  io.stderr(`pointsman: no ${who}: it has ended, or never existed\n`);
  const path = '/events?event=session_closed&format=json&limit=1024';
  const answer = await requestWithToken(running, { method: 'GET', path }, io);
  const { data } = eventListReader.safeParse(answer.body);
  const end = data?.events.findLast(({ fields: { session, client } }) =>
    'id' in subject ? session === Number(subject.id) : typeof client === 'string' && isClient(client, subject.client),
  );
  if (end !== undefined) io.stdout(eventText(end, paintFor(io), widthFor(io)));
  return EXIT.failure;
}

function explanation(session: SessionRow): string {
  const { id, pool, client, user, database } = session;
  const login = `user ${shown(user ?? 'unknown')}, database ${shown(database ?? 'unknown')}`;
  const lines = [
    `session ${id} of pool ${shown(pool)}: ${client}, ${login}`,
    placeText(session),
    ...(session.read ? [readText(session.read)] : []),
    ...(session.state === 'closing' ? [] : session.moves ? movesText(session.moves, session) : [neverText(session)]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function placeText(session: SessionRow): string {
  const { member, branch, state, activity, state_seconds: seconds, moves } = session;
  const since = `for ${durationText(seconds * 1000)}`;
  if (moves?.underway) return underwayText(session, moves.underway);
  const place = branch ? ` on branch ${shown(branch.name)}` : member === null ? '' : ` on ${shown(member)}`;
  return `${(activity ?? state).replaceAll('_', ' ')}${place} ${since}`;
}

/** For what its read waits, and since when. */
function readText({
  age_seconds: seconds = 0,
  scope,
  why = '',
  must_show: target,
  late,
}: NonNullable<SessionRow['read']>): string {
  const has = late === true ? 'is late: it has' : 'has';
  const waits = `its read ${has} waited for ${durationText(seconds * 1000)}`;
  const { lsn = '?', timeline = '?' } = target ?? {};
  const shows = target ? ` It waits for ${onOneLine(lsn)} on timeline ${timeline}.` : '';
  const sees = scope === 'proxy' ? ' Its pool has causal_reads.scope: proxy.' : '';
  return `${waits}. ${onOneLine(why)}${shows}${sees}`;
}

function underwayText(session: SessionRow, underway: MoveUnderway): string {
  const { state, member } = session;
  const { from, cause, age_seconds: seconds = session.state_seconds, waits_for: next, waiting, why } = underway;
  const since = `for ${durationText(seconds * 1000)}`;
  const goes = next ? `waits for ${onOneLine(next)}` : `logs in at ${shown(member ?? 'its next server')}`;
  return [
    `${state} ${since}: it has left ${shown(from)} (${cause}) and ${goes}`,
    ...(why === null ? [] : [`the last attempt failed: ${onOneLine(why)}`]),
    waiting ? 'its client has sent a statement and waits' : 'its client has sent nothing and notices nothing',
  ].join('; ');
}

const STAYS = 'it ends when its server changes';

/** For its application, or for the operator. Other reasons have no remedy in a few words: deploy/moves.md. */
const REMEDIES: Readonly<Partial<Record<string, string>>> = {
  unreadable: 'client.tls.mode: terminate',
  role_not_configured: 'a pattern for the role in moves.roles',
  authentication: 'SCRAM-SHA-256, and moves.verifiers',
  listening: 'a session of its own for LISTEN',
  holdable_cursors: 'close the cursor',
  advisory_locks: 'pg_advisory_xact_lock',
  temporary_objects: 'drop them, or create them in the transaction that uses them',
  unnamed_statement: 'named statements',
  too_many_statements: 'a limit of prepared statements in the driver',
  too_much_state: 'a higher moves.max_state',
  session_authorization: 'SET ROLE',
  privileged_settings: 'GRANT SET ON PARAMETER for the role',
  unclear_statement: 'PREPARE in a text of its own',
  busy: 'shorter transactions, or a longer moves.wait',
};

type Moves = NonNullable<SessionRow['moves']>;
type MoveUnderway = NonNullable<Moves['underway']>;

function movesText({ moved, last, answer }: Moves, { id, activity }: SessionRow): readonly string[] {
  const isIdle = activity === null || activity === 'idle';
  const notAsked = isIdle
    ? `pointsman switchover --dry-run asks all of the primary, pointsman sessions move ${id} moves this one`
    : 'it is asked between two transactions';
  return [
    ...(last === null ? [] : [lastText(moved, last)]),
    answer === null ? `not asked yet whether it can move: ${notAsked}` : answerText(answer),
    ...(answer === null || answer.movable ? [] : [staysText(answer.reason)]),
  ];
}

function lastText(
  moved: number,
  { from, to, cause, gap_ms: gapMs, aborted, age_seconds: age = 0 }: NonNullable<Moves['last']>,
): string {
  const often = moved === 1 ? 'moved once' : `moved ${moved} times, the last time`;
  const when = `${durationText(age * 1000)} ago (${cause})`;
  return `${often} from ${shown(from)} to ${shown(to)} ${when}, ${durationText(gapMs)} without a server${
    aborted === true ? ', after its transaction was rolled back' : ''
  }`;
}

function answerText({ movable, reason, detail, age_seconds: age }: NonNullable<Moves['answer']>): string {
  const source = age === null ? '' : `, by the answer of its server ${durationText(age * 1000)} ago`;
  if (movable) return `it can move${source}`;
  return `it cannot move, because it ${onOneLine(pinText(reason ?? 'unknown', detail))}${source}`;
}

function staysText(reason: string | null): string {
  const remedy = REMEDIES[reason ?? ''];
  return remedy === undefined ? STAYS : `${STAYS}; remedy: ${remedy}`;
}

function neverText({ opaque, branch }: SessionRow): string {
  if (opaque) return `it cannot move: encryption is between client and server; remedy: ${REMEDIES['unreadable']}`;
  if (branch) return 'it does not move: it is on a branch';
  return 'it does not move: the configuration had no section moves when it began';
}
