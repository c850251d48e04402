// What the sessions of one proxy share. Policies are read when they are needed, so that a reload counts for what begins after.
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { Admission } from './accept/admission.ts';
import type { Cancels } from './cancel/cancel.ts';
import type { BackendConnector } from './connect/connect-backend.ts';
import type { HoldQueue } from './connect/hold-queue.ts';
import type { RelayServices } from './relay/relayed-session.ts';
import type { ProxyPolicy, ProxyDependencies } from './options.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { MaxAge } from './ending/max-age.ts';
import type { ParkedBackends } from './connect/parked-backends.ts';
import type { BufferedBytes } from './startup/startup-reader.ts';
import type { TlsIdentity } from './startup/tls-certificate.ts';

export interface Surroundings {
  readonly seams: ProxyDependencies;
  readonly policy: () => ProxyPolicy;
  /** As it is now; of a pool that a reload took away, as it was. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  readonly registry: SessionRegistry;
  readonly holdQueue: HoldQueue;
  readonly parked: ParkedBackends;
  readonly cancels: Cancels;
  readonly admission: Admission;
  readonly maxAge: MaxAge;
  readonly identity: TlsIdentity;
  readonly kept: BufferedBytes;
  readonly connector: BackendConnector;
  readonly relaying: RelayServices;
  /** No new backend connections: the process is about to end. */
  readonly isStopping: () => boolean;
}
