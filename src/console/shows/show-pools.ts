// SHOW POOLS, DATABASES and LISTS. PgBouncer's columns have PgBouncer's names, types and order (those of 1.18 to 1.25);
// ours follow. A column whose thing Pointsman does not have is 0, a number that it cannot know is NULL.
import type { PoolStatusDocument, StatusDocument } from '../../documents/status-document.ts';
import { int4, tableOf, text, type ColumnOf, type Table } from '../console-table.ts';

/** A session keeps its server connection until it ends: what PgBouncer calls session pooling. */
const POOL_MODE = 'session';
/** A pool is not of one user. */
const ANY_USER = '*';

export const poolColumns: readonly ColumnOf<PoolStatusDocument>[] = [
  ...text<PoolStatusDocument>({ database: ({ name }) => name, user: () => ANY_USER }),
  ...int4<PoolStatusDocument>({
    cl_active: (pool) => inState(pool, 'relaying'),
    cl_waiting: (pool) => inState(pool, 'holding', 'dialing', 'parked', 'moving'),
    cl_active_cancel_req: () => 0,
    cl_waiting_cancel_req: () => 0,
    sv_active: (pool) => inState(pool, 'relaying'),
    sv_active_cancel: () => 0,
    sv_being_canceled: () => 0,
    sv_idle: () => 0,
    sv_used: () => 0,
    sv_tested: () => 0,
    sv_login: (pool) => inState(pool, 'dialing', 'moving'),
    maxwait: (pool) => Math.floor(longestWait(pool)),
    maxwait_us: (pool) => Math.round((longestWait(pool) % 1) * 1e6),
  }),
  ...text<PoolStatusDocument>({ pool_mode: () => POOL_MODE, load_balance_hosts: () => null }),
  ...int4<PoolStatusDocument>({
    cl_login: (pool) => inState(pool, 'startup'),
    cl_closing: (pool) => inState(pool, 'closing'),
  }),
  ...text<PoolStatusDocument>({
    check: ({ check }) => check,
    route: ({ route }) => route.kind,
    members: ({ route }) => (route.kind === 'open' ? route.members.map(({ name }) => name).join(',') : ''),
    fallback: ({ route }) => (route.kind === 'open' ? (route.fallback?.pool ?? null) : null),
    why: ({ why }) => why,
  }),
];

/** A pool at one of the addresses that it routes to; undefined: at none. */
interface RoutePlace {
  readonly pool: PoolStatusDocument;
  readonly member: string | undefined;
  readonly address: string | undefined;
}

export const databaseColumns: readonly ColumnOf<RoutePlace>[] = [
  ...text<RoutePlace>({ name: ({ pool }) => pool.name, host: ({ address }) => hostAndPort(address).host }),
  ...int4<RoutePlace>({ port: ({ address }) => hostAndPort(address).port }),
  ...text<RoutePlace>({ database: () => null, force_user: () => null }),
  ...int4<RoutePlace>({
    pool_size: () => null,
    min_pool_size: () => 0,
    // Its name until 1.23, and since.
    reserve_pool: () => 0,
    reserve_pool_size: () => 0,
    server_lifetime: () => null,
  }),
  ...text<RoutePlace>({ pool_mode: () => POOL_MODE, load_balance_hosts: () => null }),
  ...int4<RoutePlace>({
    max_connections: () => 0,
    current_connections: ({ pool, member }) => (member === undefined ? 0 : (pool.sessions?.by_member[member] ?? 0)),
    max_client_connections: () => 0,
    current_client_connections: ({ pool }) => clientsOf(pool),
    paused: ({ pool }) => Number(pool.route.kind === 'hold'),
    disabled: ({ pool }) => Number(pool.route.kind === 'closed'),
  }),
  ...text<RoutePlace>({ member: ({ member }) => member ?? null, why: ({ pool }) => pool.why }),
];

interface Count {
  readonly list: string;
  readonly items: number;
}

export const listColumns: readonly ColumnOf<Count>[] = [
  ...text<Count>({ list: ({ list }) => list }),
  ...int4<Count>({ items: ({ items }) => items }),
];

export function showPools({ pools }: StatusDocument): Table {
  return tableOf(poolColumns, pools);
}

/** A row for each pool and member that it routes to. */
export function showDatabases({ pools }: StatusDocument): Table {
  return tableOf(
    databaseColumns,
    pools.flatMap((pool): readonly RoutePlace[] => {
      if (pool.route.kind !== 'open') return [{ pool, member: undefined, address: undefined }];
      return pool.route.members.map(({ name, address }) => ({ pool, member: name, address }));
    }),
  );
}

export function showLists({ pools, members, workers }: StatusDocument): Table {
  const sum = (of: (pool: PoolStatusDocument) => number): number => pools.reduce((all, pool) => all + of(pool), 0);
  return tableOf(listColumns, [
    { list: 'databases', items: pools.length },
    { list: 'users', items: 0 },
    { list: 'pools', items: pools.length },
    { list: 'free_clients', items: 0 },
    { list: 'used_clients', items: sum(clientsOf) },
    { list: 'login_clients', items: sum((pool) => inState(pool, 'startup')) },
    { list: 'free_servers', items: 0 },
    { list: 'used_servers', items: sum((pool) => inState(pool, 'relaying')) },
    { list: 'members', items: members.length },
    { list: 'workers', items: workers?.length ?? 0 },
  ]);
}

type SessionStateName = keyof NonNullable<PoolStatusDocument['sessions']>['by_state'];

function inState({ sessions }: PoolStatusDocument, ...states: readonly SessionStateName[]): number {
  return states.reduce((sum, state) => sum + (sessions?.by_state[state] ?? 0), 0);
}

/** Seconds. */
function longestWait({ sessions }: PoolStatusDocument): number {
  return sessions?.longest_wait_seconds ?? 0;
}

function clientsOf(pool: PoolStatusDocument): number {
  return inState(pool, 'startup', 'holding', 'dialing', 'relaying', 'parked', 'moving', 'closing');
}

/** Host and port of `10.0.0.1:5432` or `[::1]:5432`. */
export function hostAndPort(address: string | undefined | null): {
  readonly host: string | null;
  readonly port: number | null;
} {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(address ?? '') ?? [];
  return { host: bracketed ?? plain ?? null, port: port === undefined ? null : Number(port) };
}
