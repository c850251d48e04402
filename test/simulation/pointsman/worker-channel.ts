// A worker of a simulated Pointsman: the real one, in this process, behind a channel that copies and delays messages.
import type { Machine } from '../../../src/app/machine.ts';
import { verifierOpener } from '../../../src/verifiers/batch.ts';
import type { StartProcess } from '../../../src/workers/fork.ts';
import { Worker } from '../../../src/workers/worker.ts';
import type { Host, World } from '../world/world.ts';

interface WorkerHost {
  readonly world: World;
  readonly host: Host;
  readonly machine: Machine;
}

/** A message waits so long at the most. Milliseconds. */
const LONGEST_MS = 3;

export function startWorker({ world, host, machine }: WorkerHost): StartProcess {
  let started = 0;
  return ({ onMessage, onEnd }) => {
    const pid = (started += 1);
    const random = world.random.fork(`worker ${host.name} ${pid} ${world.now()}`);
    let worker: Worker | undefined;
    let isOver = false;
    let lastArrival = 0;
    /** In order, and each in a turn of its own. */
    const pass = (run: () => void): void => {
      lastArrival = Math.max(lastArrival, world.now() + random.between(0, LONGEST_MS));
      world.schedule(lastArrival - world.now(), () => host.soon(run));
    };
    const end = (why: string): void => {
      if (isOver) return;
      isOver = true;
      pass(() => onEnd(why));
    };
    const parts = {
      clock: host.clock,
      random: random.next,
      usage: () => ({ cpuSeconds: 0, residentBytes: 0 }),
      openVerifiers: verifierOpener(host.clock),
      descriptors: undefined,
      ...machine.network,
    };
    return {
      pid,
      send(message) {
        const copy = structuredClone(message);
        pass(() => {
          if (isOver) return;
          if (copy.kind !== 'begin') return worker?.take(copy);
          worker = new Worker(copy, {
            ...parts,
            send: (reply) => {
              const copy = structuredClone(reply);
              if (!isOver) pass(() => onMessage(copy));
              if (copy.kind === 'closed') end('exited with code 0');
            },
          });
          void worker.listen();
        });
      },
      kill: () => end('killed by SIGKILL'),
    };
  };
}
