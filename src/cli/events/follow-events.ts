// `pointsman events`: the recent events of a running Pointsman, and with --follow the new ones.
import type { ListSessionsOptions } from '../sessions/sessions-command.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventSourceMessage } from 'eventsource-parser';
import { readAdminToken } from '../../config/files/admin-token.ts';
import { unknownName } from '../../config/closest.ts';
import { addressText } from '../../model/member.ts';
import { fail, wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { asJson, jsonLine } from '../json.ts';
import { failureReader, queryOf, request, tryDocument } from '../admin-request.ts';
import { findRunning, type Running, type RunningOptions } from '../running.ts';
import { statusReader } from '../status/read-status.ts';
import { paintFor } from '../terminal/colour.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { untilStopped } from '../terminal/until-stopped.ts';
import { eventListReader, eventReader, eventText, gapReader, type EventDocument } from './event.ts';
import { readStream } from './stream.ts';

export interface EventsOptions extends RunningOptions, Pick<ListSessionsOptions, 'limit' | 'pool' | 'member'> {
  readonly follow?: boolean | undefined;
  readonly event?: string | undefined;
  readonly level?: string | undefined;
}

const RECONNECT_MS = 2000;

/** With `follow` the exit code is that of the signal that ends it. */
export async function events(options: EventsOptions, io: CliIo): Promise<number> {
  const { limit } = options;
  if (limit !== undefined && !/^\d{1,4}$/.test(limit))
    return wrong(io, `--limit: ${limit} is not a number from 0 to 1024`);
  const running = findRunning(options, io);
  const found = await readAdminToken(running.admin);
  const token = found.kind === 'token' ? found.value : undefined;
  const path = pathOf(options, { format: 'json', limit });
  const signed = token === undefined ? {} : { token };
  const answer = await request(running, { method: 'GET', path, ...signed }, io);
  const { data: list } = eventListReader.safeParse(answer.body);
  if (list === undefined) {
    const { data } = failureReader.safeParse(answer.body);
    const why = data?.error ?? `${addressText(running.address)} has no list of events: another version`;
    return fail(io, why, answer.status === 400 ? EXIT.usage : EXIT.failure);
  }
  const unknown = list.events.length === 0 ? await whyUnknown(options, running) : undefined;
  if (unknown !== undefined) return wrong(io, unknown);
  // Before the first line: Ctrl-C that answers it must end the command as any other.
  const stopping = options.follow === true ? untilStopped(io) : undefined;
  const show = printer(options, io);
  if (options.follow !== true && options.json === true) io.stdout(asJson(answer.body));
  else list.events.forEach(show);
  if (stopping === undefined) {
    if (list.events.length === 0 && options.json !== true) io.stderr('no such events\n');
    return EXIT.ok;
  }
  await followFrom(list.last_id, { running, token, options, show, io, signal: stopping.signal });
  return stopping.end();
}

/** Events of a pool or a member that is gone may be kept, so a name is unknown only if it has none. */
async function whyUnknown({ pool, member }: EventsOptions, running: Running): Promise<string | undefined> {
  if (pool === undefined && member === undefined) return undefined;
  const status = await tryDocument(running, '/status', statusReader);
  const pools = status?.pools.map(({ name }) => name) ?? [];
  const members = status?.members.map(({ name }) => name) ?? [];
  if (pool !== undefined && pools.length > 0 && !pools.includes(pool)) return unknownName('pool', pool, pools);
  if (member === undefined || members.length === 0 || members.includes(member)) return undefined;
  return unknownName('member', member, members);
}

function printer({ json }: EventsOptions, io: CliIo): (event: EventDocument) => void {
  const paint = paintFor(io);
  return (event) => io.stdout(json === true ? jsonLine({ ...event }) : eventText(event, paint, widthFor(io)));
}

function pathOf(options: EventsOptions, others: Readonly<Record<string, string | undefined>>): string {
  const { pool, member, event, level } = options;
  return `/events${queryOf({ pool, member, event, level, ...others })}`;
}

interface EventFollowOptions {
  readonly running: Running;
  readonly options: EventsOptions;
  readonly show: (event: EventDocument) => void;
  readonly io: CliIo;
  readonly token: string | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Until Ctrl-C. After a break it continues behind the last event that was shown. */
async function followFrom(
  after: string,
  { running, token, options, show, io, signal }: EventFollowOptions,
): Promise<void> {
  const where = addressText(running.address);
  let lastId = after;
  let isBroken = false;
  const onOpen = (): void => {
    if (isBroken) io.stderr(`pointsman: connected to ${where} again\n`);
    isBroken = false;
  };
  const onEvent = ({ event: name, data }: EventSourceMessage): void => {
    if (name === 'gap') return io.stderr(`pointsman: ${gapReader.parse(JSON.parse(data)).message}\n`);
    const event = eventReader.parse(JSON.parse(data));
    lastId = event.id;
    show(event);
  };
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const path = pathOf(options, { format: 'stream', after: lastId });
    const why = await readStream(running, { path, token, onOpen, onEvent, signal });
    if (!isOver() && !isBroken) io.stderr(`pointsman: the connection to ${where} is lost (${why}), trying again\n`);
    isBroken = true;
    if (!isOver()) await delay(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}
