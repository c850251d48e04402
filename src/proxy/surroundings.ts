// What the sessions of one proxy share. Policies are read when they are needed, so that a reload counts for what begins after.
import type { PoolName, PoolPolicy } from '../core/policy.ts';
import type { Admission } from './admission.ts';
import type { Cancels } from './cancel.ts';
import type { Dial } from './dial.ts';
import type { Holding } from './holding.ts';
import type { OpenLanes } from './lane.ts';
import type { ProxyPolicy, ProxySeams } from './options.ts';
import type { Picker } from './picker.ts';
import type { Registry } from './registry.ts';
import type { SessionAges } from './session-ages.ts';
import type { Spares } from './spares.ts';
import type { KeptBytes } from './startup.ts';
import type { Stalls } from './stalls.ts';
import type { TlsIdentity } from './tls-identity.ts';

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
