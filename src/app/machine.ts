// The machine that routing runs on: its wall clock, its chance, its network and its processes.
import type { Transport } from '../patroni/transport.ts';
import type { ProxyDependencies } from '../proxy/options.ts';
import type { StartProcess } from '../workers/fork.ts';

export interface Machine {
  /** Epoch milliseconds. */
  readonly wallClock: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Absent: the network of this machine. */
  readonly network?: MachineNetwork;
  /** Starts a worker. Absent: as a process of this machine. */
  readonly startProcess?: StartProcess;
}

interface MachineNetwork extends Required<Pick<ProxyDependencies, 'dial' | 'createServer' | 'readSilentConnections'>> {
  readonly transport: Transport;
}

export const THIS_MACHINE: Machine = { wallClock: () => Date.now(), random: () => Math.random() };
