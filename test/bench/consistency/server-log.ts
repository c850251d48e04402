// The log of one server, as SERVER_PARAMETERS makes it: which writes it executed, and when it was promoted.
import type { Executed, Promotion } from './history.ts';

export interface ServerLog {
  readonly executed: readonly Executed[];
  readonly promotions: readonly Promotion[];
}

/** `1732645123.456 [123] LOG:  …`, among lines of Patroni. */
const LINE = /^(\d{9,}\.\d{3}) \[\d+\] LOG: {2}(.*)$/;
const EXECUTED = /^executed (\d+) (\d+) (\d+)$/;
const SELECTED = /^selected new timeline ID: (\d+)$/;
const BEGUN = 'received promote request';
const READY = 'database system is ready to accept connections';

export function readServerLog(server: string, text: string): ServerLog {
  const executed: Executed[] = [];
  const promotions: Promotion[] = [];
  let selected: number | undefined;
  let begunAtMs: number | undefined;
  for (const line of text.split('\n')) {
    const [, seconds = '', said = ''] = LINE.exec(line) ?? [];
    const atMs = Math.round(Number(seconds) * 1000);
    const numbers = EXECUTED.exec(said)?.slice(1).map(Number);
    if (numbers !== undefined) {
      const [client = 0, n = 0, timeline = 0] = numbers;
      executed.push({ server, atMs, client, n, timeline });
    }
    if (said === BEGUN) begunAtMs = atMs;
    const next = SELECTED.exec(said)?.[1];
    if (next !== undefined) selected = Number(next);
    if (said === READY && selected !== undefined) {
      promotions.push({ server, timeline: selected, begunAtMs: begunAtMs ?? atMs, atMs });
      selected = undefined;
      begunAtMs = undefined;
    }
  }
  return { executed, promotions };
}
