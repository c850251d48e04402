// The incidents of a running Pointsman, over its admin API.
import { looseReader } from '../../documents/loose-reader.ts';
import { incidentList } from '../../documents/incident-list.ts';
import { addressText } from '../../model/member.ts';
import { fail } from '../command-end.ts';
import type { CliIo } from '../io.ts';
import { asJson } from '../json.ts';
import { reportFailure, request, tryRequest, type AdminAnswer } from '../admin-request.ts';
import { tokenFor, type Running } from '../running.ts';
import type { IncidentRow, ShowHow, IncidentSource } from './source.ts';

const listReader = looseReader(incidentList, { needed: ['incidents id state opened_at kinds planned summary'] });

/** `silent`: there is no Pointsman, with the reason in words. */
export type SourceOfRunning = IncidentSource | { readonly silent: string };

export async function fromRunning(running: Running, io: CliIo): Promise<SourceOfRunning> {
  const answer = await tryRequest(running, { method: 'GET', path: '/incidents' });
  if (answer.kind === 'failed') return { silent: answer.why };
  if (answer.status !== 200) return reportFailure(answer, io);
  const { data } = listReader.safeParse(answer.body);
  if (data === undefined) return fail(io, `${addressText(running.address)} has no list of incidents: another version`);
  const entries: readonly IncidentRow[] = data.incidents;
  return { list: () => Promise.resolve(entries), show: (id, how) => show(running, id, how, io) };
}

async function show(running: Running, id: string, { isJson, isFull }: ShowHow, io: CliIo): Promise<string> {
  const token = isFull ? await tokenFor(running, io) : undefined;
  const query = new URLSearchParams({ format: isJson ? 'json' : 'text', ...(isFull ? { redact: 'off' } : {}) });
  const path = `/incidents/${encodeURIComponent(id)}?${query.toString()}`;
  const sent = { method: 'GET', path, isText: !isJson, ...(token === undefined ? {} : { token }) } as const;
  const answer = await request(running, sent, io);
  return answer.status === 200 ? (textOf(answer) ?? reportFailure(answer, io)) : reportFailure(answer, io);
}

function textOf({ body }: AdminAnswer): string | undefined {
  return typeof body === 'string' ? body : typeof body === 'object' ? asJson(body) : undefined;
}
