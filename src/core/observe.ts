// observe(snapshot, observation) makes the next snapshot: the only place where evidence is taken in. decide-routes.ts
// decides what follows. A probe older than the newest applied one is discarded.
import type { Instant } from '../model/instant.ts';
import { isSameAddress, isSameServer, type Member, type MemberName } from '../model/member.ts';
import type {
  LandingObservation,
  LeaderObservation,
  MembersObservation,
  Observation,
  ProbeObservation,
  ProbeOutcome,
} from '../model/observation.ts';
import { difference, mismatchOf, showsIdentity } from './identity.ts';
import { nextUnreplayedSince } from './replay-standstill.ts';
import { nextSelfReport, type SelfReport } from './self-report.ts';
import { nextMissing, nextTrail } from './staleness.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import { withAgreement } from './refused-primary.ts';
import { checksOf } from './next-check.ts';
import { nextPositions } from './reported-positions.ts';
import { isDead, newRecord, refusesBoth, type ProbeFailure } from './snapshot.ts';
import type { CheckRecord, MemberRecord, Snapshot, StandbyReport } from './snapshot.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { nextUnsentTime } from './unsent-probes.ts';
import { judge, ruleOut, type Verdict } from './verdict.ts';

export function observe(policy: RoutingPolicy, snapshot: Snapshot, observation: Observation): Snapshot {
  // Judged by the older snapshot, so that the order of observations of one instant does not matter.
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
      const report = landed(record?.standbyReport, observation);
      return record === undefined ? snapshot : replace(snapshot, { ...record, standbyReport: report });
    }
    case 'leader':
      return observeLeader(policy, snapshot, observation);
  }
}

function landed(known: StandbyReport | undefined, landing: LandingObservation): StandbyReport | undefined {
  const { by, startedAt: at } = landing;
  if (by === 'primary') return undefined;
  if (by === 'pooler' && known?.isStale === true) return known;
  return { at, since: known?.by === by ? known.since : at, by, isStale: false };
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

/** An omitted member stays while it answers: /cluster forgets a member that cannot reach the configuration store. */
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
  const { switchover: listed = snapshot.switchover } = observation;
  const switchover = listed === 'none' ? undefined : listed;
  const { refused = snapshot.refused } = observation;
  return { ...snapshot, members, switchover, refused, scope: snapshot.scope ?? observation.scope };
}

/** A member's own document proves nothing about itself. A document of an unknown member proves nothing at all. */
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

/** Evidence belongs to addresses. When only the API moved, silence counts from the last answer of the old address. */
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
    const before: Omit<ProbeFailure, 'at'> = record.failure ?? { since: startedAt, outcome, silentProbes: 0 };
    // A local fault shows nothing, so earlier knowledge of a silent member stays, such as whether its PostgreSQL
    // accepts.
    const isOurs = outcome.kind === 'failed' && outcome.cause === 'local';
    const silentProbes = nextSilentProbes(policy, before.silentProbes, outcome);
    const hasVanished = silentProbes >= (policy.probe.silentProbes ?? Infinity);
    const vanishedAt = hasVanished ? (before.vanishedAt ?? startedAt) : undefined;
    const failure = { ...before, at: startedAt, ...(isOurs ? {} : { outcome, silentProbes, vanishedAt }) };
    const unsent = nextUnsentTime(record.unsent, outcome, startedAt);
    const failed = { ...record, probedAt: startedAt, failure, unsent };
    return replace(
      snapshot,
      isDead(failed) && !isOurs
        ? { ...failed, checks: refused(policy, record, startedAt), standbyReport: undefined }
        : failed,
    );
  }
  const returnedAt = record.failure?.vanishedAt === undefined ? record.returnedAt : startedAt;
  const heard = { ...record, returnedAt, selfReport: selfReportOf(policy, snapshot, record, observation) };
  const found = mismatchOf(snapshot, record, outcome.body);
  if (found !== undefined) {
    const mismatch = { at: startedAt, ...found };
    const nothing = { failure: undefined, unsent: undefined, vouch: undefined, standbyReport: undefined };
    // The server that gave the answers before is not there.
    const checks = found.isOtherSystem ? new Map<string, CheckRecord>() : heard.checks;
    return replace(snapshot, { ...heard, ...nothing, checks, probedAt: startedAt, mismatch });
  }
  return takeAnswer(policy, snapshot, heard, observation, outcome);
}

/** An answer with another name or scope does not come from this member. */
function selfReportOf(
  policy: RoutingPolicy,
  snapshot: Snapshot,
  record: MemberRecord,
  { check: text, startedAt: at, outcome }: ProbeObservation,
): SelfReport | undefined {
  const check = checksOf(policy).find((candidate) => candidate.text === text);
  if (check === undefined || outcome.kind !== 'answered' || outcome.body === undefined) return record.selfReport;
  const { status, body } = outcome;
  if (difference(snapshot.scope, body.scope) ?? difference(record.member.name, body.name)) return record.selfReport;
  return nextSelfReport(record.selfReport, { check, status, body, at }, policy.probe.readMaxAgeMs);
}

/** After enough of them the host counts as gone (vanished.ts): only an answer of its API brings it back. */
function nextSilentProbes({ probe }: RoutingPolicy, before: number, outcome: ProbeOutcome): number {
  if (isUnheard(outcome) && outcome.postgres === 'silent') return before + 1;
  // The port was not tried, or this process stood still meanwhile: that tells nothing.
  if (isUnheard(outcome) && outcome.postgres === 'unknown') return before;
  const hasVanished = before >= (probe.silentProbes ?? Infinity);
  return hasVanished && !refusesBoth(outcome) ? before : 0;
}

