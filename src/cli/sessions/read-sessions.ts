// The part of GET /sessions that the commands read.
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { sessionList } from '../../documents/sessions-document.ts';
import { addressText } from '../../model/member.ts';
import { CommandEnd, fail, unlessEnded, wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { documentOf, queryOf, reportFailure, requestWithToken, type AdminRequest } from '../admin-request.ts';
import type { Running } from '../running.ts';

/** The ages in the moves are newer. */
export const SESSION = [
  'id name pool client listener opaque state state_seconds to_backend_bytes to_client_bytes',
  'moved movable from to cause gap_ms waiting',
] as const;

const sessionsReader = looseReader(sessionList, { needed: ['total left_out sessions', ...SESSION] });
export type SessionRows = z.infer<typeof sessionsReader>;
export type SessionRow = SessionRows['sessions'][number];

/** Ends the command if one of them is no id. */
export function checkIds(ids: readonly string[], io: CliIo): void {
  const other = ids.find((id) => !/^\d+$/.test(id));
  if (other !== undefined)
    wrong(io, `${other} is not a session: an id is a number, as \`pointsman sessions\` shows it`);
}

export async function readSessions(
  running: Running,
  query: Readonly<Record<string, string | undefined>>,
  io: CliIo,
): Promise<SessionRows> {
  const path = `/sessions${queryOf(query)}`;
  const answer = await requestWithToken(running, { method: 'GET', path }, io);
  // Unknown is the pool or the member of the query; a session that is gone is an empty list.
  if (answer.status !== 200) {
    return reportFailure(answer, io, answer.status === 404 || answer.status === 400 ? EXIT.usage : EXIT.failure);
  }
  const { data } = sessionsReader.safeParse(answer.body);
  if (data !== undefined) return data;
  return fail(io, `${addressText(running.address)} is not a Pointsman admin endpoint, or of another version`);
}

export interface SessionChange<Result> {
  readonly request: (id: number | string) => Omit<AdminRequest, 'token'>;
  readonly reader: z.ZodType<Result>;
  readonly textOf: (result: Result) => string;
}

/** One after the other. `code`: that of the last one that could not be changed, whose reason is on stderr. */
export async function changeEach<Result>(
  ids: Iterable<number | string>,
  { request, reader, textOf }: SessionChange<Result>,
  running: Running,
  isJson: boolean | undefined,
  io: CliIo,
): Promise<{ readonly code: number; readonly results: readonly Result[] }> {
  let code: number = EXIT.ok;
  const results: Result[] = [];
  for (const id of ids) {
    const one = await unlessEnded(() => documentOf(running, request(id), reader, io));
    if (one instanceof CommandEnd) code = one.code;
    else {
      results.push(one);
      if (isJson !== true) io.stdout(textOf(one));
    }
  }
  if (isJson === true) io.stdout(json({ results }));
  return { code, results };
}
