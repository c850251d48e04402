// observe(snapshot, observation) -> the next snapshot. Pure. The only place where evidence is taken in; what follows from it
// is decided elsewhere. A probe older than the newest one applied is discarded.
import type { Check } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import { isSameAddress, isSameServer } from '../model/member.ts';
import type { Member, MemberName } from '../model/member.ts';
import type {
  LeaderObservation,
  MembersObservation,
  Observation,
  ProbeObservation,
  ProbeOutcome,
} from '../model/observation.ts';
import { nextWord } from './self-report.ts';
import type { OwnWord } from './self-report.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import { withAgreement } from './refused-primary.ts';
import { shown } from '../model/printable.ts';
import { isDead, newRecord, POSITIONS_KEPT } from './snapshot.ts';
import type { CheckRecord, MemberRecord, Position, Snapshot } from './snapshot.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { nextUnasked } from './unasked.ts';
import { judge, ruleOut } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export function observe(policy: RoutingPolicy, snapshot: Snapshot, observation: Observation): Snapshot {
  // By what was known before, so that the order of news of one instant does not matter.
  const agreed = withAgreement(policy.probe, snapshot, observation.startedAt);
  return withCompleteness(policy, apply(policy, agreed, observation));
}

function apply(policy: RoutingPolicy, snapshot: Snapshot, observation: Observation): Snapshot {
  switch (observation.kind) {
    case 'members':
      return observeMembers(policy, snapshot, observation);
    case 'probe':
      return observeProbe(policy, snapshot, observation);
    case 'vouch': {
      const record = snapshot.members.get(observation.member);
      if (record === undefined || observation.startedAt < (record.vouch?.at ?? -Infinity)) return snapshot;
      return replace(snapshot, {
        ...record,
        vouch: { at: observation.startedAt, by: observation.by, takenBack: false },
      });
    }
    case 'landing': {
      const record = snapshot.members.get(observation.member);
      if (record === undefined || record.standbyWord?.isStale === true) return snapshot;
      return replace(snapshot, { ...record, standbyWord: { at: observation.startedAt, isStale: false } });
    }
    case 'leader':
      return observeLeader(policy, snapshot, observation);
  }
}

/** The distinct checks of all pools, in the pools' order. */
export function checksOf(policy: RoutingPolicy): readonly Check[] {
  return [...new Map(policy.pools.map((pool) => [pool.check.text, pool.check])).values()];
}

/**
 * The check to ask a member next in a round begun at `roundAt`; undefined when the round has nothing left to ask. First
 * what is `sought` (checks of exclusive pools that have nobody: a member that takes the leader lock should be
 * seen at once), then what it last said yes to, because that body rules out most others. A sought check is asked once more when
 * the answer to another one says that the promotion has been finished since.
 */
export function nextCheck(
  policy: RoutingPolicy,
  record: MemberRecord,
  roundAt: Instant,
  sought: ReadonlySet<string>,
): Check | undefined {
  if (record.failure !== undefined && record.failure.at >= roundAt) return undefined;
  if (record.mismatch !== undefined && record.mismatch.at >= roundAt) return undefined;
  const askedAt = (check: Check): Instant => record.checks.get(check.text)?.at ?? -Infinity;
  const isOvertaken = (check: Check): boolean =>
    sought.has(check.text) && record.status?.role === 'primary' && askedAt(check) < (record.answeredAt ?? -Infinity);
  const due = checksOf(policy).filter((check) => askedAt(check) < roundAt || isOvertaken(check));
  return (
    due.find((check) => sought.has(check.text)) ??
    due.find((check) => record.checks.get(check.text)?.verdict.kind === 'positive') ??
    due[0]
  );
}

function withCompleteness(policy: RoutingPolicy, snapshot: Snapshot): Snapshot {
  if (snapshot.complete || snapshot.members.size === 0) return snapshot;
  const checks = checksOf(policy);
  const isAsked = (record: MemberRecord): boolean =>
    record.failure !== undefined ||
    record.mismatch !== undefined ||
    checks.every((check) => record.checks.has(check.text));
  return [...snapshot.members.values()].every(isAsked) ? { ...snapshot, complete: true } : snapshot;
}

function replace(snapshot: Snapshot, record: MemberRecord): Snapshot {
  const members = new Map(snapshot.members);
  members.set(record.member.name, record);
  return { ...snapshot, members };
}

