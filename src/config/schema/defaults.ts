// What exists without being configured: the pools `write` and `read`, and a listener for each. Merged into what was written
// before the schema sees it, so that a pool can be overridden in part.
import type { LeaveCause } from '../../model/close-reason.ts';
import type { LeaveMode } from '../../model/policy.ts';
import { isTree } from '../source/tree.ts';
import type { Tree } from '../source/tree.ts';

const POOLS: readonly (readonly [string, Tree])[] = [
  ['write', { check: '/primary', exclusive: true }],
  ['read', { check: '/replica?lag=16MB', fallback: { pool: 'write', max_sessions: 100 } }],
];

const LISTENERS: readonly Tree[] = [
  { address: '127.0.0.1:6432', pool: 'write' },
  { address: '127.0.0.1:6433', pool: 'read' },
];

/** Behaviour, pools: what becomes of live sessions in a pool of at most one member. */
export const EXCLUSIVE_ON_LEAVE: Readonly<Record<LeaveCause, LeaveMode>> = {
  dead: 'close',
  demoted: 'close',
  silent: 'close',
  promoted: 'close',
  removed: 'close',
  operator: 'drain',
  lagging: 'keep',
  tagged_out: 'keep',
  fallback_over: 'keep',
};

export const SHARED_ON_LEAVE: Readonly<Record<LeaveCause, LeaveMode>> = {
  dead: 'close',
  silent: 'close',
  promoted: 'drain',
  tagged_out: 'drain',
  removed: 'drain',
  operator: 'drain',
  fallback_over: 'drain',
  lagging: 'drain_idle',
  demoted: 'keep',
};

/** Of a pool of several members. A replica that comes back is cold, and by `least_sessions` it would be given every new session. */
export const SLOW_START_MS = 30_000;

/** Of those accepted: a handshake under way costs memory, and reconnecting clients come a thousand at a time. */
export function maxHandshakes(maxSessions: number): number {
  return Math.max(1_000, Math.ceil(maxSessions / 4));
}

/** As many as by fallback. */
export const MAX_LAGGING_SESSIONS = 100;

/** `written` with the default pools and listeners; what is not a map or list is left for the schema to report. */
export function withDefaults(written: Tree): Tree {
  const merged: Tree = { ...written, listeners: written['listeners'] ?? structuredClone(LISTENERS) };
  const pools = written['pools'] ?? {};
  if (!isTree(pools)) return merged;
  const defaults = POOLS.map(([name, pool]): [string, unknown] => [name, mergedPool(pool, pools[name] ?? {})]);
  return { ...merged, pools: { ...Object.fromEntries(defaults), ...withoutKeys(pools, defaults) } };
}

function mergedPool(pool: Tree, written: unknown): unknown {
  if (!isTree(written)) return written;
  const [usual, given] = [pool['fallback'], written['fallback']];
  const merged = isTree(usual) && isTree(given) ? { fallback: { ...usual, ...given } } : {};
  return { ...pool, ...written, ...merged };
}

function withoutKeys(tree: Tree, entries: readonly (readonly [string, unknown])[]): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => !entries.some(([name]) => name === key)));
}
