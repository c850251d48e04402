// The events for the difference between two routing tables, and for a probe. Pure.
import { describeStanding } from '../core/describe.ts';
import { isSameAddress, type MemberName } from '../model/member.ts';
import type { MemberStatus } from '../model/member-status.ts';
import type { MonitorEvent } from '../reports/monitor-events.ts';
import type { Observation, ProbeObservation } from '../model/observation.ts';
import type { MemberRecord, Snapshot } from '../core/snapshot.ts';
import type { Route, RoutingTable, Target } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';

export function changesBetween(previous: RoutingTable, next: RoutingTable): readonly MonitorEvent[] {
  const events: MonitorEvent[] = [];
  for (const [pool, decision] of next.pools) {
    const before = previous.pools.get(pool);
    for (const [member, to] of decision.standings) {
      const from = before?.standings.get(member);
      if (from?.kind === to.kind && from.why.code === to.why.code) continue;
      const change = { from: from && withoutEvidence(from), to: withoutEvidence(to) };
      events.push({ kind: 'standing_changed', pool, member, ...change, text: describeStanding(to, next.decidedAt) });
    }
    if (!isSameRoute(before?.route, decision.route)) {
      events.push({ kind: 'route_changed', pool, from: before?.route, to: decision.route });
    }
  }
  return events;
}

/** Events for evidence that no table shows. */
export function evidenceChanges(before: Snapshot, after: Snapshot, observation: Observation): readonly MonitorEvent[] {
  if (observation.kind !== 'probe') return [];
  const { member } = observation;
  const reported = reportChange(member, before.members.get(member)?.status, after.members.get(member));
  const isStale = ({ members }: Snapshot): boolean => members.get(member)?.standbyReport?.isStale === true;
  const stale: MonitorEvent = { kind: 'standby_report_stale', member };
  return [...reported, ...(isStale(after) && !isStale(before) ? [stale] : [])];
}

/** An answer without a body leaves the last report in place. */
function reportChange(
  member: MemberName,
  before: MemberStatus | undefined,
  record: MemberRecord | undefined,
): readonly MonitorEvent[] {
  const after = record?.status;
  if (after === undefined || after === before) return [];
  const isSame =
    before !== undefined &&
    before.role === after.role &&
    before.state === after.state &&
    before.timeline === after.timeline &&
    (before.clusterUnlocked ?? false) === (after.clusterUnlocked ?? false);
  if (isSame) return [];
  const { role, state, timeline, clusterUnlocked: isUnlocked = false } = after;
  const { answeredAt, storeSeenSince: since } = record ?? {};
  const storeUnseenMs = answeredAt === undefined || since === undefined ? undefined : answeredAt - since;
  return [{ kind: 'member_reported', member, role, state, timeline, isUnlocked, storeUnseenMs }];
}

/** Without the evidence: the event's text has it. */
function withoutEvidence(standing: Standing): Standing {
  const { evidence: _, ...why } = standing.why;
  return { ...standing, why };
}

/** A change of weights or zones alone is not reported. */
function isSameRoute(a: Route | undefined, b: Route): boolean {
  if (a?.kind === 'open' && b.kind === 'open') {
    const isSameKind = (a.lagging === undefined) === (b.lagging === undefined);
    return isSameKind && a.fallback?.pool === b.fallback?.pool && isSameTargets(a.targets, b.targets);
  }
  return a?.kind === 'hold' && b.kind === 'hold' ? a.cause === b.cause : a?.kind === b.kind;
}

function isSameTargets(a: readonly Target[], b: readonly Target[]): boolean {
  const isSame = ({ member, address }: Target, i: number): boolean =>
    member === b[i]?.member && isSameAddress(address, b[i].address);
  return a.length === b.length && a.every(isSame);
}

export function probeEvent({ member, check, outcome }: ProbeObservation, durationMs: number): MonitorEvent {
  const probe = { kind: 'probe_finished', member, check, durationMs } as const;
  switch (outcome.kind) {
    case 'answered':
      return { ...probe, outcome: outcome.status === 200 ? 'yes' : 'no', detail: undefined };
    case 'refused':
      return { ...probe, outcome: 'refused', detail: `PostgreSQL port: ${outcome.postgres}` };
    case 'failed':
      return { ...probe, outcome: outcome.cause, detail: outcome.detail };
  }
}