/** A member that the list omits stays while it answers: /cluster forgets a member whose store is out of reach. */
function observeMembers(policy: RoutingPolicy, snapshot: Snapshot, observation: MembersObservation): Snapshot {
  const members = new Map<MemberName, MemberRecord>();
  for (const member of observation.members) {
    const known = snapshot.members.get(member.name);
    members.set(member.name, known === undefined ? newRecord(member) : asListed(known, member));
  }
  for (const [name, record] of snapshot.members) {
    const answered = (record.answeredAt ?? -Infinity) + policy.probe.silenceGraceMs > observation.startedAt;
    if (!members.has(name) && answered) members.set(name, record);
  }
  const { switchover: said = snapshot.switchover } = observation;
  const switchover = said === 'none' ? undefined : said;
  const { refused = snapshot.refused } = observation;
  return { ...snapshot, members, switchover, refused, scope: snapshot.scope ?? observation.scope };
}

/** A member's own document is no witness for itself, and one of nobody we know is no witness at all. */
function observeLeader(
  policy: RoutingPolicy,
  snapshot: Snapshot,
  { leader, by, startedAt }: LeaderObservation,
): Snapshot {
  const known = snapshot.namedLeader;
  if (by === leader || !snapshot.members.has(by) || startedAt < (known?.at ?? -Infinity)) return snapshot;
  if (leader === undefined) return { ...snapshot, namedLeader: undefined };
  const isSame = known?.leader === leader && startedAt < known.at + policy.probe.silenceGraceMs;
  return { ...snapshot, namedLeader: { leader, since: isSame ? known.since : startedAt, at: startedAt } };
}

/** Evidence belongs to addresses. Where only the API moved, the silence before its first answer counts from the last old one. */
function asListed(known: MemberRecord, member: Member): MemberRecord {
  if (isSameServer(known.member, member)) return { ...known, member };
  const isSamePostgres = isSameAddress(known.member.postgres, member.postgres);
  const { hasShownIdentity } = known;
  return { ...newRecord(member), hasShownIdentity, answeredAt: isSamePostgres ? known.answeredAt : undefined };
}

function observeProbe(policy: RoutingPolicy, snapshot: Snapshot, observation: ProbeObservation): Snapshot {
  const { startedAt, outcome } = observation;
  const record = snapshot.members.get(observation.member);
  if (record === undefined || startedAt < (record.probedAt ?? -Infinity)) return snapshot;
  if (outcome.kind !== 'answered') {
    const before = record.failure ?? { since: startedAt, outcome, silentProbes: 0 };
    // A fault of ours taught nothing, so what is known of a silent member stays: whether its PostgreSQL accepts, above all.
    const isOurs = outcome.kind === 'failed' && outcome.cause === 'local';
    const silentProbes = isSilent(outcome) ? before.silentProbes + 1 : 0;
    const failure = { ...before, at: startedAt, ...(isOurs ? {} : { outcome, silentProbes }) };
    const unasked = nextUnasked(record.unasked, outcome, startedAt);
    const failed = { ...record, probedAt: startedAt, failure, unasked };
    return replace(
      snapshot,
      isDead(failed) && !isOurs
        ? { ...failed, checks: refused(policy, record, startedAt), standbyWord: undefined }
        : failed,
    );
  }
  const heard = { ...record, word: wordOf(policy, snapshot, record, observation) };
  const detail = mismatchOf(snapshot, record, outcome.body);
  if (detail !== undefined) {
    const mismatch = { at: startedAt, detail };
    const nothing = { failure: undefined, unasked: undefined, vouch: undefined, standbyWord: undefined };
    return replace(snapshot, { ...heard, ...nothing, probedAt: startedAt, mismatch });
  }
  return takeAnswer(policy, snapshot, heard, observation, outcome);
}

/** An answer under another name, or for another scope, is not this member's. */
function wordOf(
  policy: RoutingPolicy,
  snapshot: Snapshot,
  record: MemberRecord,
  { check: text, startedAt: at, outcome }: ProbeObservation,
): OwnWord | undefined {
  const check = checksOf(policy).find((candidate) => candidate.text === text);
  if (check === undefined || outcome.kind !== 'answered' || outcome.body === undefined) return record.word;
  const { status, body } = outcome;
  if (differs(snapshot.scope, body.scope) || differs(record.member.name, body.name)) return record.word;
  return nextWord(record.word, { check, status, body, at }, policy.probe.readMaxAgeMs);
}

