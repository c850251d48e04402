// `npm run bench:profile`: the use of processor time and memory in the steady state. Pointsman relays ping-pong of 64
// sessions under a profiler. The profiles are for Chrome's or VS Code's viewers; the top entries are printed.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Lab } from './data-path/lab.ts';
import { readOptions } from './data-path/options.ts';
import { allocated, ran, type Entry } from './profile/entries.ts';
import { forget, whenWritten } from './profile/written.ts';

const PRELOAD = join(import.meta.dirname, 'profile/preload.ts');
const WARM_S = 3;
const TOP = 20;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'pointsman-profiles' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '64' },
    candidate: { type: 'string', default: resolve(import.meta.dirname, '../..') },
  },
});
const directory = resolve(values.out);
mkdirSync(directory, { recursive: true });
const options = readOptions(['--peers', 'pointsman', '--candidate', values.candidate]);
await using lab = await Lab.open(options, 'files');
const { port, child: backend } = await lab.load.backend();
await using tiny = backend;
for (const kind of ['cpu', 'heap'] as const) {
  const env = { BENCH_PROFILE: kind, BENCH_PROFILE_DIRECTORY: directory };
  const variants = new Map(
    [...options.variants].map(([name, own]) => [name, { ...own, env, nodeFlags: ['--import', PRELOAD] }]),
  );
  await using peers = await lab.peers(port, { variants });
  const [peer] = peers.list;
  if (peer?.pid === undefined) throw new Error('no Pointsman');
  await lab.place('apart', peers.list, [tiny.pid]);
  const load = { port: peer.port, connections: Number(values.connections) };
  await lab.load.measure('ping-pong', { ...load, seconds: WARM_S });
  forget(directory, kind);
  process.kill(peer.pid, 'SIGUSR2');
  const measured = await lab.load.measure('ping-pong', { ...load, seconds: Number(values.seconds) });
  process.kill(peer.pid, 'SIGUSR2');
  const file = await whenWritten(directory, kind);
  const text = readFileSync(file, 'utf8');
  const entries = kind === 'cpu' ? ran(JSON.parse(text)) : allocated(JSON.parse(text));
  console.log(
    `\n${kind === 'cpu' ? 'Processor time' : 'Allocation'}, ${measured.done} round trips: ${file}\n${table(entries)}`,
  );
}

function table(entries: readonly Entry[]): string {
  const sum = entries.reduce((all, { amount }) => all + amount, 0);
  const rows = entries
    .toSorted((a, b) => b.amount - a.amount)
    .slice(0, TOP)
    .map(({ name, place, amount }) => `| ${((100 * amount) / sum).toFixed(1)} % | ${name} | ${place} |`);
  return ['| part | function | where |', '|---|---|---|', ...rows].join('\n');
}
