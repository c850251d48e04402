// Defaults that the schema cannot hold, because they depend on other keys: the pools and listeners that exist without
// being written (merged before the schema, so that a pool can be changed in part), and what a pool takes from its kind.
import { BRANCHES_POOL } from '../../model/branch.ts';
import type { CheckFamily } from '../../model/check.ts';
import type { LeaveCause } from '../../model/close-reason.ts';
import type { LeaveMode, PoolPolicy, WhenAllLagging } from '../../model/policy.ts';
import type { Path } from '../fault.ts';
import { isTree, type Tree } from '../source/tree.ts';
import type { ParsedFile, ParsedPool } from './file-schema.ts';
import { causalReadsPolicy, pool, rebalancePolicy } from './pool-section.ts';
import { unlessOff } from './values.ts';

const EXCLUSIVE_POOL = 'write';

const POOLS: readonly (readonly [string, Tree])[] = [
  [EXCLUSIVE_POOL, { check: '/primary', exclusive: true }],
  ['read', { check: '/replica?lag=16MB', fallback: { pool: 'write', max_sessions: 100 } }],
];

/** The names of the pools that exist without being written. */
export const DEFAULT_POOLS: readonly string[] = POOLS.map(([name]) => name);

const LISTENERS: readonly Tree[] = [
  { address: '127.0.0.1:6432', pool: 'write' },
  { address: '127.0.0.1:6433', pool: 'read' },
];

/** How existing sessions end, in a pool of at most one member or in any other one. */
export function usualOnLeave(exclusive: boolean): Readonly<Record<LeaveCause, LeaveMode>> {
  return {
    dead: 'close',
    silent: 'close',
    demoted: exclusive ? 'close' : 'keep',
    promoted: exclusive ? 'close' : 'drain',
    lagging: exclusive ? 'keep' : 'drain_idle',
    check_failed: exclusive ? 'keep' : 'drain_idle',
    old_timeline: exclusive ? 'keep' : 'drain_idle',
    tagged_out: exclusive ? 'keep' : 'drain',
    removed: exclusive ? 'close' : 'drain',
    operator: 'drain',
    fallback_over: exclusive ? 'keep' : 'drain',
  };
}

/** A replica that comes back is cold, and `least_sessions` would give it every new session. */
const SLOW_START_MS = 30_000;
/** The same as for a fallback. */
const MAX_LAGGING_SESSIONS = 100;

/** Checks that at most one member of a healthy cluster answers. */
export const ONE_MEMBER_FAMILIES: readonly CheckFamily[] = ['primary', 'leader', 'standby-leader'];

/** Keys that mean something only in a pool of several members. */
export const SHARED_ONLY = [
  'weight_tag',
  'zone_tag',
  'slow_start',
  'max_session_age',
  'rebalance',
  'max_staleness',
  'when_all_lagging',
  'max_lagging_sessions',
] as const;

/** Sessions that can move are parked within that time, and a client notices no longer wait. */
const BEFORE_SWITCHOVER_MS = 1000;

/** `written` with the default pools and listeners; the schema reports a wrong kind of value. */
export function withDefaults(written: Tree): Tree {
  const merged: Tree = { ...written, listeners: written['listeners'] ?? structuredClone(LISTENERS) };
  const pools = written['pools'] ?? {};
  if (!isTree(pools)) return merged;
  const usual = POOLS.map(([name, pool]) => [name, mergedPool(pool, pools[name] ?? {})] as const);
  const others = Object.entries(pools).filter(([name]) => !DEFAULT_POOLS.includes(name));
  return { ...merged, pools: Object.fromEntries([...usual, ...others]) };
}

function mergedPool(pool: Tree, written: unknown): unknown {
  if (!isTree(written)) return written;
  const [usual, given] = [pool['fallback'], written['fallback']];
  const merged = isTree(usual) && isTree(given) ? { fallback: { ...usual, ...given } } : {};
  return { ...pool, ...written, ...merged };
}

/** A pool whose check at most one member answers is exclusive unless the file says otherwise. */
export function isExclusive(pool: ParsedPool): boolean {
  return pool.exclusive ?? ONE_MEMBER_FAMILIES.includes(pool.check.family);
}

