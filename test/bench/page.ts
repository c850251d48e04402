// `npm run bench:page`: the cost of readers of the status page. One Pointsman with idle sessions relays the same
// exchanges in turn without readers and with `--readers`; the figures are its processor time for each exchange, its
// throughput, and the processor time of the page alone.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { median } from '../support/values/median.ts';
import { familyOf, processorUs } from './data-path/processes.ts';
import { BenchClient } from './follower/client.ts';
import { EXCHANGES } from './follower/exchange.ts';
import { readNumbers } from './numbers.ts';
import { startMembers } from './probing/cluster.ts';

const CLIENTS = 16;
const {
  sessions: IDLE_SESSIONS,
  rounds: ROUNDS,
  seconds: SECONDS,
  idle: IDLE_S,
  readers: READERS,
} = readNumbers({ sessions: 5000, rounds: 10, seconds: 3, idle: 10, readers: 10 });
const WINDOW_MS = SECONDS * 1000;
const IDLE_MS = IDLE_S * 1000;
const OPENED_AT_ONCE = 50;
const SETTLE_MS = 1000;

interface Figure {
  readonly cpuUs: number;
  readonly perSecond: number;
}

function start(name: string, ...args: readonly string[]): ChildProcess {
  return fork(new URL(`${name}.ts`, import.meta.url), args);
}

async function told(child: ChildProcess): Promise<number> {
  const [value] = await once(child, 'message');
  return Number(value);
}

async function startProxy(apis: readonly { name: string; url: string }[], backend: number): Promise<PointsmanProcess> {
  const members = apis.map(({ name, url }, index) => ({
    name,
    api: url,
    // One server on several addresses of loopback.
    postgres: `127.0.0.${index + 1}:${backend}`,
  }));
  return startPointsman({
    cluster: { discovery: 'static', members },
    listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    client: { max_sessions: IDLE_SESSIONS + CLIENTS },
    admin: { address: '127.0.0.1:0' },
    log: { level: 'info', format: 'json' },
  });
}

async function openIdle(port: number): Promise<readonly BenchClient[]> {
  const opened: BenchClient[] = [];
  while (opened.length < IDLE_SESSIONS) {
    const count = Math.min(OPENED_AT_ONCE, IDLE_SESSIONS - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: count }, () => BenchClient.open(port, 'readable')))));
  }
  return opened;
}

/** As many exchanges as fit into the window. */
async function measure(pids: readonly number[], clients: readonly BenchClient[]): Promise<Figure> {
  const [exchange] = EXCHANGES;
  if (exchange === undefined) throw new Error('there is no exchange');
  let done = 0;
  const before = processorUs(pids);
  const startedAt = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - startedAt < WINDOW_MS) {
        await client.ask(exchange, 20);
        done += 20;
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return { cpuUs: (processorUs(pids) - before) / done, perSecond: done / seconds };
}

/** Milliseconds of processor time in a second without traffic. */
async function idle(pids: readonly number[]): Promise<number> {
  const [before, startedAt] = [processorUs(pids), performance.now()];
  await delay(IDLE_MS);
  return (processorUs(pids) - before) / (performance.now() - startedAt);
}

/** Their process is the same in every round: its start would be beside the measurement. */
async function withReaders<T>(readers: ChildProcess, count: number, run: () => Promise<T>): Promise<T> {
  const isDone = told(readers);
  readers.send(count);
  await isDone;
  await delay(SETTLE_MS);
  return run();
}

function row(name: string, ...cells: readonly string[]): string {
  return `| ${[name, ...cells].join(' | ')} |`;
}

function compared(name: string, without: readonly number[], beside: readonly number[], digits: number): string {
  const ratios = beside.map((value, round) => value / (without[round] ?? Number.NaN)).toSorted((a, b) => a - b);
  const range = `${ratios[0]?.toFixed(2)}-${ratios.at(-1)?.toFixed(2)}`;
  return row(
    name,
    median(without).toFixed(digits),
    median(beside).toFixed(digits),
    `${median(ratios).toFixed(3)} (${range})`,
  );
}

await using cluster = await startMembers(3);
const backend = start('follower/backend');
const proxy = await startProxy(
  cluster.members.map(({ name, api }) => ({ name, url: api.url })),
  await told(backend),
);
await proxy.waitUntilReady();
const [pids, port, admin] = [familyOf(proxy.pid), await proxy.port('write'), await proxy.port('admin')];
const sessions = await openIdle(port);
const clients = await Promise.all(Array.from({ length: CLIENTS }, () => BenchClient.open(port, 'readable')));
const readers = start('page/readers', String(admin));
const [without, beside]: [Figure[], Figure[]] = [[], []];
for (let round = 0; round <= ROUNDS; round += 1) {
  const order = round % 2 === 0 ? [0, READERS] : [READERS, 0];
  for (const count of order) {
    const figure = await withReaders(readers, count, () => measure(pids, clients));
    // The first round warms up.
    if (round > 0) (count === 0 ? without : beside).push(figure);
  }
}
const idleWithout = await withReaders(readers, 0, () => idle(pids));
const idleBeside = await withReaders(readers, READERS, () => idle(pids));
console.log(`${IDLE_SESSIONS} idle sessions, ${CLIENTS} busy ones, ${READERS} readers, ${ROUNDS} rounds`);
console.log(row('', 'without readers', `with ${READERS}`, 'ratio, median of rounds (least-most)'));
console.log(row('---', '---', '---', '---'));
const cpu = ({ cpuUs }: Figure): number => cpuUs;
const rate = ({ perSecond }: Figure): number => perSecond;
console.log(compared('processor time for an exchange, µs', without.map(cpu), beside.map(cpu), 1));
console.log(compared('exchanges per second', without.map(rate), beside.map(rate), 0));
console.log(row('processor time without traffic, ms per s', idleWithout.toFixed(2), idleBeside.toFixed(2), ''));
for (const client of [...sessions, ...clients]) client.close();
await proxy.stop();
for (const child of [backend, readers]) child.disconnect();
