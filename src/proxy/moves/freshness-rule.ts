// The rule for the next server of a session: it must have all that the session's old server has shown to it.
import type { CatchUp, SeenPosition } from '../../core/caught-up.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { WalReport } from '../../model/moves.ts';
import type { CompareWal } from './catching-up.ts';

export interface FreshnessRule {
  /** To be called synchronously with the member's answer. A text says why no other server can be compared with it. */
  shown(member: MemberName, wal: WalReport | undefined, address?: Address): SeenPosition | string;
  /** The reason why no server can be proven to have as much any more. Undefined: one may be. */
  lost(shown: SeenPosition): string | undefined;
  /** By the answers to probes: good enough to choose the member for the login. */
  seemsCaughtUp(shown: SeenPosition, member: MemberName): boolean;
  /** For the login at the member. */
  bind(shown: SeenPosition, member: MemberName): FreshnessCheck;
}

/**
 * `catch_up`: the server is waited for before the session is restored. `succeed`: the server has it or not, so it is
 * asked with the restore. `wal`: the server's words; undefined: not understood.
 */
export type FreshnessCheck =
  | { readonly kind: 'catch_up'; readonly compare: CompareWal }
  | { readonly kind: 'succeed'; readonly compare: (wal: WalReport | undefined) => CatchUp };
