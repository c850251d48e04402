// A script of a session on simulated hosts (test/simulation/world): no socket, no real time, so it takes milliseconds.
import { dialerOf } from '../../../src/proxy/connect/dial.ts';
import { SimulatedNetwork } from '../../simulation/world/network.ts';
import { seededRandom, type Random } from '../../simulation/world/random.ts';
import { createTimeline } from '../../simulation/world/time.ts';
import { startFakeBackend } from '../fakes/fake-backend.ts';
import { watch } from '../sockets/raw-client.ts';
import type { Ground } from './script-ground.ts';

/** Simulated milliseconds, in which whatever a line brings about has come. */
const SETTLED_MS = 4;

/** Sessions that catch up share a probe of the primary for 50 ms. Simulated milliseconds. */
const ENDED_MS = 200;

export function simulatedGround(): Ground {
  const timeline = createTimeline();
  const network = new SimulatedNetwork({ timeline, random: calm(), note: () => {} });
  const [host, clients] = [network.host('pointsman', '10.0.0.100'), network.host('clients', '10.0.0.200')];
  let servers = 0;
  const pass = (ms: number): Promise<void> => timeline.runUntil(timeline.now() + ms);
  return {
    clock: host.clock,
    options: {
      clock: host.clock,
      host: host.address,
      relay: 'streams',
      createServer: (options) => host.createServer(options),
      dial: dialerOf((options) => host.createSocket(options)),
      readSilentConnections: () => Promise.resolve(host.silentConnections()),
    },
    server() {
      const at = network.host(`pg-${(servers += 1)}`, `10.0.0.${servers}`);
      return startFakeBackend('movable', { host: at.address, createServer: (...own) => at.createServer(...own) });
    },
    async connect({ host: address, port }) {
      const client = watch(clients.connect(port, address));
      await pass(SETTLED_MS);
      return client;
    },
    vanish() {
      network.cut(host, clients);
      network.cut(clients, host);
    },
    pass,
    async settle(_what, holds) {
      await pass(SETTLED_MS);
      await holds();
    },
    async end(lab, backends) {
      const ended = Promise.all([lab.end(), ...backends.map((backend) => backend.stop())]);
      await pass(ENDED_MS);
      if (host.timerCount() > 0) throw new Error(`${host.timerCount()} timers are left`);
      await ended;
    },
  };
}

/** Each packet takes the least time, and carries as much as it can. */
function calm(): Random {
  return {
    ...seededRandom(1),
    between: (from) => from,
    chance: () => false,
    pick: (items) => {
      const item = items.at(-1);
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
    fork: calm,
  };
}
