// Runs many seeds, or tells the story of one: `npm run simulate -- --seeds 10000`, `npm run simulate -- --seed 77
// --story`.
import { parseArgs } from 'node:util';
import process from 'node:process';
import { runSeed, type Outcome } from './run-seed.ts';
import { shrink, storyOf } from './shrink.ts';
import { SITUATION_NAMES } from './situations.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    story: { type: 'boolean', default: false },
    /** Ends at the first broken law, without its story. */
    quick: { type: 'boolean', default: false },
  },
});

async function runMany(from: number, count: number): Promise<readonly Outcome[]> {
  const broken: Outcome[] = [];
  const reached = new Map<string, number>();
  for (let seed = from; seed < from + count; seed += 1) {
    const outcome = await runSeed(seed);
    for (const name of outcome.situations) reached.set(name, (reached.get(name) ?? 0) + 1);
    if (outcome.broken.length === 0) continue;
    console.log(`seed ${seed}: ${outcome.broken[0]}`);
    broken.push(outcome);
    if (values.quick) return broken;
  }
  for (const name of SITUATION_NAMES) console.log(`${String(reached.get(name) ?? 0).padStart(7)}  ${name}`);
  return broken;
}

if (values.seed === undefined) {
  const broken = await runMany(Number(values.from), Number(values.seeds));
  if (!values.quick) for (const outcome of broken.slice(0, 3)) console.log(`\n${storyOf(await shrink(outcome))}`);
  console.log(`${values.seeds} seeds, ${broken.length} with a broken law`);
  process.exitCode = broken.length > 0 ? 1 : 0;
} else {
  const outcome = await runSeed(Number(values.seed));
  const told = values.story && outcome.broken.length > 0 ? await shrink(outcome) : outcome;
  console.log(values.story ? storyOf(told) : told.history.lines().join('\n'));
  console.log(`${told.history.hash()} ${told.broken.length === 0 ? 'every law held' : told.broken.join('\n')}`);
  process.exitCode = told.broken.length > 0 ? 1 : 0;
}
