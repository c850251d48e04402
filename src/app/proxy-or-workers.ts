// Forwarding by this process or by several workers. The rest of the program sees one proxy in both cases.
import { availableParallelism, platform } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPem } from '../config/files/pem.ts';
import { readKeyPair } from '../config/files/key-pair.ts';
import type { Config } from '../config/config.ts';
import type { LocateBranch } from '../model/branch.ts';
import type { ProxyEvent, WorkerEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { DescriptorBudget, InheritedSocket } from '../proxy/options.ts';
import { createProxy } from '../proxy/proxy.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';
import { openPositions } from '../positions/positions.ts';
import { verifierOpener } from '../verifiers/batch.ts';
import { Supervisor } from '../workers/supervisor.ts';
import { forker } from '../workers/fork.ts';
import type { Machine } from './machine.ts';
import { createLocatePeer } from './peer-addresses.ts';

export interface ProxyOrWorkersOptions {
  readonly config: Config;
  readonly monitor: Monitor;
  readonly locateBranch: LocateBranch;
  /** Listening sockets that this process was started with. */
  readonly inherited: readonly InheritedSocket[] | undefined;
  readonly onEvent: (event: ProxyEvent | WorkerEvent, at?: Instant) => void;
  readonly clock: Clock;
  /** The sessions for which this process has file descriptors. Undefined: enough. */
  readonly descriptors: DescriptorBudget | undefined;
  readonly machine: Machine;
}

/** Other systems can share a port too, but they do not distribute its clients. */
const isLinux = platform() === 'linux';

/** The processes that serve clients. */
export function processCount({ workers }: Config): number {
  return workers === 'auto' ? (isLinux ? availableParallelism() : 1) : workers;
}

export function createProxyOrWorkers({
  config,
  monitor,
  locateBranch,
  inherited,
  onEvent,
  clock,
  descriptors,
  machine: { random, startProcess, network },
}: ProxyOrWorkersOptions): Proxy {
  const size = processCount(config);
  const dependencies = {
    freshen: monitor.freshen.bind(monitor),
    onTrigger: monitor.trigger.bind(monitor),
    onEvent,
    locateBranch,
    readKeyPair,
    readPem,
    clock,
    snapshot: () => monitor.snapshot(),
    random,
  };
  if (size === 1) {
    return createProxy({
      ...config,
      ...dependencies,
      openVerifiers: verifierOpener(clock),
      openPositions,
      locatePeer: createLocatePeer(clock),
      inherited,
      descriptors,
      table: () => monitor.table(),
      decideIfDue: () => monitor.decideIfDue(),
      wal: () => monitor.wal(),
      ...network,
    });
  }
  // The source has a folder for this file, the build has none.
  const program = extname(import.meta.url) === '.ts' ? '../worker-main.ts' : './worker-main.js';
  return new Supervisor({
    ...dependencies,
    policy: config,
    size,
    startProcess: startProcess ?? forker(fileURLToPath(new URL(program, import.meta.url))),
    createServer: network?.createServer,
    problem: whyNoWorkers(inherited),
  });
}

function whyNoWorkers(inherited: readonly InheritedSocket[] = []): string | undefined {
  if (!isLinux) return 'several processes on one port need Linux, whose kernel deals its clients out';
  const [first] = inherited;
  return first && `the socket that was passed as "${first.name}" is for one process alone`;
}
