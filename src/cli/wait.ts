// `pointsman wait`: until pools can serve, for init containers and entrypoints. Also waits for the Pointsman itself.
import { setTimeout as delay } from 'node:timers/promises';
import { unknownName } from '../config/closest.ts';
import { parseDuration } from '../config/schema/duration.ts';
import { durationText } from '../core/describe.ts';
import { addressText } from '../model/member.ts';
import { wrong } from './command-end.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';
import { tryRequest } from './admin-request.ts';
import { findRunning, type Running, type RunningOptions } from './running.ts';
import { statusReader, type StatusPool } from './status/read-status.ts';

export interface WaitOptions extends RunningOptions {
  /** Default: every pool. */
  readonly pool?: readonly string[] | undefined;
  readonly timeout: string;
  /** No output. */
  readonly quiet?: boolean | undefined;
}

const POLL_MS = 500;

/** `why`: the reason of one pool, or of the Pointsman. */
type ReadinessAnswer =
  | { readonly kind: 'serving'; readonly pools: readonly Pick<StatusPool, 'name' | 'why'>[] }
  | { readonly kind: 'not_yet'; readonly why: string }
  | { readonly kind: 'unknown_pool'; readonly why: string };

/** Exit code 0 as soon as the pools are open; 1 after the timeout, with the reason of the last look. */
export async function wait(options: WaitOptions, io: CliIo): Promise<number> {
  const timeout = parseDuration(options.timeout);
  if (timeout.kind === 'invalid') return wrong(io, `--timeout: ${timeout.message}`);
  const running = findRunning(options, io);
  const tell = options.quiet === true ? () => {} : io.stderr;
  const endsAt = performance.now() + timeout.ms;
  let told: string | undefined;
  for (;;) {
    const seen = await look(running, options.pool ?? []);
    if (seen.kind === 'serving') {
      if (options.json === true) io.stdout(json({ serving: true, pools: seen.pools, why: null }));
      else if (options.quiet !== true) io.stdout(seen.pools.map(({ name, why }) => `pool ${name}: ${why}\n`).join(''));
      return EXIT.ok;
    }
    if (seen.kind === 'unknown_pool') return wrong(io, seen.why);
    if (performance.now() + POLL_MS > endsAt) {
      if (options.json === true) io.stdout(json({ serving: false, pools: [], why: seen.why }));
      tell(`pointsman: gave up after ${durationText(timeout.ms)}: ${seen.why}\n`);
      return EXIT.failure;
    }
    if (seen.why !== told) tell(`waiting: ${seen.why}\n`);
    told = seen.why;
    await delay(POLL_MS);
  }
}

async function look(running: Running, wanted: readonly string[]): Promise<ReadinessAnswer> {
  const answer = await tryRequest(running, { method: 'GET', path: '/status' });
  if (answer.kind === 'failed') return { kind: 'not_yet', why: answer.why };
  const { data } = statusReader.safeParse(answer.body);
  if (data === undefined)
    return { kind: 'not_yet', why: `${addressText(running.address)} does not answer as Pointsman` };
  const known = data.pools.map(({ name }) => name);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return { kind: 'unknown_pool', why: unknownName('pool', unknown, known) };
  }
  const pools = data.pools.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const closed = pools.find(({ route }) => route.kind !== 'open');
  if (closed !== undefined) return { kind: 'not_yet', why: `pool ${closed.name}: ${closed.why}` };
  return { kind: 'serving', pools: pools.map(({ name, why }) => ({ name, why })) };
}
