// The WAL positions that primaries reported, for the proof that a session lost nothing (coverage.ts). Much further back
// than the snapshot has them, and fewer of the older ones: a session that was idle for an hour needs one from then. A
// missing sample can only make a proof fail. Pure.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { ServerRun, TimelineEnds, WalSample } from './coverage.ts';
import type { Position, Snapshot } from './snapshot.ts';

/** Newest first. */
export type WalSamples = ReadonlyMap<MemberName, readonly WalSample[]>;

/** For the proof that a session lost nothing. */
export interface WalEvidence {
  readonly samples: WalSamples;
  readonly ends: TimelineEnds | undefined;
}

/** Older samples are dropped. Milliseconds. */
const KEPT_MS = 3_600_000;
/** Two samples next to each other are closer than this part of the older one's age, so there are few of them. */
const SPACING = 1 / 4;

/** The same object when the snapshot has nothing new. */
export function withSnapshot(known: WalSamples, { members }: Snapshot): WalSamples {
  let next: Map<MemberName, readonly WalSample[]> | undefined;
  for (const [name, { positions }] of members) {
    const before = known.get(name) ?? [];
    const sample = sampleOf(positions[0]);
    if (sample === undefined || sample.at <= (before[0]?.at ?? -Infinity)) continue;
    next ??= new Map(known);
    next.set(name, thinned([sample, ...before]));
  }
  const isGone = (name: MemberName): boolean => !members.has(name);
  if (![...known.keys()].some(isGone)) return next ?? known;
  return new Map([...(next ?? known)].filter(([name]) => !isGone(name)));
}

function sampleOf(position: Position | undefined): WalSample | undefined {
  if (position?.kind !== 'location') return undefined;
  const { at, bytes, timeline, startedAt } = position;
  if (timeline === undefined || startedAt === undefined) return undefined;
  return { at, bytes, run: { timeline, startedAt } };
}

function thinned(samples: readonly WalSample[]): readonly WalSample[] {
  const newestAt = samples[0]?.at ?? 0;
  const kept: WalSample[] = [];
  for (const [index, sample] of samples.entries()) {
    const newer = kept.at(-1);
    const older = samples[index + 1];
    if (newestAt - sample.at > KEPT_MS) break;
    if (newer !== undefined && older !== undefined && isSpare(newer, sample, older, newestAt)) continue;
    kept.push(sample);
  }
  return kept;
}

/** Its neighbours are close enough, and of the same run. */
function isSpare(newer: WalSample, sample: WalSample, older: WalSample, newestAt: Instant): boolean {
  return (
    newer.at - older.at <= (newestAt - older.at) * SPACING &&
    isSame(newer.run, sample.run) &&
    isSame(older.run, sample.run)
  );
}

function isSame(a: ServerRun, b: ServerRun): boolean {
  return a.timeline === b.timeline && a.startedAt === b.startedAt;
}
