// The parts of a proxy that its sessions use.
import type { Socket } from 'node:net';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { Admission } from './accept/admission.ts';
import type { BranchConnector } from './branch/branch-connector.ts';
import type { Cancels } from './cancel/cancel.ts';
import type { BackendConnector } from './connect/connect-backend.ts';
import type { HoldQueue } from './connect/hold-queue.ts';
import type { LoadedMover } from './moves/load-mover.ts';
import type { ProxyDependencies, ProxyPolicy } from './options.ts';
import type { RelayServices } from './relay/relay-services.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { SharedNames } from './client-names.ts';
import type { ClientStartup, StartupOutcome } from './startup/client-startup.ts';

/** Policies are read when they are needed: a reload applies to the next use. */
export interface ProxyParts extends Pick<ProxyDependencies, 'clock' | 'onEvent' | 'table' | 'decideIfDue'> {
  readonly policy: () => ProxyPolicy;
  /** As it is now; as it was last if a reload removed it. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  /** The process is about to end: no more backend connections. */
  readonly isStopping: () => boolean;
  readonly admission: Admission;
  readonly registry: SessionRegistry;
  readonly names: SharedNames;
  readonly newStartup: (client: Socket, outcome: StartupOutcome) => ClientStartup;
  readonly holdQueue: HoldQueue;
  readonly connector: BackendConnector;
  readonly branches: BranchConnector;
  readonly relaying: RelayServices;
  readonly mover: LoadedMover;
  readonly cancels: Cancels;
}