/** The key that the default of the key at `path` depends on; undefined for a default that is always the same. */
export function derivedFrom(path: Path): string | undefined {
  const [section, name, key] = path;
  if (section === 'client' && name === 'max_handshakes') return 'client.max_sessions';
  if (section === 'hold' && name === 'before_switchover') return 'hold.client_timeout';
  if (section !== 'pools') return undefined;
  if (key === 'rebalance') return 'moves';
  if (key === 'slow_start' || key === 'on_leave') return `pools.${name}.exclusive`;
  return key === 'exclusive' && name !== EXCLUSIVE_POOL ? `pools.${name}.check` : undefined;
}

export interface CompletePool extends Omit<ParsedPool, 'on_leave'> {
  readonly exclusive: boolean;
  readonly slow_start: number;
  readonly max_session_age: number | 'off';
  readonly rebalance: NonNullable<ParsedPool['rebalance']>;
  readonly max_staleness: number | 'off';
  readonly fallback: NonNullable<ParsedPool['fallback']>;
  readonly when_all_lagging: WhenAllLagging;
  readonly max_lagging_sessions: number;
  readonly on_leave: Record<LeaveCause, LeaveMode>;
}

/** The file with a value for every key that has a default. */
export interface CompleteFile extends Omit<ParsedFile, 'pools'> {
  readonly pools: Record<string, CompletePool>;
  readonly client: ParsedFile['client'] & { readonly max_handshakes: number | 'off' };
  readonly hold: ParsedFile['hold'] & { readonly before_switchover: number };
}

/** Nobody waits before a switchover where nobody may wait that long. */
function beforeSwitchover(clientTimeoutMs: number): number {
  return clientTimeoutMs > BEFORE_SWITCHOVER_MS ? BEFORE_SWITCHOVER_MS : 0;
}

export function complete(parsed: ParsedFile): CompleteFile {
  const { client, hold, moves } = parsed;
  const hasMoves = moves !== undefined;
  const pools = Object.entries(parsed.pools).map(([name, pool]) => [name, completePool(pool, hasMoves)] as const);
  // A handshake costs memory, and reconnecting clients arrive a thousand at a time.
  const handshakes = Math.max(1_000, Math.ceil(client.max_sessions / 4));
  return {
    ...parsed,
    pools: Object.fromEntries(pools),
    client: { ...client, max_handshakes: client.max_handshakes ?? handshakes },
    hold: { ...hold, before_switchover: hold.before_switchover ?? beforeSwitchover(hold.client_timeout) },
  };
}

function completePool(pool: ParsedPool, hasMoves: boolean): CompletePool {
  const exclusive = isExclusive(pool);
  const written = Object.entries(pool.on_leave).filter(([, mode]) => mode !== undefined);
  return {
    ...pool,
    exclusive,
    slow_start: pool.slow_start ?? (exclusive ? 0 : SLOW_START_MS),
    max_session_age: pool.max_session_age ?? 'off',
    rebalance: pool.rebalance ?? (hasMoves && !exclusive && pool.balance !== 'client_address'),
    max_staleness: pool.max_staleness ?? 'off',
    fallback: pool.fallback ?? 'none',
    when_all_lagging: pool.when_all_lagging ?? 'fallback',
    max_lagging_sessions: pool.max_lagging_sessions ?? MAX_LAGGING_SESSIONS,
    on_leave: { ...usualOnLeave(exclusive), ...Object.fromEntries(written) },
  };
}

export function poolPolicy(name: string, pool: CompletePool): PoolPolicy {
  const { fallback } = pool;
  return {
    name,
    check: pool.check,
    exclusive: pool.exclusive,
    balance: pool.balance,
    weightTag: pool.weight_tag,
    zoneTag: pool.zone_tag,
    maxSessionAgeMs: unlessOff(pool.max_session_age),
    maxStalenessMs: unlessOff(pool.max_staleness),
    slowStartMs: pool.slow_start,
    fallback: fallback === 'none' ? undefined : { pool: fallback.pool, maxSessions: fallback.max_sessions },
    whenAllLagging: pool.when_all_lagging,
    maxLaggingSessions: pool.max_lagging_sessions,
    onLeave: pool.on_leave,
    drainTimeoutMs: pool.drain_timeout,
    relocateAfterMs: pool.relocate_after,
    causalReads: causalReadsPolicy(pool.causal_reads),
    rebalance: rebalancePolicy(pool.rebalance),
  };
}

/** The reserved pool of sessions on branches. It has no member, so most of its settings never apply. */
export function branchesPool(): PoolPolicy {
  return poolPolicy(BRANCHES_POOL, completePool(pool.parse({ check: '/health' }), false));
}
