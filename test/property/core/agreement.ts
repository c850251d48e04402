// A second opinion on when a refused primary is accepted, written from the prose of guarantees.md over the bare facts.
// The member with the higher timeline (or the old identifier) reports the new one. Every member that answers agrees.
// Another member's document names the leader. All of this has lasted 30 s. Silence is never agreement. This file shares
// nothing with src/core.
import type { Instant } from '../../../src/model/instant.ts';
import type { MemberName } from '../../../src/model/member.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import type { Known } from './oracle.ts';
import { aboutWriting } from './words.ts';

export interface Document {
  readonly at: Instant;
  readonly leader: MemberName | undefined;
}

export interface Picture {
  readonly members: readonly Known[];
  /** Documents of members other than the leader that they name, in order. */
  readonly documents: readonly Document[];
  readonly top: number | undefined;
  readonly topBy: readonly MemberName[];
  readonly system: string | undefined;
}

export interface Agreed {
  readonly name: MemberName;
  readonly kind: 'timeline' | 'identity';
  readonly timeline: number | undefined;
  readonly system: string | undefined;
}

interface Saying {
  readonly at: Instant;
  readonly system: string | undefined;
  readonly timeline: number | undefined;
  readonly isPrimary: boolean;
}

const NO_PRIMARY = ['replica', 'standby_leader', 'demoted', 'uninitialized'];

/** The reports of a member under its own name and scope, oldest first. */
function sayingsOf({ name, facts }: Known): readonly Saying[] {
  const said: Saying[] = [];
  for (const { probe, at } of facts) {
    if (probe?.outcome.kind !== 'answered' || probe.outcome.body === undefined) continue;
    const { body } = probe.outcome;
    if ((body.scope ?? 'lab') !== 'lab' || (body.name ?? name) !== name) continue;
    const isPrimary = probe.check === '/primary' ? aboutWriting(probe) === 'yes' : said.at(-1)?.isPrimary === true;
    const isExcluded = NO_PRIMARY.includes(body.role ?? '');
    const { systemIdentifier: system, timeline } = body;
    said.push({ at, system, timeline, isPrimary: isPrimary && !isExcluded });
  }
  return said;
}

/** The start of the unbroken run of equal reports that ends with the newest one; a gap of 10 s breaks the run. */
function lastingSince(said: readonly Saying[]): Instant {
  let since = Infinity;
  const newest = said.at(-1);
  for (const saying of said.toReversed()) {
    const isSame = (['system', 'timeline', 'isPrimary'] as const).every((fact) => saying[fact] === newest?.[fact]);
    if (!isSame || since - saying.at >= 10_000) {
      if (since !== Infinity) break;
    }
    since = saying.at;
  }
  return since;
}

function namedSince(documents: readonly Document[], leader: MemberName, now: Instant): Instant {
  if (documents.at(-1)?.leader !== leader || now - (documents.at(-1)?.at ?? 0) >= 15_000) return Infinity;
  let since = Infinity;
  for (const document of documents.toReversed()) {
    if (document.leader !== leader || (since !== Infinity && since - document.at >= 15_000)) break;
    since = document.at;
  }
  return since;
}

/** The members that were refused so far and are accepted at `now`. */
export function agreedOn(picture: Picture, now: Instant): Agreed | undefined {
  const { members, top } = picture;
  const primaries = members.flatMap((member) => {
    const said = sayingsOf(member);
    const newest = said.at(-1);
    const contact = member.facts.findLast(({ kind }) => kind !== 'vouch');
    const answer = member.facts.findLast(({ kind }) => kind === 'answer' || kind === 'stranger');
    if (newest === undefined || !newest.isPrimary || now - newest.at >= 10_000 || contact?.kind === 'dead') return [];
    if (answer?.kind === 'stranger' && answer.at !== newest.at) return [];
    const isBelow = top !== undefined && newest.timeline !== undefined && newest.timeline < top;
    const kind: Agreed['kind'] | 'believed' =
      answer?.kind === 'stranger' ? 'identity' : isBelow ? 'timeline' : 'believed';
    return [{ name: member.name, kind, newest, since: lastingSince(said) }];
  });
  if (primaries.some(({ kind }) => kind === 'believed')) return undefined;
  for (const { name, kind, newest, since } of primaries) {
    if (kind === 'believed') continue;
    const agreed: Agreed = { name, kind, timeline: newest.timeline, system: newest.system };
    const instants = [since, namedSince(picture.documents, name, now), ...othersSince(picture, agreed, now)];
    const isKnown = kind === 'timeline' || newest.system !== undefined;
    if (isKnown && instants.every((at) => now - at >= 30_000)) return agreed;
  }
  return undefined;
}

/**
 * The instant from which each other member agrees; Infinity means that it does not agree. A member that was silent for
 * long is left out, unless it is a witness.
 */
function othersSince(picture: Picture, agreed: Agreed, now: Instant): readonly Instant[] {
  const { members, topBy, system } = picture;
  const showed = members.filter(({ facts }) => {
    const answer = facts.findLast(({ kind, probe }) => kind === 'answer' && bodyOf(probe) !== undefined);
    return system !== undefined && bodyOf(answer?.probe)?.systemIdentifier === system;
  });
  const witnesses = agreed.kind === 'timeline' || topBy.length > 0 ? topBy : showed.map(({ name }) => name);
  const ofNobody = witnesses.length === 0 ? [Infinity] : [];
  const names = new Set([...witnesses, ...members.map(({ name }) => name)]);
  names.delete(agreed.name);
  const ofOthers = [...names].flatMap((name) => {
    const member = members.find((known) => known.name === name);
    const said = member === undefined ? [] : sayingsOf(member);
    const newest = said.at(-1);
    const isWitness = witnesses.includes(name);
    const ageMs = newest === undefined ? Infinity : now - newest.at;
    if (isWitness && ageMs >= 10_000) return [Infinity];
    if (newest === undefined) return [];
    if (saysTheSame(newest, agreed, system)) return [lastingSince(said)];
    return ageMs < 30_000 || isWitness ? [Infinity] : [];
  });
  return [...ofNobody, ...ofOthers];
}

function saysTheSame({ isPrimary, ...said }: Saying, { kind, ...agreed }: Agreed, old: string | undefined): boolean {
  if (isPrimary) return false;
  if (kind === 'identity') return said.system === agreed.system;
  return said.timeline === agreed.timeline && (said.system ?? old) === (old ?? said.system);
}

function bodyOf(probe: Known['facts'][number]['probe']): MemberStatus | undefined {
  return probe?.outcome.kind === 'answered' ? probe.outcome.body : undefined;
}
