// SHOW SESSIONS, and the same sessions with PgBouncer's columns: CLIENTS (each client) and SERVERS (the connection of
// each to its member).
import { LOCAL_CLIENT } from '../../model/unix-socket.ts';
import type { SessionDocument } from '../../documents/sessions-document.ts';
import {
  int4,
  int8,
  numeric,
  showOf,
  silentText,
  text,
  type ColumnOf,
  type ConsoleSources,
  type Show,
} from '../console-table.ts';
import { hostAndPort } from './show-pools.ts';

const sessionColumns: readonly ColumnOf<SessionDocument>[] = [
  ...int8<SessionDocument>({ id: ({ id }) => id }),
  ...text<SessionDocument>({
    pool: ({ pool }) => pool,
    member: ({ member }) => member,
    branch: ({ branch }) => branch?.name ?? null,
    client: ({ client }) => client,
    user: ({ user }) => user,
    database: ({ database }) => database,
    application: ({ application }) => application,
    state: ({ state }) => state,
    activity: ({ activity }) => activity,
    tls: ({ tls }) => tls,
    listener: ({ listener }) => listener,
  }),
  ...numeric<SessionDocument>({
    age: (session) => session.age_seconds,
    state_age: (session) => session.state_seconds,
    held: (session) => session.held_seconds,
  }),
  ...int8<SessionDocument>({
    to_backend_bytes: (session) => session.to_backend_bytes,
    to_client_bytes: (session) => session.to_client_bytes,
    moves: ({ moves }) => moves?.moved ?? null,
  }),
  ...numeric<SessionDocument>({ last_gap: ({ moves }) => gapOf(moves?.last) }),
  ...text<SessionDocument>({
    can_move: ({ moves }) => moves?.answer?.movable ?? null,
    stays: ({ moves }) => moves?.answer?.reason ?? null,
    left_member: ({ moves }) => moves?.underway?.from ?? null,
    waits_for: ({ moves, read }) => read?.why ?? moves?.underway?.waits_for ?? null,
  }),
];

/** One end of a session. */
interface ConnectionEnd {
  readonly type: 'C' | 'S';
  readonly session: SessionDocument;
  /** host:port of this end, and of Pointsman's. */
  readonly address: string | null;
  readonly local: string | null;
  /** Milliseconds of the system's clock. */
  readonly now: number;
}

/** The states of PgBouncer for the same things. */
const STATES: Readonly<Record<string, string>> = {
  startup: 'login',
  holding: 'waiting',
  dialing: 'waiting',
  relaying: 'active',
  parked: 'waiting',
  moving: 'waiting',
};

const SERVER_STATES: typeof STATES = { ...STATES, dialing: 'login', moving: 'login' };

const endColumns: readonly ColumnOf<ConnectionEnd>[] = [
  ...text<ConnectionEnd>({
    type: ({ type }) => type,
    user: ({ session }) => session.user,
    database: ({ session }) => session.pool,
    replication: () => null,
    state: ({ type, session: { state } }) =>
      type === 'S' ? (SERVER_STATES[state] ?? state) : (STATES[state] ?? state),
    addr: ({ address }) => (address === LOCAL_CLIENT ? 'unix' : hostAndPort(address).host),
  }),
  ...int4<ConnectionEnd>({ port: ({ address }) => hostAndPort(address).port }),
  ...text<ConnectionEnd>({ local_addr: ({ local }) => hostAndPort(local).host }),
  ...int4<ConnectionEnd>({ local_port: ({ local }) => hostAndPort(local).port }),
  ...text<ConnectionEnd>({
    connect_time: ({ session, now }) => timeText(now - 1000 * session.age_seconds),
    request_time: () => null,
  }),
  ...int4<ConnectionEnd>({
    wait: (end) => Math.floor(waitOf(end)),
    wait_us: (end) => Math.round((waitOf(end) % 1) * 1e6),
    close_needed: () => 0,
  }),
  ...text<ConnectionEnd>({
    ptr: ({ session }) => String(session.id),
    link: ({ session }) => session.member ?? session.branch?.name ?? '',
  }),
  ...int4<ConnectionEnd>({ remote_pid: () => 0 }),
  ...text<ConnectionEnd>({
    tls: ({ session: { tls } }) => (tls === 'none' ? '' : tls),
    application_name: ({ session }) => session.application,
  }),
  ...int4<ConnectionEnd>({ prepared_statements: () => 0 }),
  ...int8<ConnectionEnd>({ id: ({ session }) => session.id }),
  ...text<ConnectionEnd>({
    startup_database: ({ session }) => session.database,
    activity: ({ session }) => session.activity,
  }),
];

export const SESSIONS = ofSessions(
  'the live sessions one by one (with the token)',
  sessionColumns,
  (sessions) => sessions,
);

export const CLIENTS = ofSessions(
  'the sessions with the columns of PgBouncer (with the token)',
  endColumns,
  (sessions) => {
    const now = Date.now();
    return sessions.map((session) => ({ type: 'C', session, address: session.client, local: session.listener, now }));
  },
);

/** The address of a member is the one that it has now. */
export const SERVERS = ofSessions(
  'their connections to members, likewise (with the token)',
  endColumns,
  async (sessions, { status }) => {
    const { members } = await status();
    const now = Date.now();
    const addresses = new Map(members.map(({ name, postgres }) => [name, postgres]));
    return sessions.flatMap((session): readonly ConnectionEnd[] => {
      if (session.member === null) return [];
      return [{ type: 'S', session, address: addresses.get(session.member) ?? null, local: null, now }];
    });
  },
);

function ofSessions<Row>(
  about: string,
  columns: readonly ColumnOf<Row>[],
  rowsOf: (sessions: readonly SessionDocument[], sources: ConsoleSources) => readonly Row[] | Promise<readonly Row[]>,
): Show {
  const read = async (sources: ConsoleSources) => {
    const { sessions, total, left_out: leftOut, silent_workers: silent } = await sources.sessions();
    const left = `${leftOut} of ${total} sessions are left out, the newest ones: pointsman sessions has filters`;
    return { rows: await rowsOf(sessions, sources), gaps: [...(leftOut === 0 ? [] : [left]), ...silentText(silent)] };
  };
  return showOf(about, columns, read, true);
}

function gapOf(last: NonNullable<SessionDocument['moves']>['last'] | undefined): number | null {
  return last ? last.gap_ms / 1000 : null;
}

/** Seconds that the session has waited for a member, or its causal read for its server, while it does. */
function waitOf({ session: { state, read, held_seconds: held, state_seconds: inState } }: ConnectionEnd): number {
  if (read !== undefined) return read.age_seconds;
  if (state === 'parked' || state === 'moving') return inState;
  return state === 'holding' || state === 'dialing' ? Math.max(held ?? 0, inState) : 0;
}

/** As PgBouncer writes it: `2026-01-31 12:00:00 UTC`. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/T(.*)\..*/, ' $1 UTC');
}
