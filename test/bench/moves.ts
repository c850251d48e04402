// `npm run bench:moves`: planned switchovers of one real cluster, and what idle sessions and a full load see of them
// through each way to the primary.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { patroniAvailability } from '../support/patroni/availability.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { CREATE_LEDGER, repeatingDrivers } from '../support/moves/retrying-clients.ts';
import { prepareDatabase } from '../support/moves/prepared-database.ts';
import { facts } from './failover/facts.ts';
import { startPeers } from './moves/peers.ts';
import { pgbouncerVersion } from './moves/pgbouncer.ts';
import { playSwitchover, type PeerFigures } from './moves/scene.ts';
import { LEGEND, table } from './moves/table.ts';

const USAGE = `npm run bench:moves -- [options]
  --rounds N    (5)   switchovers
  --idle N      (50)  idle sessions of each peer
  --clients N   (4)   clients of pgbench, for each peer and protocol
  --drivers L   (all) of the clients that repeat transactions: psycopg2, asyncpg, node-postgres, postgres-js, pgjdbc
  --json FILE         every round's figures`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    idle: { type: 'string', default: '50' },
    clients: { type: 'string', default: '4' },
    drivers: { type: 'string' },
    json: { type: 'string' },
  },
});

function positive(option: 'rounds' | 'idle' | 'clients'): number {
  const value = Number(values[option]);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${option}: '${values[option]}' is not a whole number above 0\n${USAGE}`);
}

const [rounds, idle, clients] = [positive('rounds'), positive('idle'), positive('clients')];
const drivers = values.drivers === undefined ? undefined : new Set(values.drivers.split(','));
const unknown = [...(drivers ?? [])].filter((one) => !repeatingDrivers().some(({ name }) => name === one));
if (unknown.length > 0) throw new Error(`--drivers: no driver '${unknown.join("', '")}'\n${USAGE}`);
const patroni = patroniAvailability();
if (!patroni.available) throw new Error(`Patroni, etcd or PostgreSQL is missing: ${patroni.howToInstall}`);
const told = [...(await facts()), await pgbouncerVersion()];
const directory = mkdtempSync(join(tmpdir(), 'pointsman-moves-'));
const cluster = await startPatroniCluster({ parameters: { max_connections: 800 } });
try {
  await prepareDatabase(cluster);
  await cluster.sql((await cluster.leader()).name, CREATE_LEDGER, { as: cluster.app });
  const peers = await startPeers(cluster, patroni.installation, directory);
  try {
    const played: (readonly PeerFigures[])[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      console.error(`${new Date().toISOString().slice(11, 19)}  switchover ${round} of ${rounds}`);
      played.push(await playSwitchover(cluster, peers, { round, idle, clients, drivers, directory }));
    }
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ told, played }, undefined, 2)}\n`);
    console.log(`${table(played)}\n\n${LEGEND}\n\n${told.map((fact) => `- ${fact}`).join('\n')}`);
  } finally {
    await Promise.all(peers.all.map((peer) => peer.stop()));
  }
} finally {
  await cluster.destroy();
  rmSync(directory, { recursive: true, force: true });
}
