// `npm run bench:latency`: what the clients of a pool wait for their replies while one of its three replicas is ten
// times as slow: with `balance: least_sessions`, with `balance: latency`, and with the two healthy replicas alone.
// Sessions come and go, and each asks some queries. The three take turns.
import { setTimeout as delay } from 'node:timers/promises';
import { startTimedServer, ANSWER, type TimedServer } from '../support/fakes/timed-server.ts';
import { startPointsman, type PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { aMessage } from '../support/sockets/messages.ts';
import { BenchClient } from './follower/client.ts';
import { readNumbers } from './numbers.ts';
import { startMembers } from './probing/cluster.ts';

const {
  rounds: ROUNDS,
  seconds: SECONDS,
  clients: CLIENTS,
  queries: QUERIES,
  reply: REPLY_MS,
  slower: SLOWER,
} = readNumbers({ rounds: 3, seconds: 10, clients: 32, queries: 10, reply: 40, slower: 10 });
/** Until the estimates are there, and what a process does for the first time is done. */
const WARM_UP_MS = 2_000;
/** The part of its replies that is longer than the p99. */
const LONGEST = 0.01;
const EXCHANGE = { name: 'query', query: aMessage('Q', Buffer.from('select 1\0')), reply: ANSWER };

interface Setting {
  readonly name: string;
  readonly balance: 'least_sessions' | 'latency';
  /** The slow one is the last. */
  readonly servers: readonly TimedServer[];
}

interface Played {
  /** Milliseconds, in order. */
  readonly times: readonly number[];
  /** The part of the sessions that went to the slow replica. */
  readonly onSlow: number;
}

const waits = [REPLY_MS, REPLY_MS, REPLY_MS * SLOWER].map((ms) => () => delay(ms));
const servers = await Promise.all(waits.map((wait) => startTimedServer(wait)));
await using cluster = await startMembers(1 + servers.length);
const settings: readonly Setting[] = [
  { name: 'healthy ones alone', balance: 'least_sessions', servers: servers.slice(0, -1) },
  { name: 'least_sessions', balance: 'least_sessions', servers },
  { name: 'latency', balance: 'latency', servers },
];

try {
  const played = new Map<Setting, Played[]>(settings.map((setting) => [setting, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const setting of settings) played.get(setting)?.push(await play(setting));
  }
  const heads = ['', 'p50, ms', 'p99, ms', 'over the healthy ones', 'queries', 'sessions on the slow replica'];
  console.log(
    `${ROUNDS} rounds of ${SECONDS} s, ${CLIENTS} clients, ${QUERIES} queries a session, replies ${REPLY_MS} ms\n\n` +
      `| ${heads.join(' | ')} |\n|${heads.map(() => '---').join('|')}|`,
  );
  let healthyMs: number | undefined;
  for (const [{ name }, all] of played) {
    const times = all.flatMap((one) => one.times).toSorted((a, b) => a - b);
    const p99 = times[Math.floor(times.length * (1 - LONGEST))] ?? 0;
    const p50 = times[Math.floor(times.length / 2)] ?? 0;
    healthyMs ??= p99;
    const onSlow = all.reduce((sum, one) => sum + one.onSlow, 0) / all.length;
    const [ratio, part] = [(p99 / healthyMs).toFixed(2), `${(100 * onSlow).toFixed(1)} %`];
    console.log(`| ${[name, p50.toFixed(1), p99.toFixed(1), ratio, times.length, part].join(' | ')} |`);
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

async function play(setting: Setting): Promise<Played> {
  const pointsman = await start(setting);
  try {
    await pointsman.waitUntilReady();
    const port = await pointsman.port('read');
    await ask(port, WARM_UP_MS);
    const before = setting.servers.map(({ logins }) => logins);
    const times = await ask(port, SECONDS * 1000);
    const logins = setting.servers.map((server, index) => server.logins - (before[index] ?? 0));
    const all = logins.reduce((sum, count) => sum + count, 0);
    return { times, onSlow: setting.servers.length < servers.length ? 0 : (logins.at(-1) ?? 0) / all };
  } finally {
    await pointsman.stop();
  }
}

/** The primary has the first name, and no server: nobody asks for it. */
function start({ balance, servers: used }: Setting): Promise<PointsmanProcess> {
  const members = cluster.members.slice(0, used.length + 1).map(({ name, api }, index) => ({
    name,
    api: api.url,
    postgres: `127.0.0.1:${index === 0 ? 1 : used[index - 1]?.address.port}`,
  }));
  return startPointsman({
    cluster: { discovery: 'static', members },
    listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    pools: { read: { balance } },
    admin: { address: '127.0.0.1:0' },
    log: { level: 'info', format: 'json' },
  });
}

/** All clients together; returns the time of each query. */
async function ask(port: number, forMs: number): Promise<readonly number[]> {
  const times: number[] = [];
  const until = performance.now() + forMs;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (performance.now() < until) {
      const client = await BenchClient.open(port, 'readable');
      for (let asked = 0; asked < QUERIES && performance.now() < until; asked += 1) {
        const startedAt = performance.now();
        await client.ask(EXCHANGE, 1);
        times.push(performance.now() - startedAt);
      }
      client.close();
    }
  });
  await Promise.all(clients);
  return times;
}
