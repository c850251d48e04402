// The thread that looks for inputs. It stops at the first fault.
import { workerData } from 'node:worker_threads';
import { corpusOf, keep } from './corpus.ts';
import { Coverage } from './coverage.ts';
import type { FuzzOrder } from './fuzz.ts';
import { mutated } from './mutation.ts';
import { Chance } from './target.ts';
import { TARGETS } from './targets.ts';

/** One round is checked for new coverage at a time: to ask V8 takes as long as many inputs. Milliseconds. */
const ROUND_MS = 20;
/** Far more processor time than an input takes; measured three times, because of compilers. Milliseconds. */
const SLOW_MS = 200;
const REPORT_MS = 10_000;
const MOST_SHRINKING_MS = 20_000;

const { target: name, seed, untilMs, keepsAll, at, bytes }: FuzzOrder = workerData;
const found = TARGETS.find((one) => one.name === name);
if (found === undefined) throw new Error(`there is no target ${name}`);
const target = found;
const current = { at: new Int32Array(at), bytes: new Uint8Array(bytes) };
const { longest = 4_096 } = target;
const chance = new Chance(seed);
const known = [...target.seeds, ...corpusOf(name).map((kept) => kept.bytes)];
const pool = [...known];
let inputs = 0;

/** Undefined: all holds. */
async function faultOf(input: Uint8Array): Promise<string | undefined> {
  inputs += 1;
  current.bytes.set(input.subarray(0, longest));
  current.at[1] = Math.min(longest, input.length);
  current.at[0] = inputs;
  let ms = Infinity;
  for (let tries = 0; tries < 3 && ms > SLOW_MS; tries += 1) {
    const from = process.threadCpuUsage();
    try {
      const checked = target.check(input);
      if (checked !== undefined) await checked;
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    ms = process.threadCpuUsage(from).user / 1_000;
  }
  return ms > SLOW_MS ? `it takes ${Math.round(ms)} ms of the processor` : undefined;
}

function kindOf(fault: string | undefined): string | undefined {
  return fault?.split('\n', 1)[0]?.slice(0, 25);
}

/** The shortest input with a fault of the same kind that some cuts lead to. */
async function shrunk(input: Uint8Array, fault: string): Promise<Uint8Array> {
  const endMs = Date.now() + MOST_SHRINKING_MS;
  let shortest = input;
  for (let size = 1 << 14; size > 0; size >>= 1) {
    for (let from = 0; from < shortest.length && Date.now() < endMs;) {
      const shorter = Buffer.concat([shortest.subarray(0, from), shortest.subarray(from + size)]);
      if (kindOf(await faultOf(shorter)) === kindOf(fault)) shortest = shorter;
      else from += size;
    }
  }
  return shortest;
}

async function end(input: Uint8Array, fault: string): Promise<never> {
  const file = keep(name, await shrunk(input, fault));
  console.log(`${name}: a fault after ${inputs} inputs, in ${file}:\n${fault}`);
  process.exit(1);
}

async function run(all: readonly Uint8Array[]): Promise<void> {
  for (const input of all) {
    const fault = await faultOf(input);
    if (fault !== undefined) await end(input, fault);
  }
}

const words = target.words.map((word) => Buffer.from(word, 'latin1'));
const coverage = new Coverage(target.covers);
await run(known);
coverage.note();
let reportedMs = Date.now();
let size = 10;
while (Date.now() < untilMs) {
  const round = Array.from({ length: size }, () => {
    // Every second one of the latest: what is new has been changed least.
    const from =
      chance.below(2) === 0 ? pool.length - 1 - chance.below(Math.min(10, pool.length)) : chance.below(pool.length);
    return mutated(pool[from] ?? new Uint8Array(0), chance, { words, others: pool, longest });
  });
  const from = performance.now();
  await run(round);
  size = Math.ceil(Math.min(500, Math.max(1, (size * ROUND_MS) / Math.max(0.1, performance.now() - from))));
  if (coverage.isNew()) {
    for (const input of round) {
      await run([input]);
      if (coverage.note()) pool.push(input);
    }
    // Something that depends on more than the input, such as the first use of a library.
    await run(round);
    coverage.note();
  }
  if (Date.now() - reportedMs < REPORT_MS) continue;
  reportedMs = Date.now();
  console.log(`${name}: ${inputs} inputs, ${coverage.functions()} functions, ${pool.length} of interest`);
}
console.log(`${name}: no fault with ${inputs} inputs, of which ${pool.length - known.length} led somewhere new`);
if (keepsAll) {
  const anew = new Coverage(target.covers);
  await run(known);
  anew.note();
  for (const input of pool.slice(known.length).toSorted((one, other) => one.length - other.length)) {
    await run([input]);
    if (anew.note()) keep(name, input);
  }
}
process.exit(0);
