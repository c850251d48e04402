// What the sessions of one proxy share. Policies are read when they are needed, so that a reload counts for what begins after.
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { Admission } from './accept/admission.ts';
import type { Cancels } from './cancel/cancel.ts';
import type { Dial } from './connect/dial.ts';
import type { Holding } from './connect/hold-queue.ts';
import type { OpenLanes } from './relay/stream-pipe.ts';
import type { ProxyPolicy, ProxySeams } from './options.ts';
import type { Picker } from './connect/picker.ts';
import type { Registry } from './session-registry.ts';
import type { SessionAges } from './ending/max-age.ts';
import type { Spares } from './connect/parked-backends.ts';
import type { KeptBytes } from './startup/startup-reader.ts';
import type { Stalls } from './relay/stalls.ts';
import type { TlsIdentity } from './startup/tls-certificate.ts';

export interface Surroundings {
  readonly seams: ProxySeams;
  readonly policy: () => ProxyPolicy;
  /** As it is now; of a pool that a reload took away, as it was. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  readonly registry: Registry;
  readonly holding: Holding;
  readonly spares: Spares;
  readonly cancels: Cancels;
  readonly admission: Admission;
  readonly ages: SessionAges;
  readonly identity: TlsIdentity;
  readonly kept: KeptBytes;
  readonly dial: Dial;
  readonly openLanes: OpenLanes;
  readonly stalls: Stalls;
  readonly picker: Picker;
  /** No new backend connections: the process is about to end. */
  readonly isStopping: () => boolean;
}
