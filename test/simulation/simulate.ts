// Runs many seeds, or tells the story of one: `npm run simulate -- --seeds 10000`, `npm run simulate -- --seed 77
// --story`.
import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import process from 'node:process';
import { withoutLine } from './broken/without-line.ts';
import { runSeed } from './run-seed.ts';
import { shrink } from './shrink.ts';
import { storyOf } from './story.ts';
import { simulateSeeds, type SeedReport } from './simulate-seeds.ts';
import { SITUATION_NAMES } from './situations.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    story: { type: 'boolean', default: false },
    /** The name of a load-bearing line that the program lacks: broken/lines.ts. */
    without: { type: 'string' },
  },
});

const PROGRESS_MS = 10_000;
/** So many stories are told behind a run of many seeds. */
const STORIES = 3;

/** Returns the seeds whose histories broke a law. */
async function runMany(from: number, count: number): Promise<readonly number[]> {
  const broken: number[] = [];
  const reached = new Map(SITUATION_NAMES.map((name) => [name, 0]));
  const interrupt = new AbortController();
  const begin = Date.now();
  let done = 0;
  const sum = (): string => {
    const perSecond = (done * 1_000) / Math.max(1, Date.now() - begin);
    return `${done} seeds, ${broken.length} with a broken law, ${perSecond.toFixed(1)} a second`;
  };
  const onReport = ({ seed, broken: sentences, situations }: SeedReport): boolean => {
    done += 1;
    for (const name of situations) reached.set(name, (reached.get(name) ?? 0) + 1);
    if (sentences.length > 0) {
      broken.push(seed);
      console.log(`seed ${seed}: ${sentences[0]}`);
    }
    return true;
  };
  const progress = setInterval(() => console.log(`of ${count}: ${sum()}`), PROGRESS_MS);
  process.once('SIGINT', () => interrupt.abort());
  await simulateSeeds({ from, count, onReport, signal: interrupt.signal });
  clearInterval(progress);
  printTable(reached);
  console.log(`${interrupt.signal.aborted ? 'interrupted: ' : ''}${sum()}`);
  if (interrupt.signal.aborted) process.exit(broken.length > 0 ? 1 : 130);
  return broken;
}

/** The rarest situations are the last ones. */
function printTable(reached: ReadonlyMap<string, number>): void {
  for (const [name, count] of [...reached].toSorted(([, a], [, b]) => b - a)) {
    console.log(`${String(count).padStart(7)}  ${name}`);
  }
}

const { without } = values;
if (without !== undefined && process.env['POINTSMAN_WITHOUT'] !== without) {
  // Children of that process lack the line, too.
  fork(import.meta.filename, process.argv.slice(2), withoutLine(without)).on('exit', (code) => process.exit(code ?? 1));
  process.on('SIGINT', () => {});
} else if (values.seed === undefined) {
  const broken = await runMany(Number(values.from), Number(values.seeds));
  process.exitCode = broken.length > 0 ? 1 : 0;
  for (const seed of broken.slice(0, STORIES)) console.log(`\n${storyOf(seed, await shrink(await runSeed(seed)))}`);
} else {
  const outcome = await runSeed(Number(values.seed));
  const told = values.story && outcome.broken.length > 0 ? await shrink(outcome) : outcome;
  console.log(values.story ? storyOf(outcome.plan.seed, told) : told.history.lines().join('\n'));
  console.log(`${told.history.hash()} ${told.broken.length === 0 ? 'every law held' : told.broken.join('\n')}`);
  process.exitCode = told.broken.length > 0 ? 1 : 0;
}
