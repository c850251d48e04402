// Makes the operator's view of the cluster out of the cluster document and the members' own reports. Pure.
import { addressText } from '../model/member.ts';
import type { Member, MemberName, MemberRefusal } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import type { ClusterDocument, ClusterMember } from '../patroni/cluster-document.ts';
import { present } from '../patroni/fields.ts';
import type { RestartState } from '../patroni/restart-state.ts';
import type { ClusterReport, MemberReport } from './control.ts';

export interface ReportInput {
  readonly document: ClusterDocument;
  /** Members whose addresses may be contacted. */
  readonly members: readonly Member[];
  readonly refused: readonly MemberRefusal[];
  /** Of the members that answered. Newer than the document. */
  readonly restarts: ReadonlyMap<MemberName, RestartState>;
}

export function reportOf({ document, members, refused, restarts }: ReportInput): ClusterReport {
  const { scheduledSwitchover: plan } = document;
  return {
    scope: document.scope === undefined ? null : shown(document.scope),
    paused: document.pause,
    leader: leaderOf(document) ?? null,
    members: document.members.map((entry) => memberReport(entry, members, restarts.get(entry.name) ?? entry.restart)),
    scheduled_switchover: plan === undefined ? null : { at: plan.at, from: plan.from ?? null, to: plan.to ?? null },
    refused_members: refused.map(({ name, why }) => ({ name, why })),
  };
}

/** A standby leader leads its cluster as well. */
export function leaderOf(document: ClusterDocument): MemberName | undefined {
  return document.members.find(({ role }) => role === 'leader' || role === 'standby_leader')?.name;
}

function memberReport(
  entry: ClusterMember,
  members: readonly Member[],
  restart: RestartState | undefined,
): MemberReport {
  const { name, role, state, host, port, timeline, lag, tags } = entry;
  return {
    name,
    role,
    state: state ?? null,
    api: members.find((member) => member.name === name)?.api.url ?? baseOf(entry.apiUrl) ?? null,
    postgres: host === undefined || port === undefined ? null : shown(addressText({ host, port })),
    timeline: timeline ?? null,
    lag_bytes: lag ?? null,
    tags: Object.fromEntries([...tags].map(([key, value]) => [shown(key), shown(value)])),
    pending_restart: restart?.isPending ?? false,
    ...present({ pending_restart_reason: restart?.reason, scheduled_restart: restart?.scheduledAt }),
  };
}

/** The document has the URL of the status endpoint: `http://10.0.0.11:8008/patroni`. */
function baseOf(apiUrl: string | undefined): string | undefined {
  return apiUrl !== undefined && URL.canParse(apiUrl) ? shown(new URL(apiUrl).origin) : undefined;
}
