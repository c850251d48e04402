// `pointsman status --watch`, and `pointsman top`: the status, drawn again every second, with rates.
import { setTimeout as delay } from 'node:timers/promises';
import { parseDuration } from '../../config/schema/duration.ts';
import { addressText } from '../../model/member.ts';
import { eventListReader, type EventDocument } from '../events/event.ts';
import { wrong } from '../command-end.ts';
import { EXIT, type CliIo } from '../io.ts';
import { queryOf, tryDocument, tryRequest } from '../admin-request.ts';
import type { Running } from '../running.ts';
import { ofPool, readStatus, statusReader, type Status, type StatusOptions } from './read-status.ts';
import { runningOperations } from './operations-under-way.ts';
import { paintFor } from '../terminal/colour.ts';
import { openLiveScreen } from '../terminal/live-screen.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { untilStopped, type StopSignal } from '../terminal/until-stopped.ts';
import { liveScreen, type LiveLook } from './status-screen.ts';

export interface WatchOptions extends StatusOptions {
  readonly interval: string;
  /** The option that has the interval. */
  readonly flag?: string;
  /** So many screens. Default: until q or Ctrl-C. */
  readonly count?: string | undefined;
}

const LEAST_INTERVAL_MS = 100;
const EVENTS = '50';
const CTRL_C = '\u0003';
const KEYS = 'q: quit';

/** Exit code 0 after the last screen or `q`, that of the signal that ends it, or 1 without an answer at the start. */
export async function watchStatus(options: WatchOptions, io: CliIo): Promise<number> {
  const { flag = '--interval', count, pool } = options;
  const interval = parseDuration(options.interval);
  if (interval.kind === 'invalid') return wrong(io, `${flag}: ${interval.message}`);
  if (interval.ms < LEAST_INTERVAL_MS) return wrong(io, `${flag}: the shortest is ${LEAST_INTERVAL_MS}ms`);
  if (count !== undefined && !/^[1-9]\d{0,8}$/.test(count))
    return wrong(io, `--count: ${count} is not a number from 1`);
  const { running, status } = await readStatus(options, io);
  const stopping = untilStopped(io);
  const live = openLiveScreen(io);
  const restore = [io.onKey?.((key) => onKey(key, stopping)), live.close];
  const paint = paintFor(io);
  const draw = (before: LiveLook | undefined, now: LiveLook, footer: string): void => {
    const terminal = { paint, width: widthFor(io), rows: io.screen?.size().rows };
    live.draw(liveScreen(now, { ...terminal, from: addressText(running.address), before, footer }));
  };
  const keys = io.onKey === undefined ? '' : `${paint('faint', KEYS)}\n`;
  const isOver = (): boolean => stopping.signal.aborted;
  try {
    let before = await lookAt(status, running, pool);
    // Rates need two looks. A person sees the first one at once.
    if (io.screen !== undefined) draw(undefined, before, keys);
    for (let drawn = 0; drawn < Number(count ?? Infinity); drawn += 1) {
      await delay(interval.ms, undefined, { signal: stopping.signal }).catch(() => {});
      if (isOver()) break;
      const now = await look(running, pool);
      if (typeof now === 'string') draw(undefined, before, `${paint('bad', now)}\n`);
      else {
        draw(before, now, keys);
        before = now;
      }
    }
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

/** A text is the reason why there is no news. */
async function look(running: Running, pool: string | undefined): Promise<LiveLook | string> {
  const answer = await tryRequest(running, { method: 'GET', path: '/status' });
  if (answer.kind === 'failed') return `old: ${answer.why}`;
  const { data } = statusReader.safeParse(answer.body);
  if (data === undefined) return `old: ${addressText(running.address)} has no status now`;
  return lookAt(ofPool(data, pool), running, pool);
}

async function lookAt(status: Status, running: Running, pool: string | undefined): Promise<LiveLook> {
  const at = performance.now();
  return { at, status, events: await readEvents(running, pool), operations: await runningOperations(running) };
}

/** Empty if there are none, or if this version has no list. */
async function readEvents(running: Running, pool: string | undefined): Promise<readonly EventDocument[]> {
  const path = `/events${queryOf({ format: 'json', limit: EVENTS, pool })}`;
  return (await tryDocument(running, path, eventListReader))?.events ?? [];
}
