// npm run fuzz -- TARGET --minutes N: looks for inputs that break a target, led by coverage. It watches the thread that
// does so: an input that never ends, or that takes all memory, is found as well. Such inputs go into the corpus.
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { keep } from './corpus.ts';
import type { FuzzTarget } from './target.ts';
import { TARGETS } from './targets.ts';

/** For one input, and for the start. Milliseconds. */
const [HANGS_MS, STARTS_MS] = [10_000, 60_000];
const MOST_HEAP_MB = 1_024;

export interface FuzzOrder {
  readonly target: string;
  readonly seed: number;
  readonly untilMs: number;
  /** Inputs that led somewhere new go into the corpus. */
  readonly keepsAll: boolean;
  /** The input at hand: its number, its length, its bytes. */
  readonly at: SharedArrayBuffer;
  readonly bytes: SharedArrayBuffer;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' }, keep: { type: 'boolean' } },
});
const [name] = positionals;
const names = TARGETS.map((target) => target.name);
const wanted = TARGETS.filter((target) => name === 'all' || target.name === name);
if (wanted.length === 0) {
  console.error(`npm run fuzz -- TARGET [--minutes N] [--seed N] [--keep]\nTARGET: all, ${names.join(', ')}`);
  process.exit(2);
}
for (const target of wanted) process.exitCode = (await fuzz(target)) ? (process.exitCode ?? 0) : 1;

/** False: something was found. */
async function fuzz({ name, longest = 4_096 }: FuzzTarget): Promise<boolean> {
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const at = new Int32Array(new SharedArrayBuffer(8));
  const bytes = new Uint8Array(new SharedArrayBuffer(longest));
  const untilMs = Date.now() + Number(values.minutes) * 60_000;
  const order = { target: name, seed, untilMs, keepsAll: values.keep === true, at: at.buffer, bytes: bytes.buffer };
  console.log(`${name}: ${values.minutes} minutes from seed ${seed}`);
  const worker = new Worker(new URL('fuzz-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  });
  let [number, sinceMs] = [-1, Date.now()];
  let why: string | undefined;
  const watch = setInterval(() => {
    if (at[0] !== number) [number, sinceMs] = [at[0] ?? 0, Date.now()];
    else if (Date.now() - sinceMs > (number === 0 ? STARTS_MS : HANGS_MS)) {
      why = `no end within ${HANGS_MS} ms`;
      void worker.terminate();
    }
  }, 500);
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  worker.on('error', (error) => (why = String(error))).on('exit', resolve);
  const code = await ended;
  clearInterval(watch);
  if (why !== undefined) console.log(`${name}: ${why}: ${keep(name, bytes.slice(0, at[1]))}`);
  return code === 0;
}
