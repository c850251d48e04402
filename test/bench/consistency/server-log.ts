// The log of one server, as SERVER_PARAMETERS makes it: which writes it executed, when it was promoted, and when its
// Patroni held the leader lock.
import type { Commit, Executed, LockClaim, Promotion } from './history.ts';

export interface ServerLog {
  readonly executed: readonly Executed[];
  readonly commits: readonly Commit[];
  readonly promotions: readonly Promotion[];
  readonly claims: readonly LockClaim[];
}

/** `1732645123.456 [123] LOG:  …`, among lines of Patroni. */
const LINE = /^(\d{9,}\.\d{3}) \[\d+\] LOG: {2}(.*)$/;
const EXECUTED = /^executed (\d+) (\d+) (\d+)$/;
const COMMITTING = /^committing (\d+) (\d+) (\d+) ([0-9A-F]+\/[0-9A-F]+)$/;
const SELECTED = /^selected new timeline ID: (\d+)$/;
const BEGUN = 'received promote request';
const READY = 'database system is ready to accept connections';
/** Patroni's, in local time: `2026-11-26 18:47:18,101 INFO: no action. I am (pg-2), the leader with the lock`. */
const CLAIM = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}) INFO: .*the leader with the lock$/;

export function readServerLog(server: string, text: string): ServerLog {
  const executed: Executed[] = [];
  const commits: Commit[] = [];
  const promotions: Promotion[] = [];
  const claims: LockClaim[] = [];
  let selected: number | undefined;
  let begunAtMs: number | undefined;
  for (const line of text.split('\n')) {
    const [claim, day = '', time = '', ms = ''] = CLAIM.exec(line) ?? [];
    if (claim !== undefined) claims.push({ server, atMs: new Date(`${day}T${time}.${ms}`).getTime() });
    const [, seconds = '', said = ''] = LINE.exec(line) ?? [];
    const atMs = Math.round(Number(seconds) * 1000);
    const write = EXECUTED.exec(said);
    if (write !== null) executed.push({ server, atMs, ...numbers(write) });
    const commit = COMMITTING.exec(said);
    if (commit !== null) commits.push({ server, atMs, ...numbers(commit), lsn: commit[4] ?? '' });
    if (said === BEGUN) begunAtMs = atMs;
    const next = SELECTED.exec(said)?.[1];
    if (next !== undefined) selected = Number(next);
    if (said === READY && selected !== undefined) {
      promotions.push({ server, timeline: selected, begunAtMs: begunAtMs ?? atMs, atMs });
      selected = undefined;
      begunAtMs = undefined;
    }
  }
  return { executed, commits, promotions, claims };
}

function numbers([, client, n, timeline]: RegExpExecArray): Pick<Executed, 'client' | 'n' | 'timeline'> {
  return { client: Number(client), n: Number(n), timeline: Number(timeline) };
}
