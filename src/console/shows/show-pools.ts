// SHOW POOLS, DATABASES and LISTS. PgBouncer's columns have PgBouncer's names, types and order (those of 1.18 to 1.25);
// ours follow. A column whose thing Pointsman does not have is 0, a number that it cannot know is NULL.
import type { PoolStatusDocument } from '../../documents/status-document.ts';
import { always, int4, ofPools, showOf, text, type ColumnOf } from '../console-table.ts';

/** A session keeps its server connection until it ends: what PgBouncer calls session pooling. */
const POOL_MODE = 'session';
/** A pool is not of one user. */
const ANY_USER = '*';

export const POOLS = ofPools('clients and server connections of each pool, and its route', [
  ...text<PoolStatusDocument>({ database: ({ name }) => name, user: () => ANY_USER }),
  ...int4<PoolStatusDocument>({
    cl_active: (pool) => inState(pool, 'relaying'),
    cl_waiting: (pool) => inState(pool, 'holding', 'dialing', 'parked', 'moving'),
    ...always('cl_active_cancel_req cl_waiting_cancel_req', 0),
    sv_active: (pool) => inState(pool, 'relaying'),
    ...always('sv_active_cancel sv_being_canceled sv_idle sv_used sv_tested', 0),
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
  ...int4<PoolStatusDocument>({
    reads_waiting: ({ causal_reads: reads }) => reads?.waiting ?? null,
    reads_late_1m: ({ causal_reads: reads }) => reads?.last_minute.late ?? null,
  }),
  ...text<PoolStatusDocument>({ reads_scope: ({ causal_reads: reads }) => reads?.scope ?? null }),
]);

/** A pool at one of the addresses that it routes to; undefined: at none. */
interface RoutePlace {
  readonly pool: PoolStatusDocument;
  readonly member: string | undefined;
  readonly address: string | undefined;
}

const databaseColumns: readonly ColumnOf<RoutePlace>[] = [
  ...text<RoutePlace>({ name: ({ pool }) => pool.name, host: ({ address }) => hostAndPort(address).host }),
  ...int4<RoutePlace>({ port: ({ address }) => hostAndPort(address).port }),
  ...text<RoutePlace>({ database: () => null, force_user: () => null }),
  ...int4<RoutePlace>({
    pool_size: () => null,
    // The last two: its name until 1.23, and since.
    ...always('min_pool_size reserve_pool reserve_pool_size', 0),
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
  ...text<RoutePlace>({
    member: ({ member }) => member ?? null,
    why: ({ pool }) => pool.why,
    latency: ({ pool, member }) => pool.sessions?.latency?.[member ?? '']?.summary ?? null,
  }),
];

/** A row for each pool and member that it routes to. */
export const DATABASES = showOf('where each pool routes to now', databaseColumns, async ({ status }) => {
  const { pools } = await status();
  const rows = pools.flatMap((pool): readonly RoutePlace[] => {
    if (pool.route.kind !== 'open') return [{ pool, member: undefined, address: undefined }];
    return pool.route.members.map(({ name, address }) => ({ pool, member: name, address }));
  });
  return { rows };
});

export const LISTS = showOf(
  'how many pools, clients, server connections and members there are',
  [...text<[string, number]>({ list: ([list]) => list }), ...int4<[string, number]>({ items: ([, items]) => items })],
  async ({ status }) => {
    const { pools, members, workers } = await status();
    const sum = (of: (pool: PoolStatusDocument) => number): number => pools.reduce((all, pool) => all + of(pool), 0);
    const counts = {
      databases: pools.length,
      users: 0,
      pools: pools.length,
      free_clients: 0,
      used_clients: sum(clientsOf),
      login_clients: sum((pool) => inState(pool, 'startup')),
      free_servers: 0,
      used_servers: sum((pool) => inState(pool, 'relaying')),
      members: members.length,
      workers: workers?.length ?? 0,
    };
    return { rows: Object.entries(counts) };
  },
);

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
