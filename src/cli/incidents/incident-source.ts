// The incidents as the commands read them: those of a running Pointsman, or the files in a directory, of a Pointsman
// that runs or ran, or a copy of them.
import { unreadable } from '../../config/files/unusable-files.ts';
import { incidentList, type IncidentListDocument } from '../../documents/incident-list.ts';
import { looseReader, type Loose } from '../../documents/loose-reader.ts';
import { FileStore } from '../../incidents/file-store.ts';
import { incidentText } from '../../incidents/incident-text.ts';
import type { IncidentEntry } from '../../incidents/schema.ts';
import { redacted } from '../../incidents/redact.ts';
import { addressText } from '../../model/member.ts';
import { queryOf, reportFailure, request, tryRequest, type AdminAnswer } from '../admin-request.ts';
import { fail } from '../command-end.ts';
import { load } from '../configuration.ts';
import type { CliIo } from '../io.ts';
import { asJson, json } from '../json.ts';
import { ELSEWHERE, findRunning, tokenFor, type Running, type RunningOptions } from '../running.ts';

export interface IncidentsOptions extends RunningOptions {
  /** Reads the files there. Default: the running Pointsman. */
  readonly directory?: string | undefined;
}

export type IncidentRow = Loose<IncidentListDocument['incidents'][number]>;

interface ShowHow {
  readonly isJson: boolean;
  /** Without redaction. */
  readonly isFull: boolean;
}

export interface IncidentSource {
  readonly entries: readonly IncidentRow[];
  /** `id` may be `latest`. */
  readonly show: (id: string, how: ShowHow) => Promise<string>;
}

const listReader = looseReader(incidentList, { needed: ['incidents id state opened_at kinds planned summary'] });
/** Nothing is written, so nothing makes room. */
const ALL = { keep: Infinity, maxBytes: Infinity };
const MOST_NAMED = 5;

export async function sourceOf(options: IncidentsOptions, io: CliIo): Promise<IncidentSource> {
  if (options.directory !== undefined) return inDirectory(options.directory, io);
  const running = findRunning(options, io);
  const answer = await tryRequest(running, { method: 'GET', path: '/incidents' });
  if (answer.kind === 'answer') return ofRunning(running, answer, io);
  const directory = configuredDirectory(options, io);
  if (directory === undefined) {
    const remedy = '--directory DIRECTORY reads the files of a Pointsman that does not run.';
    return fail(io, `${answer.why} ${ELSEWHERE} ${remedy}`);
  }
  io.stderr(`pointsman: ${answer.why} These are the files in ${directory} (incidents.directory).\n`);
  return inDirectory(directory, io);
}

/** Undefined with --admin: another address may be another Pointsman, with another directory. */
function configuredDirectory({ admin, config }: IncidentsOptions, io: CliIo): string | undefined {
  if (admin !== undefined) return undefined;
  const loaded = load({ config }, io);
  return loaded.kind === 'ok' ? loaded.config.incidents.directory : undefined;
}

function ofRunning(running: Running, answer: AdminAnswer, io: CliIo): IncidentSource {
  if (answer.status !== 200) return reportFailure(answer, io);
  const { data } = listReader.safeParse(answer.body);
  if (data === undefined) return fail(io, `${addressText(running.address)} has no list of incidents: another version`);
  return { entries: data.incidents, show: (id, how) => showOfRunning(running, id, how, io) };
}

async function showOfRunning(running: Running, id: string, { isJson, isFull }: ShowHow, io: CliIo): Promise<string> {
  const query = queryOf({ format: isJson ? 'json' : 'text', redact: isFull ? 'off' : undefined });
  const path = `/incidents/${encodeURIComponent(id)}${query}`;
  const token = isFull && { token: await tokenFor(running, io) };
  const answer = await request(running, { method: 'GET', path, isText: !isJson, ...token }, io);
  const { status, body } = answer;
  if (status !== 200 || (typeof body !== 'string' && typeof body !== 'object')) return reportFailure(answer, io);
  return typeof body === 'string' ? body : asJson(body);
}

async function inDirectory(directory: string, io: CliIo): Promise<IncidentSource> {
  const store = new FileStore(directory, ALL);
  let entries: readonly IncidentEntry[];
  try {
    entries = await store.entries();
  } catch (error) {
    return fail(io, `${directory} ${unreadable(error)}`);
  }
  return {
    entries,
    show: async (wanted, { isJson, isFull }) => {
      const id = wanted === 'latest' ? entries[0]?.id : wanted;
      if (id === undefined) return fail(io, `there are no incidents in ${directory}`);
      const whole = await store.read(id);
      if (whole === undefined) return fail(io, `unknown incident ${id}: ${namesText(directory, entries)}`);
      const document = isFull ? whole : redacted(whole);
      return isJson ? json({ ...document }) : incidentText(document);
    },
  };
}

function namesText(directory: string, entries: readonly IncidentEntry[]): string {
  const named = entries.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = entries.length > named.length ? ', …' : '';
  return `the incidents in ${directory} are ${named.join(', ') || '(none)'}${more}`;
}