/** Nothing came back from either port: no word and no refusal, as when the host or the way to it is gone. */
function isSilent(outcome: ProbeOutcome): boolean {
  if (outcome.kind !== 'failed' || outcome.postgres !== 'silent') return false;
  return outcome.cause === 'timeout' || outcome.cause === 'unreachable';
}

/** Both ports refused: a no to every check, so that only a newer answer brings the member back, never a milder silence. */
function refused(policy: RoutingPolicy, record: MemberRecord, at: Instant): ReadonlyMap<string, CheckRecord> {
  const verdict: Verdict = { kind: 'negative', why: { code: 'refused' } };
  const checks = checksOf(policy).map(({ text }) => text);
  return new Map(checks.map((text) => [text, nextCheckRecord(policy, record.checks.get(text), { verdict, at })]));
}

function differs(pinned: string | undefined, said: string | undefined): boolean {
  return pinned !== undefined && said !== undefined && pinned !== said;
}

function mismatchOf(snapshot: Snapshot, record: MemberRecord, body: MemberStatus | undefined): string | undefined {
  if (differs(snapshot.scope, body?.scope))
    return `scope ${shown(body?.scope ?? '')}, not ${shown(snapshot.scope ?? '')}`;
  if (differs(record.member.name, body?.name)) return `it is member ${shown(body?.name ?? '')}`;
  if (differs(snapshot.systemIdentifier, body?.systemIdentifier)) {
    return `system identifier ${shown(body?.systemIdentifier ?? '')}, not ${shown(snapshot.systemIdentifier ?? '')}`;
  }
  if (record.hasShownIdentity && body !== undefined && !showsIdentity(body)) return 'it no longer says who it is';
  return undefined;
}

function showsIdentity({ scope, name, systemIdentifier }: MemberStatus): boolean {
  return scope !== undefined || name !== undefined || systemIdentifier !== undefined;
}

function takeAnswer(
  policy: RoutingPolicy,
  snapshot: Snapshot,
  record: MemberRecord,
  observation: ProbeObservation,
  answer: { readonly status: 200 | 503; readonly body: MemberStatus | undefined },
): Snapshot {
  const { startedAt } = observation;
  const { body } = answer;
  const checks = new Map(record.checks);
  const to = { to: observation.check, status: answer.status };
  const judged = { at: startedAt, answer: to, timeline: body?.timeline };
  let isProven = false;
  for (const check of checksOf(policy)) {
    const isAsked = check.text === observation.check;
    const known = checks.get(check.text);
    // A promotion under way shows the role of a replica everywhere: only the check itself can end it.
    if (!isAsked && known?.verdict.why.code === 'promoting') continue;
    const verdict = isAsked ? judge(check, answer.status, body) : body && ruleOut(check, body);
    if (verdict === undefined) continue;
    // Of one instant, a no outweighs a yes: a member comes back only by a probe started after it was negative.
    if (verdict.kind === 'positive' && known?.at === startedAt && known.verdict.kind !== 'positive') continue;
    checks.set(check.text, nextCheckRecord(policy, known, { ...judged, verdict }));
    isProven ||= verdict.kind === 'positive' && check.family === 'primary';
  }
  const next: MemberRecord = {
    ...record,
    checks,
    status: body ?? record.status,
    answeredAt: startedAt,
    probedAt: startedAt,
    unasked: undefined,
    positions: body === undefined ? record.positions : nextPositions(record.positions, body, startedAt),
    failure: undefined,
    mismatch: undefined,
    vouch: undefined,
    standbyWord: nextStandbyWord(policy, record, checks, body),
    hasShownIdentity: record.hasShownIdentity || (body !== undefined && showsIdentity(body)),
  };
  const known = body?.clusterUnlocked === true ? takeBackVouches(snapshot, observation) : snapshot;
  return {
    ...replace(known, next),
    ...(isProven ? highestWith(snapshot, observation.member, body?.timeline) : {}),
    scope: snapshot.scope ?? body?.scope,
    systemIdentifier: snapshot.systemIdentifier ?? body?.systemIdentifier,
  };
}

/**
 * Only a yes that was asked for after the word, from a member that calls itself the primary, outweighs what its server
 * says.
 */
