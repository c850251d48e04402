// `npm run bench:failover`: one real cluster, four concurrent ways to reach it, one table. Exit code 1: Pointsman
// missed a bar.
import { writeFileSync } from 'node:fs';
import { cancelQueries } from './failover/cancels.ts';
import { facts } from './failover/facts.ts';
import { freezeBriefly, freezeUntilReplaced } from './failover/frozen-manager.ts';
import { Lab } from './failover/lab.ts';
import { type BenchOptions, readOptions } from './failover/options.ts';
import { canIsolate, isIsolated, runIsolated } from './failover/network.ts';
import { fallbackEnds, replicaStopsReplaying, replicaVanishes } from './failover/read-scenes.ts';
import { missedReadBars, READ_LEGEND, readTable, type ReadRounds } from './failover/read-table.ts';
import { missedBars, resultOf, type Rounds } from './failover/results.ts';
import { changeRole, type RoleChange } from './failover/role-change.ts';
import { LEGEND, table } from './failover/table.ts';

/** Patroni's default: a freeze below it may be longer than the tolerance of HAProxy's checks. */
const TTL_OF_FREEZES_S = 30;
const TTL_S = 20;

async function play(lab: Lab, options: BenchOptions): Promise<Rounds> {
  const changes = async (kind: RoleChange, rounds: number, perSecond: number) =>
    repeat(kind, rounds, () => changeRole(lab, kind, perSecond));
  const switchovers = await changes('switchover', options.switchovers, options.perSecond);
  const deaths = await changes('host death', options.deaths, options.perSecondOfDeath);
  const restarts = await changes('restart in place', options.restarts, options.perSecond);
  tell('cancels');
  const cancels = await cancelQueries(lab, options.cancels);
  await lab.cluster.patchConfig({ ttl: TTL_OF_FREEZES_S });
  const freezes = [];
  for (const frozenMs of options.freezesMs) {
    tell(`Patroni frozen for ${frozenMs / 1000} s`);
    freezes.push(await freezeBriefly(lab, frozenMs, options.perSecond));
  }
  await lab.cluster.patchConfig({ ttl: TTL_S });
  const replacements = await repeat('Patroni frozen until replaced', options.replacements, () =>
    freezeUntilReplaced(lab, options.perSecond),
  );
  return { switchovers, deaths, restarts, freezes, replacements, cancels };
}

async function playReads(lab: Lab, options: BenchOptions): Promise<ReadRounds> {
  if (options.silences > 0 && !isIsolated()) tell('no network namespace of its own: no replica vanishes');
  const silences = isIsolated() ? options.silences : 0;
  return {
    silences: await repeat('a replica vanishes', silences, () => replicaVanishes(lab)),
    lags: await repeat('a replica stops replaying', options.lags, () => replicaStopsReplaying(lab)),
    fallbacks: await repeat('a fallback ends', options.fallbacks, () => fallbackEnds(lab)),
  };
}

async function repeat<T>(what: string, rounds: number, once: () => Promise<T>): Promise<readonly T[]> {
  const played: T[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    tell(`${what} ${round} of ${rounds}`);
    played.push(await once());
  }
  return played;
}

function tell(progress: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${progress}`);
}

/** Prints maps as objects. */
function asJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (part instanceof Map ? Object.fromEntries(part) : part), 2);
}

const options = readOptions(process.argv.slice(2));
if (!isIsolated() && canIsolate()) process.exit(await runIsolated());
const told = await facts();
tell('starting the cluster and its peers');
const lab = await Lab.start();
// The children end with their pipe to this process; this handler also removes the files.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void lab.stop().finally(() => process.exit(130)));
}
try {
  const rounds = await play(lab, options);
  const reads = await playReads(lab, options);
  const results = lab.peers.map(({ name }) => resultOf(name, rounds));
  if (options.json !== undefined) {
    const log = lab.peers.flatMap((peer) => peer.log());
    writeFileSync(options.json, `${asJson({ facts: told, options, results, rounds, reads, log })}\n`);
  }
  console.log(`${table(results, options.cancels)}\n\n${LEGEND}\n\n${told.map((fact) => `- ${fact}`).join('\n')}`);
  const names = lab.peers.flatMap(({ name, readPort }) => (readPort === undefined ? [] : [name]));
  const drawn = readTable(names, reads);
  if (drawn !== undefined) console.log(`\n${drawn}\n\n${READ_LEGEND}`);
  const pointsman = results.at(-1);
  const missed =
    pointsman === undefined
      ? ['no result']
      : [...missedBars(pointsman, options.cancels), ...missedReadBars(pointsman.peer, reads)];
  for (const miss of missed) console.error(`Pointsman missed a bar: ${miss}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  await lab.stop();
}
