// `pointsman status --watch`, and `pointsman top`: the status, drawn again every second, with rates.
import { setTimeout as delay } from 'node:timers/promises';
import { parseDuration } from '../../config/schema/duration.ts';
import { addressText } from '../../model/member.ts';
import { eventListReader, type EventDocument } from '../events/event.ts';
import { wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { tryRequest } from '../admin-request.ts';
import type { Running } from '../running.ts';
import { ofPool, readStatus, statusReader, type StatusOptions } from './read-status.ts';
import { runningOperations } from './operations-under-way.ts';
import { paintFor } from '../terminal/colour.ts';
import { openLiveScreen } from '../terminal/live-screen.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { untilStopped, type StopSignal } from '../terminal/until-stopped.ts';
import type { Look } from './rates.ts';
import { liveScreen } from './status-screen.ts';

export interface WatchOptions extends StatusOptions {
  readonly interval: string;
  /** The option that has the interval. */
  readonly flag?: string;
  /** So many screens. Default: until q or Ctrl-C. */
  readonly count?: string | undefined;
}

const LEAST_INTERVAL_MS = 100;
const EVENTS = 50;
const CTRL_C = '\u0003';
const KEYS = 'q: quit';

/** Exit code 0 after the last screen or `q`, that of the signal that ends it, or 1 without an answer at the start. */
export async function watchStatus(options: WatchOptions, io: CliIo): Promise<number> {
  const { flag = '--interval' } = options;
  const interval = parseDuration(options.interval);
  if (interval.kind === 'invalid') return wrong(io, `${flag}: ${interval.message}`);
  if (interval.ms < LEAST_INTERVAL_MS) return wrong(io, `${flag}: the shortest is ${LEAST_INTERVAL_MS}ms`);
  if (options.count !== undefined && !/^[1-9]\d{0,8}$/.test(options.count))
    return wrong(io, `--count: ${options.count} is not a number from 1`);
  const { running, status } = await readStatus(options, io);
  const stopping = untilStopped(io);
  const first: Look = { at: performance.now(), status };
  const live = openLiveScreen(io);
  const restore = [io.onKey?.((key) => onKey(key, stopping)), live.close];
  try {
    const count = options.count === undefined ? Infinity : Number(options.count);
    await drawUntil(first, { running, options, io, live, count, intervalMs: interval.ms, signal: stopping.signal });
  } finally {
    for (const undo of restore) undo?.();
  }
  return stopping.end();
}

/** A terminal that reports keys makes no signal of Ctrl-C. */
function onKey(key: string, { stop }: StopSignal): void {
  if (key === 'q' || key === 'Q') stop(EXIT.ok);
  if (key === CTRL_C) stop(EXIT.interrupted);
}

interface StatusScreen {
  readonly running: Running;
  readonly options: WatchOptions;
  readonly io: CliIo;
  readonly live: ReturnType<typeof openLiveScreen>;
  readonly count: number;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

async function drawUntil(first: Look, drawing: StatusScreen): Promise<void> {
  const { running, options, io, live, count, intervalMs, signal } = drawing;
  const paint = paintFor(io);
  let events = await readEvents(running, options.pool);
  let operations = await runningOperations(running);
  const draw = (before: Look | undefined, now: Look, footer: string): void => {
    const terminal = { paint, width: widthFor(io), rows: io.screen?.size().rows };
    const from = addressText(running.address);
    live.draw(liveScreen(now, { ...terminal, from, before, events, operations, footer }));
  };
  const keys = io.onKey === undefined ? '' : `${paint('faint', KEYS)}\n`;
  // Rates need two looks. A person sees the first one at once.
  if (io.screen !== undefined) draw(undefined, first, keys);
  let before = first;
  const isOver = (): boolean => signal.aborted;
  for (let drawn = 0; drawn < count; drawn += 1) {
    await delay(intervalMs, undefined, { signal }).catch(() => {});
    if (isOver()) return;
    const now = await look(running, options.pool);
    if (typeof now === 'string') {
      draw(undefined, before, `${paint('bad', now)}\n`);
      continue;
    }
    events = await readEvents(running, options.pool);
    operations = await runningOperations(running);
    draw(before, now, keys);
    before = now;
  }
}

/** A text is the reason why there is no news. */
async function look(running: Running, pool: string | undefined): Promise<Look | string> {
  const answer = await tryRequest(running, { method: 'GET', path: '/status' });
  if (answer.kind === 'failed') return `old: ${answer.why}`;
  const { data } = statusReader.safeParse(answer.body);
  if (data === undefined) return `old: ${addressText(running.address)} has no status now`;
  return { at: performance.now(), status: ofPool(data, pool) };
}

/** Empty if there are none, or if this version has no list. */
async function readEvents(running: Running, pool: string | undefined): Promise<readonly EventDocument[]> {
  const of = pool === undefined ? '' : `&pool=${encodeURIComponent(pool)}`;
  const answer = await tryRequest(running, { method: 'GET', path: `/events?format=json&limit=${EVENTS}${of}` });
  return answer.kind === 'failed' ? [] : (eventListReader.safeParse(answer.body).data?.events ?? []);
}
