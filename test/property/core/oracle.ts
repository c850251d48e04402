// A second opinion that is simple and slow on purpose. It finds the open members from the whole list of observations
// and the prose of guarantees.md, without a snapshot. It shares only the types with src/core.
import type { Instant } from '../../../src/model/instant.ts';
import type { MemberName } from '../../../src/model/member.ts';
import type { Observation, ProbeObservation } from '../../../src/model/observation.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { READ_CHECK, WRITE_CHECK } from '../../support/values/builders.ts';
import { agreedOn } from './agreement.ts';
import type { Document } from './agreement.ts';
import { ZONE_CHECK } from './histories.ts';
import type { World } from './histories.ts';
import { isAnswered, returnOf, vanishing } from './vanishing.ts';
import { aboutReading, aboutWriting, bodyOf, isPromoting } from './words.ts';
import type { Word } from './words.ts';

/** A relevant event of a member, in order, without events that began before something newer was known. */
interface Fact {
  readonly at: Instant;
  /** `past`: from before another identity, agreed on or shown by a server at its place; it counts for nothing. */
  readonly kind: 'answer' | 'stranger' | 'dead' | 'silent' | 'vouch' | 'past';
  readonly accepts: boolean;
  readonly probe: ProbeObservation | undefined;
  /** For a vouch. True when its giver has reported since that no member holds the leader lock. */
  readonly by?: MemberName;
  readonly isTakenBack?: boolean;
}

export interface Known {
  readonly name: MemberName;
  readonly hasAddress: boolean;
  readonly facts: readonly Fact[];
}

export interface Told {
  readonly members: readonly Known[];
  /** The highest timeline with a yes to /primary, forgotten members included, unless all agreed on a lower one. */
  readonly top: number | undefined;
  readonly complete: boolean;
}

/** Reads the history once, in order, for each member. */
export function tell(history: readonly Observation[]): Told {
  let members: readonly {
    readonly name: string;
    readonly place: string;
    readonly hasAddress: boolean;
    readonly hasShown: boolean;
    readonly facts: readonly Fact[];
  }[] = [];
  let system: string | undefined;
  let top: number | undefined;
  let topBy: readonly MemberName[] = [];
  let documents: readonly Document[] = [];
  let complete = false;
  for (const observation of history) {
    const agreed = agreedOn({ members, documents, top, topBy, system }, observation.startedAt);
    if (agreed?.kind === 'timeline') [top, topBy] = [agreed.timeline, [agreed.name]];
    if (agreed?.kind === 'identity') {
      [system, top, topBy] = [agreed.system, undefined, []];
      members = members.map((member) => ({ ...member, hasShown: false, facts: asPast(member.facts) }));
    }
    if (observation.kind === 'leader') {
      const { leader, by, startedAt: at } = observation;
      const isLate = at < (documents.at(-1)?.at ?? -Infinity);
      if (by !== leader && !isLate && members.some(({ name }) => name === by))
        documents = [...documents, { at, leader }];
    } else if (observation.kind === 'members') {
      const listed = observation.members.map((member) => {
        const place = JSON.stringify([member.api.address, member.postgres]);
        const known = members.find(({ name }) => name === member.name);
        const facts = known?.place === place ? known.facts : [];
        const hasShown = known?.hasShown ?? false;
        return { name: member.name, place, hasAddress: member.postgres !== undefined, hasShown, facts };
      });
      const answering = members.filter(
        ({ name, facts }) =>
          !listed.some((member) => member.name === name) &&
          facts.some(({ kind, at }) => (kind === 'answer' || kind === 'past') && at > observation.startedAt - 15_000),
      );
      members = [...listed, ...answering];
    } else if (observation.kind !== 'landing') {
      const index = members.findIndex(({ name }) => name === observation.member);
      const member = members[index];
      if (member === undefined) continue;
      const fact = factOf(observation, member, system);
      const newest = member.facts
        .filter(({ kind }) => (kind === 'vouch') === (fact.kind === 'vouch'))
        // A fault of our own has left the fact as it was, and is newer.
        .map(({ at, probe }) => probe?.startedAt ?? at);
      if (observation.startedAt < Math.max(...newest)) continue;
      const body = bodyOf(fact.probe);
      const hasShown = member.hasShown || (fact.kind === 'answer' && body !== undefined && hasIdentity(body));
      const isOther = fact.kind === 'stranger' && isOtherSystem(body, system);
      const before = isOther ? asForgotten(member.facts) : member.facts;
      members = members.with(index, { ...member, hasShown, facts: [...before, fact] });
      if (fact.kind === 'answer' && fact.probe !== undefined) {
        if (body?.clusterUnlocked === true) members = members.map((known) => takenBack(known, member.name, fact.at));
        system ??= body?.systemIdentifier;
        const isYes = lastWord([...member.facts, fact])?.word === 'yes' && aboutWriting(fact.probe) === 'yes';
        if (isYes && body?.timeline !== undefined && body.timeline >= (top ?? 0)) {
          topBy = [...(body.timeline === top ? topBy.filter((name) => name !== member.name) : []), member.name];
          top = body.timeline;
        }
      }
    }
    complete ||= members.length > 0 && members.every(({ facts }) => wasAsked(facts));
  }
  return { members, top, complete };
}