/** The API neither answered nor refused, as when the host or the network path is gone. */
function isUnheard(outcome: ProbeOutcome): outcome is Extract<ProbeOutcome, { kind: 'failed' }> {
  return outcome.kind === 'failed' && (outcome.cause === 'timeout' || outcome.cause === 'unreachable');
}

/**
 * Both ports refused. That is a no to every check: only a newer answer brings the member back, never a mere timeout.
 */
function refused(policy: RoutingPolicy, record: MemberRecord, at: Instant): ReadonlyMap<string, CheckRecord> {
  const verdict: Verdict = { kind: 'negative', why: { code: 'refused' } };
  const checks = checksOf(policy).map(({ text }) => text);
  return new Map(checks.map((text) => [text, nextCheckRecord(policy, record.checks.get(text), { verdict, at })]));
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
    // During a promotion every body still has the role of a replica: only the check itself can end it.
    if (!isAsked && known?.verdict.why.code === 'promoting') continue;
    const verdict = isAsked ? judge(check, answer.status, body) : body && ruleOut(check, body);
    if (verdict === undefined) continue;
    // At one instant a no outweighs a yes: a member comes back only by a probe that started after it was negative.
    if (verdict.kind === 'positive' && known?.at === startedAt && known.verdict.kind !== 'positive') continue;
    checks.set(check.text, nextCheckRecord(policy, known, { ...judged, verdict }));
    isProven ||= verdict.kind === 'positive' && check.family === 'primary';
  }
  const positions = body === undefined ? record.positions : nextPositions(record.positions, body, startedAt);
  const next: MemberRecord = {
    ...record,
    checks,
    status: body ?? record.status,
    storeSeenSince: nextStoreSeenSince(record, body, startedAt),
    answeredAt: startedAt,
    probedAt: startedAt,
    unsent: undefined,
    positions,
    unreplayedSince: nextUnreplayedSince(snapshot, record, body),
    missing: nextMissing(snapshot.trail, positions[0], record.missing, startedAt),
    failure: undefined,
    mismatch: undefined,
    vouch: undefined,
    standbyReport: nextStandbyReport(policy, record, checks, body),
    hasShownIdentity: record.hasShownIdentity || (body !== undefined && showsIdentity(body)),
  };
  const known = body?.clusterUnlocked === true ? takeBackVouches(snapshot, observation) : snapshot;
  const taken = {
    ...replace(known, next),
    ...(isProven ? highestWith(snapshot, observation.member, body?.timeline) : {}),
    scope: snapshot.scope ?? body?.scope,
    systemIdentifier: snapshot.systemIdentifier ?? body?.systemIdentifier,
  };
  return { ...taken, trail: nextTrail(policy, taken, next, startedAt) };
}

function nextStoreSeenSince(
  { status, storeSeenSince: since }: MemberRecord,
  body: MemberStatus | undefined,
  at: Instant,
): Instant | undefined {
  if (body === undefined) return since;
  if (body.storeSeenAt === undefined) return undefined;
  return body.storeSeenAt === status?.storeSeenAt ? (since ?? at) : at;
}

/**
 * The server reported in_hot_standby. If a pooler may have repeated that, a yes that was asked for later, from a member
 * with the role primary, outweighs it.
 */
function nextStandbyReport(
  policy: RoutingPolicy,
  { standbyReport: report, checks: before }: MemberRecord,
  after: ReadonlyMap<string, CheckRecord>,
  body: MemberStatus | undefined,
): MemberRecord['standbyReport'] {
  if (report === undefined) return undefined;
  const { at, by } = report;
  const primaryChecks = checksOf(policy).filter(({ family }) => family === 'primary');
  const answers = primaryChecks.map(({ text }) => ({ now: after.get(text), last: before.get(text) }));
  const stands = answers.every(
    ({ now, last }) => now?.verdict.kind === 'positive' && now.positiveTimeline === last?.positiveTimeline,
  );
  if (!stands) return undefined;
  const isProven =
    by === 'pooler' && body?.role === 'primary' && answers.every(({ now }) => now !== undefined && now.at > at);
  return isProven ? { ...report, isStale: true } : report;
}

type Highest = Pick<Snapshot, 'highestTimeline' | 'highestTimelineBy'>;

function highestWith(snapshot: Snapshot, member: MemberName, timeline: number | undefined): Partial<Highest> {
  const { highestTimeline: highest = 0, highestTimelineBy } = snapshot;
  if (timeline === undefined || timeline < highest) return {};
  const others = timeline === highest ? highestTimelineBy.filter((name) => name !== member) : [];
  return { highestTimeline: timeline, highestTimelineBy: [...others, member].toSorted() };
}

interface CheckJudgement extends Pick<CheckRecord, 'verdict' | 'at'>, Partial<Pick<CheckRecord, 'answer'>> {
  readonly timeline?: number | undefined;
}

/**
 * The leader lock ends before the next primary is promoted: from now on the vouched member gets no new sessions. Only
 * the member that vouched can take its vouch back, because a member without the configuration store reports the same.
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
  { verdict, at, answer, timeline }: CheckJudgement,
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

/** A change of role, a stopped or dead server and an operator's tag are facts. They do not flicker. */
function fallsAtOnce(verdict: Verdict): boolean {
  const { code } = verdict.why;
  return code === 'wrong_role' || code === 'not_running' || code === 'tagged_out' || code === 'refused';
}
