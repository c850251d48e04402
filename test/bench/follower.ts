// `npm run bench:follower`: the cost of following the protocol. One proxy process relays the same exchanges for
// readable and for opaque sessions in turn; the figure is its processor time per round trip.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { BenchClient } from './follower/client.ts';
import type { Kind } from './follower/client.ts';
import { EXCHANGES } from './follower/exchange.ts';
import type { Exchange } from './follower/exchange.ts';
import { readNumbers } from './numbers.ts';
import { median } from '../support/values/median.ts';

const CONNECTIONS = [1, 8, 64];
/** So many replies per measurement are enough for the resolution of the processor clock. */
const { rounds: ROUNDS, megabytes: MEGABYTES } = readNumbers({ rounds: 15, megabytes: 64 });
const BYTES = MEGABYTES * 1024 * 1024;
const MOST_ROUND_TRIPS = 6000;

function start(name: string, ...args: readonly string[]): ChildProcess {
  return fork(new URL(`follower/${name}.ts`, import.meta.url), args);
}

async function told(child: ChildProcess): Promise<number> {
  const [value] = await once(child, 'message');
  return Number(value);
}

async function cpuOf(proxy: ChildProcess): Promise<number> {
  const answer = told(proxy);
  proxy.send('cpu');
  return answer;
}

/** Microseconds of the proxy's processor time per round trip. */
async function measure(proxy: ChildProcess, clients: readonly BenchClient[], exchange: Exchange): Promise<number> {
  const times = Math.ceil(Math.min(MOST_ROUND_TRIPS, BYTES / exchange.reply.length) / clients.length);
  const before = await cpuOf(proxy);
  await Promise.all(clients.map((client) => client.ask(exchange, times)));
  return ((await cpuOf(proxy)) - before) / (times * clients.length);
}

async function compare(proxy: ChildProcess, port: number, exchange: Exchange, connections: number): Promise<string> {
  const open = (kind: Kind) => Promise.all(Array.from({ length: connections }, () => BenchClient.open(port, kind)));
  const [readable, opaque] = [await open('readable'), await open('opaque')];
  const figures: { readonly readable: number; readonly opaque: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const isReadableFirst = round % 2 === 0;
    const first = await measure(proxy, isReadableFirst ? readable : opaque, exchange);
    const second = await measure(proxy, isReadableFirst ? opaque : readable, exchange);
    // The first round warms up.
    if (round === 0) continue;
    figures.push(isReadableFirst ? { readable: first, opaque: second } : { readable: second, opaque: first });
  }
  for (const client of [...readable, ...opaque]) client.close();
  const ratios = figures.map((figure) => figure.readable / figure.opaque).toSorted((a, b) => a - b);
  const cells = [
    exchange.name,
    String(connections),
    median(figures.map((figure) => figure.readable)).toFixed(1),
    median(figures.map((figure) => figure.opaque)).toFixed(1),
    `${median(ratios).toFixed(3)} (${ratios[0]?.toFixed(3)}-${ratios.at(-1)?.toFixed(3)})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

const backend = start('backend');
const backendPort = await told(backend);
const proxy = start('proxy', String(backendPort));
const port = await told(proxy);
console.log('| exchange | connections | readable, µs per round trip | opaque | ratio, median of rounds (least-most) |');
console.log('|---|---|---|---|---|');
for (const exchange of EXCHANGES) {
  for (const connections of CONNECTIONS) console.log(await compare(proxy, port, exchange, connections));
}
for (const child of [proxy, backend]) child.disconnect();