function takenBack<T extends { readonly facts: readonly Fact[] }>(known: T, by: MemberName, before: Instant): T {
  const isTakenBack = (fact: Fact): boolean => fact.kind === 'vouch' && fact.by === by && fact.at < before;
  return { ...known, facts: known.facts.map((fact) => (isTakenBack(fact) ? { ...fact, isTakenBack: true } : fact)) };
}

/** The members agreed on another identity: only the last silence still holds. */
function asPast(facts: readonly Fact[]): readonly Fact[] {
  const contacts = facts.filter(({ kind }) => kind !== 'vouch');
  return contacts.map((fact, index): Fact => {
    const isStillSo = index === contacts.length - 1 && (fact.kind === 'dead' || fact.kind === 'silent');
    return isStillSo ? fact : { ...fact, kind: 'past' };
  });
}

/** A server of another system is at its place: the one that gave the answers is not there. */
function asForgotten(facts: readonly Fact[]): readonly Fact[] {
  return facts.flatMap((fact): readonly Fact[] => {
    if (fact.kind === 'answer') return [{ ...fact, kind: 'past' }];
    return fact.kind === 'past' || fact.kind === 'stranger' ? [fact] : [];
  });
}

function hasIdentity({ scope, name, systemIdentifier }: MemberStatus): boolean {
  return [scope, name, systemIdentifier].some((part) => part !== undefined);
}

function isOtherSystem(body: MemberStatus | undefined, system: string | undefined): boolean {
  return (body?.systemIdentifier ?? system) !== (system ?? body?.systemIdentifier);
}

/** The answer is from our cluster: no fact differs, and it carries the identity that this member showed before. */
function isOurs(
  body: MemberStatus | undefined,
  { name, hasShown }: { readonly name: MemberName; readonly hasShown: boolean },
  system: string | undefined,
): boolean {
  if (body === undefined) return true;
  const isOurName = (body.name ?? name) === name && (body.scope ?? 'lab') === 'lab';
  return !isOtherSystem(body, system) && isOurName && (hasIdentity(body) || !hasShown);
}

function factOf(
  observation: Exclude<Observation, { kind: 'members' | 'leader' | 'landing' }>,
  member: Parameters<typeof isOurs>[1] & { readonly facts: readonly Fact[] },
  system: string | undefined,
): Fact {
  const at = observation.startedAt;
  if (observation.kind === 'vouch') return { at, kind: 'vouch', accepts: false, probe: undefined, by: observation.by };
  const { outcome } = observation;
  if (outcome.kind === 'answered') {
    const kind = isOurs(outcome.body, member, system) ? 'answer' : 'stranger';
    return { at, kind, accepts: false, probe: observation };
  }
  const last = member.facts.findLast(({ kind }) => kind !== 'vouch');
  const isOurFault = outcome.kind === 'failed' && outcome.cause === 'local';
  // A local fault reports nothing new about a member that was silent or dead before.
  if (isOurFault && (last?.kind === 'silent' || last?.kind === 'dead')) return { ...last, probe: observation };
  const isDead = outcome.kind === 'refused' && outcome.postgres === 'refused';
  return { at, kind: isDead ? 'dead' : 'silent', accepts: outcome.postgres === 'accepts', probe: observation };
}

/** The member got every check, or is silent or foreign now: a first round may be complete. */
function wasAsked(facts: readonly Fact[]): boolean {
  const contacts = facts.filter(({ kind }) => kind !== 'vouch');
  const last = contacts.at(-1)?.kind;
  if (last === 'past') return false;
  if (last !== 'answer') return last !== undefined;
  if (contacts.some(({ kind }) => kind === 'dead')) return true;
  const probes = contacts.flatMap(({ kind, probe }) => (kind === 'answer' && probe !== undefined ? [probe] : []));
  return (
    probes.some((probe) => aboutWriting(probe) !== undefined) &&
    [READ_CHECK, ZONE_CHECK].every((check) => probes.some((probe) => aboutReading(check, probe) !== undefined))
  );
}

