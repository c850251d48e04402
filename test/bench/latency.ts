// `npm run bench:latency`: what the clients of a pool wait for their replies while one of its three replicas is ten
// times as slow: with `balance: least_sessions`, with `balance: latency`, and with the two healthy replicas alone.
// Sessions come and go, and each asks some queries. The three take turns. With `--real 1` the replicas are PostgreSQL;
// with `--throttled 0.1` one of them has a tenth of a processor, too.
import { startPointsman, type PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { whyNoThrottle } from './data-path/throttle.ts';
import { startFakeReplicas } from './latency/fake-replicas.ts';
import { startRealReplicas } from './latency/real-replicas.ts';
import { readNumbers } from './numbers.ts';

const {
  rounds: ROUNDS,
  seconds: SECONDS,
  // Until the estimates are there, and what a process does for the first time is done.
  warm: WARM_UP_SECONDS,
  clients: CLIENTS,
  queries: QUERIES,
  reply: REPLY_MS,
  slower: SLOWER,
  real: REAL,
  throttled: THROTTLED,
} = readNumbers({
  rounds: 3,
  seconds: 10,
  warm: 2,
  clients: 32,
  queries: 10,
  reply: 40,
  slower: 10,
  real: 0,
  throttled: 0,
});
/** The part of its replies that is longer than the p99. */
const LONGEST = 0.01;

interface Setting {
  readonly name: string;
  readonly balance: 'least_sessions' | 'latency';
  readonly hasSlow: boolean;
}

interface Played {
  /** Milliseconds, in order. */
  readonly times: readonly number[];
  /** The part of the sessions that went to the slow replica. */
  readonly onSlow: number;
}

// A real cluster ends with its pipes to this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const missing = THROTTLED > 0 ? whyNoThrottle() : undefined;
if (missing !== undefined) throw new Error(`--throttled needs ${missing}`);
const delays = { replyMs: REPLY_MS, slower: SLOWER };
await using replicas =
  THROTTLED > 0
    ? await startRealReplicas({ ...delays, coreShare: THROTTLED })
    : await (REAL > 0 ? startRealReplicas : startFakeReplicas)(delays);
const settings: readonly Setting[] = [
  { name: 'healthy ones alone', balance: 'least_sessions', hasSlow: false },
  { name: 'least_sessions', balance: 'least_sessions', hasSlow: true },
  { name: 'latency', balance: 'latency', hasSlow: true },
];

const played = new Map<Setting, Played[]>(settings.map((setting) => [setting, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const setting of settings) played.get(setting)?.push(await play(setting));
}
const heads = ['', 'p50, ms', 'p99, ms', 'over the healthy ones', 'queries', 'sessions on the slow replica'];
console.log(
  `${ROUNDS} rounds of ${SECONDS} s, ${CLIENTS} clients, ${QUERIES} queries a session, ${servers()}\n\n` +
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

function servers(): string {
  if (THROTTLED > 0) return `PostgreSQL, one with ${THROTTLED} of a processor`;
  return `replies ${REPLY_MS} ms, ${REAL > 0 ? 'PostgreSQL' : 'timed servers'}`;
}

async function play(setting: Setting): Promise<Played> {
  const pointsman = await start(setting);
  try {
    await pointsman.waitUntilReady();
    const port = await pointsman.port('read');
    await ask(port, WARM_UP_SECONDS * 1000);
    const before = replicas.sessions();
    const times = await ask(port, SECONDS * 1000);
    const { all, onSlow } = replicas.sessions();
    return { times, onSlow: (onSlow - before.onSlow) / (all - before.all) };
  } finally {
    await pointsman.stop();
  }
}

function start({ balance, hasSlow }: Setting): Promise<PointsmanProcess> {
  return startPointsman({
    cluster: { discovery: 'static', members: hasSlow ? replicas.members : replicas.members.slice(0, -1) },
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
      const client = await replicas.open(port);
      for (let asked = 0; asked < QUERIES && performance.now() < until; asked += 1) {
        const startedAt = performance.now();
        await client.ask();
        times.push(performance.now() - startedAt);
      }
      await client.close();
    }
  });
  await Promise.all(clients);
  return times;
}
