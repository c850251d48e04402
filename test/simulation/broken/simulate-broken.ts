// `npm run simulate:broken`: takes the load-bearing lines out one by one, and expects that a law breaks within the
// seeds of the normal run. A word takes only the lines whose names have it: `npm run simulate:broken -- timeline`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { LOAD_BEARING_LINES, type LoadBearingLine } from './lines.ts';

/** As many as the normal run has. */
const SEEDS = 80;
const PRELOAD = new URL('preload.ts', import.meta.url).href;
const PROGRAM = new URL('../simulate.ts', import.meta.url).pathname;

/** The first broken law. Undefined: none. Rejects when the line cannot be taken out. */
async function brokenBy({ name }: LoadBearingLine): Promise<string | undefined> {
  const words = ['--import', PRELOAD, PROGRAM, '--seeds', String(SEEDS), '--quick'];
  const env = { ...process.env, POINTSMAN_WITHOUT: name };
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  child.stdout.on('data', (text: Buffer) => output.push(text.toString()));
  child.stderr.on('data', (text: Buffer) => output.push(text.toString()));
  await once(child, 'close');
  const text = output.join('');
  if (!/ seeds, \d+ with a broken law/.test(text)) throw new Error(`${name}: ${text}`);
  return /^seed \d+: .*/m.exec(text)?.[0];
}

const [word = ''] = process.argv.slice(2);
const wanted = LOAD_BEARING_LINES.filter(({ name }) => name.includes(word));
const waiting = [...wanted];
let unnoticed = 0;
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      const broken = await brokenBy(line);
      if (broken === undefined) unnoticed += 1;
      console.log(
        `${broken === undefined ? 'UNNOTICED' : 'noticed  '} without ${line.name} (${line.guarantee}): ${broken ?? ''}`,
      );
    }
  }),
);
console.log(`${wanted.length} lines, ${unnoticed} unnoticed`);
process.exitCode = unnoticed > 0 ? 1 : 0;
