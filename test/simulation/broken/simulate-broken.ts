// `npm run simulate:broken`: takes the load-bearing lines out one by one, and expects that a law breaks within the
// seeds of the normal run. A word takes only the lines whose names have it: `npm run simulate:broken -- timeline`.
import process from 'node:process';
import type { SeedReport } from '../seed-player.ts';
import { SEEDS_OF_CI, simulateSeeds } from '../simulate-seeds.ts';
import { LOAD_BEARING_LINES, type LoadBearingLine } from './lines.ts';

/** The first history that breaks a law. Undefined: none. Rejects when the line cannot be taken out. */
async function brokenBy({ name }: LoadBearingLine): Promise<SeedReport | undefined> {
  const broken: SeedReport[] = [];
  const onReport = (report: SeedReport): boolean => {
    if (report.broken.length > 0) broken.push(report);
    return broken.length === 0;
  };
  await simulateSeeds({ from: 1, count: SEEDS_OF_CI, onReport, without: name });
  if (broken[0]?.hasEndedProcess) throw new Error(`without ${name}: seed ${broken[0].seed}: ${broken[0].broken[0]}`);
  return broken[0];
}

const [word = ''] = process.argv.slice(2);
const wanted = LOAD_BEARING_LINES.filter(({ name }) => name.includes(word));
if (wanted.length === 0) {
  const names = LOAD_BEARING_LINES.map(({ name }) => `  ${name}\n`).join('');
  process.stderr.write(`no line has '${word}' in its name:\n${names}`);
  process.exit(2);
}
let unnoticed = 0;
for (const line of wanted) {
  const broken = await brokenBy(line);
  if (broken === undefined) unnoticed += 1;
  const verdict = broken === undefined ? 'UNNOTICED' : 'noticed  ';
  const law = broken === undefined ? '' : `: seed ${broken.seed}: ${broken.broken[0]}`;
  console.log(`${verdict} without ${line.name} (${line.guarantee})${law}`);
}
console.log(`${wanted.length} lines, ${unnoticed} unnoticed`);
process.exitCode = unnoticed > 0 ? 1 : 0;
