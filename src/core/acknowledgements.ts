// Causal reads of scope `proxy`: whether a write to a database may have been acknowledged through this process. Nothing
// is parsed: any byte that a client got from a server that is no known replica may be an acknowledgement.
import type { AskedServer, PrimaryWord } from '../model/causal-reads.ts';
import { isSameAddress } from '../model/member.ts';
import { followed } from './caught-up.ts';
import { isServer, type PrimaryServer } from './read-index.ts';
import type { Snapshot } from './snapshot.ts';

/** The bytes that clients have got from one server. They are counted before a client can read them. */
export interface ForwardedBytes {
  /** Undefined: they may be of any server. */
  readonly server: AskedServer | undefined;
  /** Only grows. */
  readonly toClientBytes: number;
}

/** The bytes that were counted when acknowledgements were last looked for. */
export type CountedBytes = ReadonlyMap<ForwardedBytes, number>;

/** `proven`: by `primaryServer`, at this moment. */
export function mayHaveAcknowledged(
  counted: CountedBytes,
  forwarded: readonly ForwardedBytes[],
  snapshot: Snapshot,
  proven: PrimaryServer | undefined,
): boolean {
  return forwarded.some(
    (source) => source.toClientBytes !== (counted.get(source) ?? 0) && !isReplica(source.server, snapshot, proven),
  );
}

/**
 * The bytes of known replicas are left out: if their server turns out to be no replica, all of them count. So a replica
 * that was promoted is noticed, whatever it sent before.
 */
export function countBytes(
  forwarded: readonly ForwardedBytes[],
  snapshot: Snapshot,
  proven: PrimaryServer | undefined,
): CountedBytes {
  const counting = forwarded.filter(({ server }) => !isReplica(server, snapshot, proven));
  return new Map(counting.map((source) => [source, source.toClientBytes]));
}

/**
 * A word that was kept since an earlier question still tells what a replica must show. `last`: the primary's newest
 * word, on a connection that has not ended since. Where a restart has lost WAL, `word` may name a position that nobody
 * reaches.
 */
export function isStillReached(word: PrimaryWord, last: PrimaryWord | undefined): boolean {
  return last !== undefined && last.written >= word.written;
}

function isReplica(server: AskedServer | undefined, snapshot: Snapshot, proven: PrimaryServer | undefined): boolean {
  if (server === undefined || proven === undefined || isServer(server, proven)) return false;
  const record = snapshot.members.get(server.member);
  const isMember = isSameAddress(record?.member.postgres, server.address);
  return isMember && record?.status?.role === 'replica' && followed(record) === proven.timeline;
}
