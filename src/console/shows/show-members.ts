// SHOW MEMBERS: the members of the cluster, as /status has them.
import type { MemberStatusDocument, StatusDocument } from '../../documents/status-document.ts';
import { int4, numeric, tableOf, text, type ColumnOf, type Table } from '../console-table.ts';

interface MemberRow extends MemberStatusDocument {
  readonly sessions: number;
}

export const memberColumns: readonly ColumnOf<MemberRow>[] = [
  ...text<MemberRow>({
    name: ({ name }) => name,
    role: ({ role }) => role,
    state: ({ state }) => state,
    postgres: ({ postgres }) => postgres,
    api: ({ api }) => api,
  }),
  ...int4<MemberRow>({ timeline: ({ timeline }) => timeline, sessions: ({ sessions }) => sessions }),
  ...text<MemberRow>({
    /** `write=open read=leave` */
    pools: ({ pools }) =>
      Object.entries(pools)
        .map(([pool, { standing }]) => `${pool}=${standing}`)
        .join(' '),
    drained: ({ drained }) => drained !== undefined,
    paused: ({ paused }) => paused,
    pending_restart: (member) => member.pending_restart,
    origin: ({ origin }) => origin,
  }),
  ...numeric<MemberRow>({ last_answer_age: (member) => member.last_answer_age_seconds }),
  ...text<MemberRow>({ failing: ({ failing }) => failing?.outcome ?? null }),
];

export function showMembers({ members, pools }: StatusDocument): Table {
  const sessions = (name: string): number =>
    pools.reduce((sum, pool) => sum + (pool.sessions?.by_member[name] ?? 0), 0);
  return tableOf(
    memberColumns,
    members.map((member) => ({ ...member, sessions: sessions(member.name) })),
  );
}
