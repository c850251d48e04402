// The proxy's notices for the monitor, from its connections. They are no events: telemetry/ never gets them.
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';

/** A reason to probe sooner than after a whole interval. */
export type Trigger =
  /** A backend ended its connection first, also right after the startup packet: the server may be stopping. */
  | { readonly kind: 'backend_closed'; readonly member: MemberName }
  /** A write session began on the member, and its server reported that it takes no writes. */
  | { readonly kind: 'landed_on_standby'; readonly member: MemberName; readonly isPooler: boolean }
  /** A later session of the same member: its server has left recovery. */
  | { readonly kind: 'left_recovery'; readonly member: MemberName }
  | { readonly kind: 'dial_failed'; readonly member: MemberName }
  /** Another member, which was tried later, answered first. */
  | { readonly kind: 'connect_slow'; readonly member: MemberName }
  | { readonly kind: 'backend_reset'; readonly member: MemberName }
  | { readonly kind: 'backend_tcp_timeout'; readonly member: MemberName }
  | { readonly kind: 'clients_held'; readonly pool: PoolName };