/** The newest definite answer about /primary; at one instant a no outweighs a yes. */
export function lastWord(facts: readonly Fact[]): { readonly word: Word; readonly fact: Fact } | undefined {
  let last: { readonly word: Word; readonly fact: Fact } | undefined;
  for (const fact of facts) {
    if (fact.kind === 'dead') last = { word: 'no', fact };
    if (fact.kind !== 'answer' || fact.probe === undefined) continue;
    const word = aboutWriting(fact.probe);
    // A member in promotion reports "replica" elsewhere. That is no evidence: only the check itself is.
    const before = last?.fact.kind === 'answer' ? last.fact.probe : undefined;
    const isRepeated = fact.probe.check !== WRITE_CHECK && before !== undefined && isPromoting(before);
    const isOutweighed = word === 'yes' && last !== undefined && last.fact.at === fact.at && last.word !== 'yes';
    if (word !== undefined && !isRepeated && !isOutweighed) last = { word, fact };
  }
  return last;
}

interface Claim {
  readonly name: MemberName;
  readonly timeline: number | undefined;
  readonly hasAddress: boolean;
}

/** A member that may claim to be primary: its last answer is a fresh yes or vouched, and no foreign answer followed. */
function claimOf(member: Known, now: Instant, vouching: boolean, withinMs = 5000): Claim | undefined {
  const last = lastWord(member.facts);
  if (last?.word !== 'yes') return undefined;
  const answers = member.facts.filter(({ kind }) => kind === 'answer' || kind === 'stranger');
  if (answers.at(-1)?.kind === 'stranger') return undefined;
  const newestContact = member.facts.findLast(({ kind }) => kind !== 'vouch');
  const lastAnswer = member.facts.findLastIndex(({ kind }) => kind === 'answer' || kind === 'stranger');
  const vouch = member.facts.slice(lastAnswer + 1).findLast(({ kind }) => kind === 'vouch');
  const isVouched = vouching && newestContact?.kind === 'silent' && newestContact.accepts;
  // A vouch that was taken back allows no new sessions; live sessions may stay for the grace.
  const counts = vouch?.isTakenBack !== true || withinMs > 5000;
  const provenAt = [last.fact.at, ...(isVouched && vouch !== undefined && counts ? [vouch.at] : [])];
  if (!provenAt.some((at) => now - at < withinMs)) return undefined;
  return { name: member.name, timeline: bodyOf(last.fact.probe)?.timeline, hasAddress: member.hasAddress };
}

/** True for the newest list from a document: from the lead time before the switchover until 15 s after it. */
function isAboutToHandOver(name: MemberName, { policy, history }: World, seen: number, now: Instant): boolean {
  const said = history
    .slice(0, seen)
    .findLast(({ observation }) => observation.kind === 'members' && observation.switchover !== undefined)?.observation;
  const switchover = said?.kind === 'members' ? said.switchover : undefined;
  if (switchover === undefined || switchover === 'none' || switchover.leader !== name) return false;
  const { beforeSwitchoverMs: before } = policy.hold;
  return before > 0 && now >= switchover.at - before && now < switchover.at + 15_000;
}

/** The members that claim to be primary now, on the highest timeline seen. */
function theRace({ members, top }: Told, vouching: boolean, now: Instant): readonly Claim[] {
  const claims = members.flatMap((member) => claimOf(member, now, vouching) ?? []);
  return claims.filter(({ timeline }) => timeline === undefined || top === undefined || timeline >= top);
}

/** The one member that may take writes now, or none. */
export function whoWrites({ policy, history }: World, seen: number, now: Instant): MemberName | undefined {
  const told = tell(history.slice(0, seen).map(({ observation }) => observation));
  const [only, ...others] = theRace(told, policy.probe.vouching, now);
  if (only !== undefined && isAboutToHandOver(only.name, { policy, history }, seen, now)) return undefined;
  return told.complete && others.length === 0 && only?.hasAddress === true ? only.name : undefined;
}

/** A client that landed there in the last 2 s was told of recovery: no writer may go there, whatever the API says. */
function mayBeInRecovery(name: MemberName, { history }: World, seen: number, now: Instant): boolean {
  return history
    .slice(0, seen)
    .some(
      ({ observation }) =>
        observation.kind === 'landing' &&
        observation.by === 'standby' &&
        observation.member === name &&
        now - observation.startedAt < 2_000,
    );
}

/** The members that may take writes now: the one, or also none while its server may be in recovery. */
export function writersAllowed(world: World, seen: number, now: Instant): readonly (readonly MemberName[])[] {
  const writer = whoWrites(world, seen, now);
  if (writer === undefined) return [[]];
  return mayBeInRecovery(writer, world, seen, now) ? [[writer], []] : [[writer]];
}

