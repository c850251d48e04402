// Our own estimate of a replica's lag: the primary's position minus the position that the replica has replayed, both
// from bodies, in bytes. The API compares with a position that is up to loop_wait old (Patroni 3.x), or that stands
// still on an isolated replica. Our estimate moves with the primary.
import type { MemberRecord, Position, Snapshot } from './snapshot.ts';

/** Positions of the member that last reported its own on the highest timeline. Newest first. */
export function primaryPositions(snapshot: Snapshot): readonly Position[] {
  let newest: readonly Position[] = [];
  for (const record of snapshot.members.values()) {
    const own = record.positions.filter(
      ({ kind, timeline }) => kind === 'location' && timeline !== undefined && timeline === snapshot.highestTimeline,
    );
    const [first] = own;
    if (first !== undefined && first.at > (newest[0]?.at ?? -Infinity)) newest = own;
  }
  return newest;
}

/**
 * Lag at each of the replica's last `count` positions, newest first. The reference is the primary's position of the
 * same moment or before: with a later one, what the primary wrote between the two probes would count as lag.
 */
export function recentLags(
  primary: readonly Position[],
  replica: MemberRecord,
  count: number,
): readonly (number | undefined)[] {
  return replica.positions
    .filter((position) => position.kind === 'replayed')
    .slice(0, count)
    .map((position) => {
      const reference = primary.find((candidate) => candidate.at <= position.at);
      return reference === undefined ? undefined : Math.max(0, reference.bytes - position.bytes);
    });
}
