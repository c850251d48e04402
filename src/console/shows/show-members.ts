// SHOW MEMBERS: the members of the cluster, as /status has them.
import type { MemberStatusDocument } from '../../documents/member-document.ts';
import { int4, numeric, showOf, text, type ColumnOf } from '../console-table.ts';

interface MemberRow extends MemberStatusDocument {
  readonly sessions: number;
}

const columns: readonly ColumnOf<MemberRow>[] = [
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
  ...numeric<MemberRow>({
    last_answer_age: (member) => member.last_answer_age_seconds,
    staleness: (member) => member.staleness_seconds,
  }),
  ...text<MemberRow>({ failing: ({ failing }) => failing?.outcome ?? null }),
];

export const MEMBERS = showOf(
  'the members of the cluster, and their standing in each pool',
  columns,
  async ({ status }) => {
    const { members, pools } = await status();
    const sessions = (name: string): number =>
      pools.reduce((sum, pool) => sum + (pool.sessions?.by_member[name] ?? 0), 0);
    return { rows: members.map((member) => ({ ...member, sessions: sessions(member.name) })) };
  },
);
