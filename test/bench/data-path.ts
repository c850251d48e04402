// `npm run bench`: the cost of a query through Pointsman, HAProxy, PgBouncer, and without a proxy, measured in turn.
import { writeFileSync } from 'node:fs';
import { chart } from './data-path/chart.ts';
import { facts, load } from './data-path/facts.ts';
import { Lab } from './data-path/lab.ts';
import { readOptions } from './data-path/options.ts';
import { PARTS } from './data-path/parts/parts.ts';
import { type Line, type Sample, summarise } from './data-path/sample.ts';
import { LEGEND, tables } from './data-path/table.ts';

const options = readOptions(process.argv.slice(2));
const before = await facts(options);
const samples: Sample[] = [];
{
  await using lab = await Lab.open(options);
  for (const name of options.only) {
    const own = await PARTS[name](lab);
    if (own.length === 0) throw new Error(`${name}: nothing was measured`);
    samples.push(...own);
    console.log(`${tables(summarise(own))}\n`);
    // Keeps the samples of finished parts when a later part fails.
    keep(summarise(samples), before);
  }
}
const told = [...before, `load average after it: ${load()}`];
keep(summarise(samples), told);
console.log(`${LEGEND}\n\n${told.map((fact) => `- ${fact}`).join('\n')}`);

function keep(lines: readonly Line[], known: readonly string[]): void {
  if (options.json !== undefined) {
    const variants = Object.fromEntries(options.variants);
    const kept = { facts: known, options: { ...options, variants }, lines, samples };
    writeFileSync(options.json, `${JSON.stringify(kept, null, 2)}\n`);
  }
  if (options.chart !== undefined) writeFileSync(options.chart, chart(lines));
}