/** Why clients of the primary wait, if they do. `settled`: one member is the primary, or about to hand over. */
export function whyWritesWait(
  { policy, history }: World,
  seen: number,
  now: Instant,
): 'starting' | 'two_primaries' | 'no_member' | 'settled' {
  const told = tell(history.slice(0, seen).map(({ observation }) => observation));
  const [only, ...others] = theRace(told, policy.probe.vouching, now);
  if (!told.complete) return 'starting';
  if (others.length > 0) return 'two_primaries';
  return only?.hasAddress === true ? 'settled' : 'no_member';
}

/** A member that is silent for a while, or one of two: it may still be the primary, so it is no replica. */
function mayStillWrite(member: Known, { policy }: World, top: number | undefined, now: Instant): boolean {
  const claim = claimOf(member, now, policy.probe.vouching, 15_000);
  return claim !== undefined && (claim.timeline === undefined || top === undefined || claim.timeline >= top);
}

/** Eligible or not after rise and fall: the newest moment that decided. */
function isUp(check: string, facts: readonly Fact[], rise: number, fall: number): boolean {
  const words: { readonly word: 'yes' | 'no' | 'never'; readonly at: Instant }[] = [];
  for (const fact of facts) {
    const word =
      fact.kind === 'dead'
        ? 'never'
        : fact.kind === 'answer' && fact.probe
          ? aboutReading(check, fact.probe)
          : undefined;
    const previous = words.at(-1);
    const isOutweighed = word === 'yes' && previous !== undefined && previous.at === fact.at && previous.word !== 'yes';
    if (word !== undefined && !isOutweighed) words.push({ word, at: fact.at });
  }
  for (let end = words.length; end > 0; end -= 1) {
    const until = words.slice(0, end).map(({ word }) => word);
    if (until.at(-1) === 'never') return false;
    if (end >= rise && until.slice(-rise).every((word) => word === 'yes')) return true;
    if (end >= fall && until.slice(-fall).every((word) => word !== 'yes')) return false;
  }
  return false;
}

/** Members that a pool of replicas may use by itself; the lag estimate is ignored. */
export function whoReads({ policy, history }: World, check: string, seen: number, now: Instant): readonly MemberName[] {
  const told = tell(history.slice(0, seen).map(({ observation }) => observation));
  if (!told.complete) return [];
  return told.members.flatMap((member) => {
    const { facts, name, hasAddress } = member;
    const answers = facts.filter(({ kind }) => kind === 'answer');
    const backAt = returnOf(
      facts.flatMap(({ probe }) => probe ?? []),
      policy.probe.silentProbes,
    );
    const isStranger = facts.findLast(({ kind }) => kind === 'answer' || kind === 'stranger')?.kind === 'stranger';
    const isDead = facts.findLast(({ kind }) => kind !== 'vouch')?.kind === 'dead';
    const yes = answers.findLast(({ probe }) => probe !== undefined && aboutReading(check, probe) === 'yes');
    const timeline = answers.flatMap(({ probe }) => bodyOf(probe) ?? []).at(-1)?.timeline;
    const isBehind = timeline !== undefined && told.top !== undefined && timeline < told.top;
    const isFresh = yes !== undefined && now - yes.at < 10_000 && yes.at >= backAt;
    const { rise, fall } = policy.probe;
    const isIn = isUp(check, facts, rise, fall) && isFresh && !isBehind && !isStranger && !isDead && hasAddress;
    return isIn && !mayStillWrite(member, { policy, history }, told.top, now) ? [name] : [];
  });
}

/**
 * Readers that have not vanished. A vanished reader is silent at both ports for some probes, and another member of
 * the pool or of its fallback has answered since the last of them began.
 */
export function whoIsThere(
  { policy, history }: World,
  readers: readonly MemberName[],
  fallback: readonly MemberName[],
  seen: number,
): readonly MemberName[] {
  const { silentProbes } = policy.probe;
  const told = tell(history.slice(0, seen).map(({ observation }) => observation));
  const probesOf = (name: MemberName): readonly ProbeObservation[] =>
    told.members
      .filter((member) => member.name === name)
      .flatMap(({ facts }) => facts.flatMap(({ probe }) => probe ?? []));
  const answersSince = (at: number) => (name: MemberName) =>
    probesOf(name).some((probe) => isAnswered(probe) && probe.startedAt >= at);
  if (silentProbes === undefined) return readers;
  return readers.filter((name) => {
    const at = vanishing(probesOf(name), silentProbes)?.startedAt;
    return at === undefined || ![...readers, ...fallback].some(answersSince(at));
  });
}
