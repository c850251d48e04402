// The order in which chosen members restart, by the rules of the cluster, and why some of them must not. Pure.
import type { GivenOrder } from '../../cluster/control.ts';
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import { orderFault, restartOrder, type OrderFault } from '../../cluster/restart-order.ts';
import type { MemberName } from '../../model/member.ts';
import { isLeader } from '../../cluster/cluster-report.ts';

export interface RestartSequence {
  /** A member is named twice if it must restart twice. */
  readonly members: readonly MemberReport[];
  /** Why this order; a sentence each. */
  readonly reasons: readonly string[];
}

/** Members without a pending restart: the replicas before all others, the leader after them. */
export function orderOf(chosen: readonly MemberReport[], report: ClusterReport, order?: GivenOrder): RestartSequence {
  const byName = new Map(chosen.map((member) => [member.name, member]));
  const steps = (restartOrder(report, { order }) ?? []).filter(({ members }) =>
    members.some((name) => byName.has(name)),
  );
  const pending = steps.flatMap(({ members }) => members.flatMap((name) => byName.get(name) ?? []));
  const others = chosen.filter((member) => !pending.includes(member));
  const [leaders, replicas] = [others.filter(isLeader), others.filter((member) => !isLeader(member))];
  return {
    members: order === 'primary_first' ? [...leaders, ...pending, ...replicas] : [...replicas, ...pending, ...leaders],
    reasons: steps.length > 1 ? steps.map(({ why }) => why) : [],
  };
}

/** Why one of the members must not restart in its turn. `isTogether`: all restart at the same time. */
export function orderRefusal(
  members: readonly MemberReport[],
  report: ClusterReport,
  isTogether: boolean,
  order: GivenOrder | undefined,
): OrderFault | undefined {
  const done = new Set<MemberName>();
  for (const { name } of members) {
    const fault = orderFault(isTogether ? report : after(done, report), name, order);
    if (fault !== undefined) return fault;
    done.add(name);
  }
  return undefined;
}

/** The report after the restart of some members. */
function after(done: ReadonlySet<MemberName>, report: ClusterReport): ClusterReport {
  const members = report.members.map((member): MemberReport => {
    if (!done.has(member.name)) return member;
    const { pending_restart_reason: _, ...rest } = member;
    return { ...rest, pending_restart: false };
  });
  return { ...report, members };
}
