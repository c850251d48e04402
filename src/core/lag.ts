// A replica's lag as we measure it ourselves: the primary's position minus what the replica has replayed, both from bodies.
// The API's own answer compares with a position up to loop_wait old (Patroni 3.x), or stands still on a replica that is
// cut off; ours moves with the primary. Bytes.
import type { MemberRecord, Position, Snapshot } from './snapshot.ts';

/** Positions of the primary as last known: of the member that told its own on the highest timeline. Newest first. */
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
 * Lag at each of the replica's last `count` positions, newest first. Compared with the primary's position of the same
 * moment or before: a later one would count as lag what the primary wrote between the two questions.
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
