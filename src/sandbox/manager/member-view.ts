// A member's view of itself, made from the manager's knowledge and PostgreSQL's last report. Pure.
import { settingsOf } from './cluster-settings.ts';
import type { PostgresReport } from './postgres-report.ts';
import type { ClusterView, MemberKnowledge, MemberRole, MemberState, MemberView, PublishedMember } from './view.ts';

/** `report` is undefined when PostgreSQL did not answer. */
export function memberView(facts: MemberKnowledge, report: PostgresReport | undefined): MemberView {
  return {
    ...facts,
    state: stateOf(facts, report),
    role: roleOf(facts, report),
    postmasterStartTime: report?.postmasterStartTime,
    serverVersion: report?.serverVersion,
    timeline: report?.timeline,
    wal: report?.wal,
    replicationState: report?.isStreaming === true ? 'streaming' : undefined,
    replication: report?.replication ?? [],
    pendingRestart: report?.pendingRestart ?? {},
    syncRole: syncRole(facts.name, facts.cluster),
  };
}

export function publishedMember(facts: MemberKnowledge, report: PostgresReport | undefined): PublishedMember {
  const { name, apiUrl, host, port, tags, scheduledRestart } = facts;
  const wal = report?.wal.kind === 'replica' ? report.wal : undefined;
  const state = stateOf(facts, report);
  return {
    name,
    apiUrl,
    host,
    port,
    role: roleOf(facts, report),
    state: state === 'running' && report?.isStreaming === true && !facts.hasLock ? 'streaming' : state,
    timeline: report?.timeline,
    received: wal?.received,
    replayed: wal?.replayed,
    lastKnown: facts.lastKnown,
    tags,
    pendingRestart: report?.pendingRestart ?? {},
    scheduledRestart,
  };
}

function stateOf({ state }: MemberKnowledge, report: PostgresReport | undefined): MemberState {
  return state === 'running' && report === undefined ? 'unknown' : state;
}

/**
 * A primary by PostgreSQL's own report. After a promotion it comes later than the lock, and after a loss of the lock it
 * lasts longer.
 */
function roleOf(facts: MemberKnowledge, report: PostgresReport | undefined): MemberRole {
  const role = report === undefined ? facts.role : report.isInRecovery ? 'replica' : 'primary';
  return role === 'replica' && facts.hasLock && settingsOf(facts).standbyCluster !== undefined
    ? 'standby_leader'
    : role;
}

function syncRole(name: string, cluster: ClusterView | undefined): MemberView['syncRole'] {
  if (cluster?.synchronous.includes(name) === true) return 'synchronous';
  return cluster?.quorum.includes(name) === true ? 'quorum' : undefined;
}
