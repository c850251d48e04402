// G11 with several processes: clients and servers leave abruptly while the primary changes, and the workers keep
// nothing of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { Dice, RudeClients, RudeServers } from '../../support/labs/chaos.ts';
import { openDescriptors } from '../../support/processes/descriptors.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { WorkersLab } from '../../support/labs/workers-lab.ts';

// A storm has thousands of steps.
vi.setConfig({ testTimeout: 120_000 });

const SEEDS = 60;
const ACTS = 60;

let lab: WorkersLab;

afterEach(() => lab.stop());

async function sessions(): Promise<number> {
  const { workers } = await lab.status();
  return workers.reduce((sum, worker) => sum + worker.sessions, 0);
}

/** Makes the other member the primary. */
function changeRoles(dice: Dice, round: number): void {
  const { primary, replica } = lab.cluster;
  const [next, last] = dice.isLucky(0.5) ? [primary, replica] : [replica, primary];
  next.api.set({ role: 'primary', hasLock: true, timeline: round });
  last.api.set({ role: 'replica', hasLock: false, timeline: round });
}

test.each([
  ['plain text', {}, 5_000],
  ['TLS of the proxy', { tls: { mode: 'terminate', cert: SERVER.cert, key: SERVER.key } }, 6_000],
] as const)('G11: %s, two workers: after many storms nothing is left', async (_, client, firstSeed) => {
  lab = await WorkersLab.start({
    client: { startup_timeout: '1s', ...client },
    hold: { client_timeout: '1s' },
    log: { level: 'info', format: 'json' },
  });
  const [write, read] = [await lab.at('write'), await lab.at('read')];
  const pids = await lab.pids();
  const before = pids.map(openDescriptors);
  const backends = [lab.cluster.primary.postgres, lab.cluster.replica.postgres];
  for (let seed = firstSeed; seed < firstSeed + SEEDS; seed += 1) {
    const dice = new Dice(seed);
    const clients = new RudeClients({ dice, at: (pool) => (pool === 'write' ? write : read), isTls: 'tls' in client });
    const servers = new RudeServers(dice, backends);
    for (let acts = 0; acts < ACTS; acts += 1) {
      const what = dice.roll();
      if (what < 0.2) clients.connect();
      else if (what < 0.7) clients.act();
      else if (what < 0.99) servers.act();
      else changeRoles(dice, seed);
      // This pause gives the other processes their turn.
      if (dice.isLucky(0.3)) await sleep(1);
    }
    if (dice.isLucky(0.5)) clients.resetAll();
    else servers.resetAll();
    clients.resetAll();
  }
  const accepted = await lab.pointsman.metric('pointsman_listener_accepted_total{pool="write"}');
  expect(accepted).toBeGreaterThan(SEEDS);
  const left = async (): Promise<boolean> => {
    for (const { connections } of backends) for (const { socket } of connections) socket.destroy();
    return (await sessions()) === 0;
  };
  await lab.pointsman.waitFor('every end', left);
  expect(await lab.pids()).toEqual(pids);
  const isAsBefore = (): boolean => JSON.stringify(pids.map(openDescriptors)) === JSON.stringify(before);
  await lab.pointsman.waitFor('no descriptor more than before', isAsBefore).catch(() => undefined);
  expect(pids.map(openDescriptors)).toEqual(before);
});
