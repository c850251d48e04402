// The inputs of a session: its client, and the parts of the proxy that it uses.
import type { Socket } from 'node:net';
import type { Address } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { Admission } from './accept/admission.ts';
import type { BranchConnector } from './branch/branch-connector.ts';
import type { Cancels } from './cancel/cancel.ts';
import type { BackendConnector } from './connect/connect-backend.ts';
import type { ConnectAttempts } from './connect/connect-attempts.ts';
import type { HoldQueue } from './connect/hold-queue.ts';
import type { ParkedBackend } from './connect/parked-backends.ts';
import type { MaxAge } from './ending/max-age.ts';
import type { LoadedMover } from './moves/load-mover.ts';
import type { ProxyDependencies, ProxyPolicy } from './options.ts';
import type { RelayServices } from './relay/relayed-session.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { SharedNames } from './startup/client-names.ts';
import type { ClientStartup, StartupHandler } from './startup/client-startup.ts';

export interface AcceptedClient {
  readonly policy: PoolPolicy;
  readonly listener: Address;
  readonly client: Socket;
}

/** Needed until the relay begins, and released then. */
export interface Connecting {
  readonly startup: ClientStartup;
  readonly attempts: ConnectAttempts;
  /** Set from a declined encryption until the client's startup message has its backend. */
  parked: ParkedBackend | undefined;
}

/** Policies are read when they are needed: a reload applies to the next use. */
export interface SessionDependencies extends Pick<ProxyDependencies, 'clock' | 'onEvent' | 'table' | 'decideIfDue'> {
  readonly policy: () => ProxyPolicy;
  /** As it is now; as it was last if a reload removed it. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  /** The process is about to end: no more backend connections. */
  readonly isStopping: () => boolean;
  readonly admission: Admission;
  readonly registry: SessionRegistry;
  readonly names: SharedNames;
  readonly newStartup: (client: Socket, handler: StartupHandler) => ClientStartup;
  readonly holdQueue: HoldQueue;
  readonly connector: BackendConnector;
  readonly branches: BranchConnector;
  readonly relaying: RelayServices;
  readonly maxAge: MaxAge;
  readonly mover: LoadedMover;
  readonly cancels: Cancels;
}
