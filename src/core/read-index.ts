// Causal reads: whether the server of a session certainly shows every commit that was acknowledged before a read
// arrived. Order is known from the numbers of our own questions alone. Everything unknown is no yes.
import type { AskedServer, PrimaryWord, QuestionNumber, ReplicaWord } from '../model/causal-reads.ts';
import type { Instant } from '../model/instant.ts';
import { isSameAddress } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { followed, provenPrimary } from './caught-up.ts';
import type { Snapshot } from './snapshot.ts';

/** The knowledge of the cluster at the moment of the judgement. */
export interface ReadEvidence {
  readonly pools: readonly PoolPolicy[];
  readonly snapshot: Snapshot;
  /** The primary's own yes must be younger. */
  readonly since: Instant;
}

export interface WaitingRead {
  /** The server of its session. */
  readonly server: AskedServer;
  /** The newest question when the session had its connection to this server. */
  readonly connected: QuestionNumber;
  /**
   * The newest question when the last byte of the read arrived. With the scope `proxy`: when the last byte was noticed
   * that may have acknowledged something that it must see.
   */
  readonly arrived: QuestionNumber;
}

/** The newest words of servers whose connection of ours has not ended since. Undefined: there are none. */
export interface ServerWords {
  readonly primary: PrimaryWord | undefined;
  readonly replica: ReplicaWord | undefined;
}

/**
 * `unasked`: the primary was not asked since, or the replica was never asked. `primary_unproven`: no member is known to
 * be the primary. `timeline_unknown`: the replica has not reported the primary's timeline. `behind`: it has not
 * replayed enough, as far as it has said.
 */
export const NOT_YET = ['unasked', 'primary_unproven', 'timeline_unknown', 'behind'] as const;
export type NoYet = (typeof NOT_YET)[number];

export type ReadVerdict = { readonly kind: 'yes' } | { readonly kind: 'no'; readonly why: NoYet };

export interface PrimaryServer extends AskedServer {
  readonly timeline: number;
}

const YES = { kind: 'yes' } as const;
const UNASKED = { kind: 'no', why: 'unasked' } as const;
const UNPROVEN = { kind: 'no', why: 'primary_unproven' } as const;
const TIMELINE_UNKNOWN = { kind: 'no', why: 'timeline_unknown' } as const;
const BEHIND = { kind: 'no', why: 'behind' } as const;

/** The one proven primary, on the highest timeline: it is to be asked. */
export function primaryServer({ pools, snapshot, since }: ReadEvidence): PrimaryServer | undefined {
  const proven = provenPrimary(pools, snapshot, since);
  if (proven?.record.member.postgres === undefined) return undefined;
  const { name, postgres } = proven.record.member;
  return { member: name, address: postgres, timeline: proven.timeline };
}

/**
 * `proven`: by `primaryServer`, at this moment.
 *
 * A commit is acknowledged when its record is written, so it is before the end of the records that the primary names
 * later. A standby that follows the primary's timeline has the same records, and shows those that it has replayed.
 */
export function judge(
  snapshot: Snapshot,
  proven: PrimaryServer | undefined,
  read: WaitingRead,
  { primary, replica }: ServerWords,
): ReadVerdict {
  if (proven === undefined) return UNPROVEN;
  const isOfPrimary = primary !== undefined && isServer(primary, proven) && primary.timeline === proven.timeline;
  // A primary shows all that it has acknowledged, and a session that it has taken in ends when it is one no more.
  if (isServer(read.server, proven)) return isOfPrimary && primary.question > read.connected ? YES : UNASKED;
  if (!isOfPrimary || primary.question <= read.arrived) return UNASKED;
  const record = snapshot.members.get(read.server.member);
  const isMember = isSameAddress(record?.member.postgres, read.server.address);
  if (!isMember || followed(record) !== proven.timeline) return TIMELINE_UNKNOWN;
  if (replica === undefined || !isServer(replica, read.server) || replica.question <= read.connected) return UNASKED;
  return replica.replayed >= primary.written ? YES : BEHIND;
}

export function isServer(one: AskedServer, other: AskedServer): boolean {
  return one.member === other.member && isSameAddress(one.address, other.address);
}