function nextStandbyWord(
  policy: RoutingPolicy,
  { standbyWord: word, checks: before }: MemberRecord,
  after: ReadonlyMap<string, CheckRecord>,
  body: MemberStatus | undefined,
): MemberRecord['standbyWord'] {
  if (word === undefined) return undefined;
  const { at, isStale } = word;
  const primaryChecks = checksOf(policy).filter(({ family }) => family === 'primary');
  const answers = primaryChecks.map(({ text }) => ({ now: after.get(text), last: before.get(text) }));
  const stands = answers.every(
    ({ now, last }) => now?.verdict.kind === 'positive' && now.positiveTimeline === last?.positiveTimeline,
  );
  if (!stands) return undefined;
  const isProven = body?.role === 'primary' && answers.every(({ now }) => now !== undefined && now.at > at);
  return isStale || !isProven ? word : { at, isStale: true };
}

type Highest = Pick<Snapshot, 'highestTimeline' | 'highestTimelineBy'>;

function highestWith(snapshot: Snapshot, member: MemberName, timeline: number | undefined): Highest {
  const { highestTimeline, highestTimelineBy } = snapshot;
  const highest = highestTimeline ?? 0;
  if (timeline === undefined || timeline < highest) return { highestTimeline, highestTimelineBy };
  const others = timeline === highest ? highestTimelineBy.filter((name) => name !== member) : [];
  return { highestTimeline: timeline, highestTimelineBy: [...others, member].toSorted() };
}

interface Judged extends Pick<CheckRecord, 'verdict' | 'at'>, Partial<Pick<CheckRecord, 'answer'>> {
  readonly timeline?: number | undefined;
}

/**
 * The lock's end comes before the next primary's promotion: who is vouched for gets nobody new from here on. Only the word of who
 * vouched counts, because a member that has lost the store says the same.
 */
function takeBackVouches(snapshot: Snapshot, { member, startedAt }: ProbeObservation): Snapshot {
  const members = new Map(snapshot.members);
  for (const [name, record] of members) {
    const { vouch } = record;
    if (vouch === undefined || vouch.by !== member || startedAt <= vouch.at) continue;
    members.set(name, { ...record, vouch: { ...vouch, takenBack: true } });
  }
  return { ...snapshot, members };
}

function nextCheckRecord(
  policy: RoutingPolicy,
  previous: CheckRecord | undefined,
  { verdict, at, answer, timeline }: Judged,
): CheckRecord {
  const isPositive = verdict.kind === 'positive';
  const wasPositive = previous?.verdict.kind === 'positive';
  const streak = previous !== undefined && isPositive === wasPositive ? previous.streak + 1 : 1;
  const needed = isPositive ? policy.probe.rise : fallsAtOnce(verdict) ? 1 : policy.probe.fall;
  const up = streak >= needed ? isPositive : (previous?.up ?? false);
  if (!isPositive) {
    const kept = previous ?? { positiveAt: undefined, positiveSince: undefined, positiveTimeline: undefined };
    return { ...kept, verdict, at, answer, streak, up };
  }
  const isUnbroken =
    wasPositive &&
    previous.positiveTimeline === timeline &&
    at < (previous.positiveAt ?? -Infinity) + policy.probe.writeMaxAgeMs;
  const positiveSince = isUnbroken ? (previous.positiveSince ?? at) : at;
  return { verdict, at, answer, streak, up, positiveAt: at, positiveSince, positiveTimeline: timeline };
}

/** A change of role, a server that stopped or is gone and an operator's tag are facts, not flicker. */
function fallsAtOnce(verdict: Verdict): boolean {
  const { code } = verdict.why;
  return code === 'wrong_role' || code === 'not_running' || code === 'tagged_out' || code === 'refused';
}

function nextPositions(positions: readonly Position[], body: MemberStatus, at: Instant): readonly Position[] {
  // A replica may report `location` as well. Only a primary's own is a reference for lag.
  const isPrimary = body.role === 'primary' || (body.role === undefined && body.replayed === undefined);
  const position: Position | undefined =
    isPrimary && typeof body.location === 'number'
      ? { at, kind: 'location', bytes: body.location, timeline: body.timeline }
      : typeof body.replayed === 'number'
        ? { at, kind: 'replayed', bytes: body.replayed }
        : undefined;
  return position === undefined ? positions : [position, ...positions].slice(0, POSITIONS_KEPT);
}
