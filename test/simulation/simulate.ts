// Runs many seeds, or tells the story of one: `npm run simulate -- --seeds 10000`, `npm run simulate -- --seed 77
// --story`.
import { fork } from 'node:child_process';
import process from 'node:process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LOAD_BEARING_LINES } from './broken/lines.ts';
import { withoutLine } from './broken/without-line.ts';
import { runSeed } from './run-seed.ts';
import { shrink } from './shrink.ts';
import { storyOf } from './story.ts';
import type { SeedReport } from './seed-player.ts';
import { simulateSeeds } from './simulate-seeds.ts';
import { SITUATION_NAMES } from './situations.ts';

function number(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('A seed is a whole number, 1 to 999999999.');
  return Number(text);
}

interface Options {
  readonly seeds: number;
  readonly from: number;
  readonly seed?: number;
  readonly story?: true;
  readonly without?: string;
}

const options = new Command('npm run simulate --')
  .description('Plays histories of simulated clusters with the real Pointsman, and names the laws that they break.')
  .addOption(
    new Option('--seeds <count>', 'so many seeds, on all cores').argParser(number).default(100).conflicts('seed'),
  )
  .addOption(new Option('--from <seed>', 'the first of them').argParser(number).default(1))
  .addOption(new Option('--seed <seed>', 'this one alone: its history, a line for each event').argParser(number))
  .option('--story', 'of a seed that breaks a law: the smallest plan that still does, and what a person needs of it')
  .addOption(
    new Option('--without <line>', 'the program lacks this line').choices(LOAD_BEARING_LINES.map(({ name }) => name)),
  )
  .allowExcessArguments(false)
  .parse()
  .opts<Options>();

const PROGRESS_MS = 10_000;
/** So many stories are told behind a run of many seeds. */
const STORIES = 3;

/** Returns the histories that broke a law or ended their processes. */
async function runMany(from: number, count: number): Promise<readonly SeedReport[]> {
  const broken: SeedReport[] = [];
  const reached = new Map(SITUATION_NAMES.map((name) => [name, 0]));
  const interrupt = new AbortController();
  const begin = Date.now();
  let done = 0;
  const sum = (): string => {
    const perSecond = (done * 1_000) / Math.max(1, Date.now() - begin);
    return `${done} seeds, ${broken.length} with a broken law, ${perSecond.toFixed(1)} a second`;
  };
  const onReport = (report: SeedReport): boolean => {
    const { seed, broken: sentences, situations } = report;
    done += 1;
    for (const name of situations) reached.set(name, (reached.get(name) ?? 0) + 1);
    if (sentences.length > 0) {
      broken.push(report);
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

const { without, seed } = options;
if (without !== undefined && process.env['POINTSMAN_WITHOUT'] !== without) {
  // Children of that process lack the line, too.
  fork(import.meta.filename, process.argv.slice(2), withoutLine(without)).on('exit', (code) => process.exit(code ?? 1));
  process.on('SIGINT', () => {});
} else if (seed === undefined) {
  const broken = await runMany(options.from, options.seeds);
  process.exitCode = broken.length > 0 ? 1 : 0;
  const told = broken.filter(({ hasEndedProcess }) => !hasEndedProcess).slice(0, STORIES);
  for (const { seed: one } of told) console.log(`\n${storyOf(one, await shrink(await runSeed(one)))}`);
} else {
  const outcome = await runSeed(seed);
  const told = options.story && outcome.broken.length > 0 ? await shrink(outcome) : outcome;
  console.log(options.story ? storyOf(outcome.plan.seed, told) : told.history.lines().join('\n'));
  console.log(`${told.history.hash()} ${told.broken.length === 0 ? 'every law held' : told.broken.join('\n')}`);
  process.exitCode = told.broken.length > 0 ? 1 : 0;
}
