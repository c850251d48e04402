// A session that may move, for the mover.
import type { Shown } from '../../core/caught-up.ts';
import type { EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';

/** A session, for what the mover says of it before it is parked. */
export interface Asked {
  readonly id: number;
  readonly pool: PoolName;
  /** Undefined: it is parked. */
  member(): MemberName | undefined;
  /** Of its server. */
  address(): Address | undefined;
}

/** A parked session, for the order in which they move. */
export interface Traveller {
  readonly pool: PoolName;
  /** Its login role. */
  readonly role: string;
  /** Its client has sent something since it was parked. */
  isWaiting(): boolean;
  /** Its turn has come, while it is parked. */
  travel(): void;
}

/** From the park to the end of the move. */
export interface Journey extends Traveller {
  /** Of the session. */
  readonly id: number;
  readonly from: MemberName;
  readonly cause: EvictionCause;
  /** Its next server must have that too. Undefined: the loss of its server decides. */
  readonly shown: Shown | undefined;
  readonly parkedAt: Instant;
}
