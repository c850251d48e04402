// `npm run bench`: what a query costs on its way through Pointsman, HAProxy, PgBouncer, and without a proxy, in turn.
import { writeFileSync } from 'node:fs';
import { chart } from './data-path/chart.ts';
import { facts, load } from './data-path/facts.ts';
import { Lab } from './data-path/lab.ts';
import { readOptions } from './data-path/options.ts';
import { PARTS } from './data-path/parts/parts.ts';
import { type Sample, summarise } from './data-path/sample.ts';
import { LEGEND, tables } from './data-path/table.ts';

const options = readOptions(process.argv.slice(2));
const before = await facts(options);
const samples: Sample[] = [];
{
  await using lab = await Lab.open(options);
  for (const name of options.only) samples.push(...(await PARTS[name](lab)));
}
const told = [...before, `load average after it: ${load()}`];
const lines = summarise(samples);
if (options.json !== undefined) {
  const variants = Object.fromEntries(options.variants);
  writeFileSync(
    options.json,
    `${JSON.stringify({ facts: told, options: { ...options, variants }, lines, samples }, null, 2)}\n`,
  );
}
if (options.chart !== undefined) writeFileSync(options.chart, chart(lines));
console.log(`${tables(lines)}\n\n${LEGEND}\n\n${told.map((fact) => `- ${fact}`).join('\n')}`);
