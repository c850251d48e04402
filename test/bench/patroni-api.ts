// `npm run bench:patroni-api`: the cost of a probe for a member. Real Patroni gets probes as Pointsman sends them (a
// fresh socket each). Its processor time per answer gives the load of many proxies.
import { readFile } from 'node:fs/promises';
import { send } from '../../src/patroni/http.ts';
import { commandLine, processTree } from '../support/patroni/process-tree.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { median } from '../support/values/median.ts';
import { readNumbers } from './numbers.ts';

const { rounds: ROUNDS, seconds: SECONDS, idle: IDLE_S } = readNumbers({ rounds: 5, seconds: 1.5, idle: 4 });
const ROUND_MS = SECONDS * 1000;
const IDLE_MS = IDLE_S * 1000;
/** Patroni's API answers from five threads. */
const AT_ONCE = 5;
const PROXIES = [10, 100, 1000];
const INTERVALS_MS = [1000, 2000, 5000];
/** Pointsman's interval: each proxy reads /cluster of one member so often. */
const DISCOVERY_MS = 10_000;
/** The tick of /proc/PID/stat on every Linux. */
const MS_PER_TICK = 10;

async function cpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

async function patroniOf(name: string): Promise<number> {
  for (const { pid } of await processTree(process.pid)) {
    const line = await commandLine(pid);
    if (line.includes(`/${name}/`) && line.includes('patroni') && !line.includes('supervise')) return pid;
  }
  throw new Error(`no Patroni of ${name}`);
}

interface Cost {
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly msEach: number;
}

/** Counts answers in one round with `atOnce` requests in flight; Patroni's idle processor time is subtracted. */
async function round(pid: number, url: string, path: string, atOnce: number, idlePerMs: number): Promise<Cost> {
  const { hostname: host, port } = new URL(url);
  const api = { url, address: { host, port: Number(port) } };
  const [startedAt, before] = [performance.now(), await cpuMs(pid)];
  let answers = 0;
  const keepAsking = async (): Promise<void> => {
    while (performance.now() - startedAt < ROUND_MS) {
      const result = await send({ api, path, deadlineMs: 5000 });
      if (result.kind !== 'answered' || result.status !== 200) throw new Error(`${path}: ${JSON.stringify(result)}`);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, keepAsking));
  const tookMs = performance.now() - startedAt;
  const usedMs = (await cpuMs(pid)) - before - idlePerMs * tookMs;
  return {
    cpuMs: usedMs / answers,
    perSecond: (answers * 1000) / tookMs,
    msEach: (tookMs * atOnce) / answers,
  };
}

async function idle(pid: number): Promise<number> {
  const [startedAt, before] = [performance.now(), await cpuMs(pid)];
  await new Promise((resolve) => {
    setTimeout(resolve, IDLE_MS);
  });
  return ((await cpuMs(pid)) - before) / (performance.now() - startedAt);
}

const cluster = await startPatroniCluster({ members: 2 });
try {
  const leader = await cluster.leader();
  const replica = cluster.members().find(({ name }) => name !== leader.name) ?? leader;
  const questions = [
    { who: leader, path: '/primary' },
    { who: replica, path: '/replica?lag=16MB' },
    { who: leader, path: '/cluster' },
  ];
  const costs = new Map<string, number>();
  console.log('| question | CPU of Patroni each, ms (least-most) | one after another, ms | at most per second |');
  console.log('|---|---|---|---|');
  for (const { who, path } of questions) {
    const pid = await patroniOf(who.name);
    const idlePerMs = await idle(pid);
    const [alone, together]: [Cost[], Cost[]] = [[], []];
    for (let i = 0; i < ROUNDS; i += 1) {
      alone.push(await round(pid, who.api, path, 1, idlePerMs));
      together.push(await round(pid, who.api, path, AT_ONCE, idlePerMs));
    }
    const cpu = alone.map((cost) => cost.cpuMs).toSorted((a, b) => a - b);
    costs.set(path, median(cpu));
    const range = `${cpu[0]?.toFixed(1)}-${cpu.at(-1)?.toFixed(1)}`;
    const msEach = median(alone.map((cost) => cost.msEach)).toFixed(1);
    const perSecond = Math.round(median(together.map((cost) => cost.perSecond)));
    console.log(`| ${path} | ${median(cpu).toFixed(1)} (${range}) | ${msEach} | ${perSecond} |`);
  }
  const [probe = 0, , document = 0] = questions.map(({ path }) => costs.get(path));
  console.log('\nShare of one core that a primary of three members gives to them:\n');
  console.log(`| proxies | ${INTERVALS_MS.map((ms) => `probe.interval ${ms / 1000}s`).join(' | ')} |`);
  console.log(`|---|${INTERVALS_MS.map(() => '---').join('|')}|`);
  for (const proxies of PROXIES) {
    const cells = INTERVALS_MS.map((ms) => proxies * (probe / ms + document / DISCOVERY_MS / 3) * 100);
    console.log(`| ${proxies} | ${cells.map((share) => `${share.toFixed(1)} %`).join(' | ')} |`);
  }
} finally {
  await cluster.destroy();
}
