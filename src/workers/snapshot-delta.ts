// The difference between two snapshots. Snapshots share what did not change, so a probe's answer costs one member's
// record on its way to the workers, whatever the size of the cluster. Pure.
import type { MemberName } from '../model/member.ts';
import type { MemberRecord, Snapshot } from '../core/snapshot.ts';

export interface SnapshotDelta {
  /** Without what `observe` alone reads. */
  readonly facts: Omit<Snapshot, 'members' | 'refused' | 'timelineEnds'>;
  /** May be long, and seldom changes. Absent: unchanged. */
  readonly refused?: Snapshot['refused'];
  /** Seldom changes, too. */
  readonly timelineEnds?: Snapshot['timelineEnds'];
  /** All members in their order. Absent: unchanged. */
  readonly names?: readonly MemberName[];
  /** New and changed records. */
  readonly records: ReadonlyMap<MemberName, MemberRecord>;
}

export function deltaBetween(
  previous: Snapshot,
  { members, refused, timelineEnds, ...facts }: Snapshot,
): SnapshotDelta {
  const names = [...members.keys()];
  const before = [...previous.members.keys()];
  const isSameList = names.length === before.length && names.every((name, index) => name === before[index]);
  const records = new Map([...members].filter(([name, record]) => previous.members.get(name) !== record));
  return {
    facts: { ...facts, trail: undefined },
    records,
    ...(isSameList ? {} : { names }),
    ...(refused === previous.refused ? {} : { refused }),
    ...(timelineEnds === previous.timelineEnds ? {} : { timelineEnds }),
  };
}

/** `withDelta(previous, deltaBetween(previous, next))` equals `next`, except for its trail. */
export function withDelta(previous: Snapshot, delta: SnapshotDelta): Snapshot {
  const { facts, names, records, refused } = delta;
  const members = new Map<MemberName, MemberRecord>();
  for (const name of names ?? previous.members.keys()) {
    const record = records.get(name) ?? previous.members.get(name);
    if (record !== undefined) members.set(name, record);
  }
  return {
    ...facts,
    members,
    refused: refused ?? previous.refused,
    timelineEnds: 'timelineEnds' in delta ? delta.timelineEnds : previous.timelineEnds,
  };
}
