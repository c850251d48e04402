// Makes the operator's view of the cluster out of the cluster document and the members' own reports. Pure.
import { addressText, type Member, type MemberName, type MemberRefusal } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import type { ClusterDocument, DocumentMember } from '../patroni/cluster-document.ts';
import { present } from '../patroni/fields.ts';
import type { OwnReport } from '../patroni/read-documents.ts';
import type { ClusterReport, MemberReport } from '../documents/cluster-documents.ts';

export interface ReportInput {
  readonly document: ClusterDocument;
  /** Members whose addresses may be contacted. */
  readonly members: readonly Member[];
  readonly refused: readonly MemberRefusal[];
  /** The reports of the members that answered. Newer than the document. */
  readonly own: ReadonlyMap<MemberName, OwnReport>;
}

export function reportOf({ document, members, refused, own }: ReportInput): ClusterReport {
  const { scheduledSwitchover: plan } = document;
  const statuses = [...own.values()].map(({ status }) => status);
  // Patroni before 3.2 has no scope in /cluster.
  const scope = document.scope ?? statuses.find((status) => status.scope !== undefined)?.scope;
  return {
    scope: scope === undefined ? null : shown(scope),
    paused: document.pause || statuses.some(({ pause }) => pause === true),
    leader: leaderOf(document) ?? null,
    members: document.members.map((entry) => memberReport(entry, members, own.get(entry.name))),
    reports_restarts: reportsRestarts({ document, own }),
    scheduled_switchover: plan === undefined ? null : { at: plan.at, from: plan.from ?? null, to: plan.to ?? null },
    refused_members: refused.map(({ name, why }) => ({ name, why })),
  };
}

/** A standby leader leads its cluster as well. */
export function isLeader({ role }: { readonly role: string }): boolean {
  return role === 'leader' || role === 'standby_leader';
}

export function leaderOf(document: ClusterDocument): MemberName | undefined {
  return document.members.find(isLeader)?.name;
}

/** Patroni leaves the fields out where there is nothing to report. The management API does not have them. */
function reportsRestarts({ document, own }: Pick<ReportInput, 'document' | 'own'>): boolean {
  return (
    document.members.some(({ restart }) => restart !== undefined) ||
    [...own.values()].some(
      ({ status, restart }) =>
        status.dialect === 'patroni' ||
        status.pendingRestart !== undefined ||
        restart.isPending ||
        restart.scheduledAt !== undefined,
    )
  );
}

const INDICATORS: readonly (readonly [string, 'pause' | 'clusterUnlocked' | 'failsafe'])[] = [
  ['pause', 'pause'],
  ['cluster_unlocked', 'clusterUnlocked'],
  ['failsafe_mode_is_active', 'failsafe'],
];

function memberReport(
  entry: DocumentMember,
  members: readonly Member[],
  { status = {}, restart = entry.restart }: Partial<OwnReport> = {},
): MemberReport {
  const position = status.replayed ?? status.location;
  const { name, role, state, host, port, timeline, lag, tags } = entry;
  return {
    name,
    role,
    state: state ?? null,
    api: members.find((member) => member.name === name)?.api.url ?? baseOf(entry.apiUrl) ?? null,
    postgres: host === undefined || port === undefined ? null : shown(addressText({ host, port })),
    timeline: timeline ?? null,
    lag_bytes: lag ?? null,
    wal_position: typeof position === 'number' ? position : null,
    indicators: INDICATORS.filter(([, field]) => status[field] === true).map(([indicator]) => indicator),
    tags: Object.fromEntries([...tags].map(([key, value]) => [shown(key), shown(value)])),
    pending_restart: restart?.isPending ?? false,
    ...present({ pending_restart_reason: restart?.reason, scheduled_restart: restart?.scheduledAt }),
  };
}

/** The document has the URL of the status endpoint: `http://10.0.0.11:8008/patroni`. */
function baseOf(apiUrl: string | undefined): string | undefined {
  return apiUrl !== undefined && URL.canParse(apiUrl) ? shown(new URL(apiUrl).origin) : undefined;
}
