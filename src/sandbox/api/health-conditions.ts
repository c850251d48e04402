// The conditions that the health checks of both dialects are made of. Pure: a view of a member in, yes or no out.
import { isTruthyInPython } from '../../patroni/fields.ts';
import type { MemberView, Tags } from '../manager/view.ts';

export type LagMode = 'apply' | 'write';

/**
 * The management API: state is running AND role is replica AND no noloadbalance tag. `noloadbalance: false` counts as
 * no tag.
 */
export function isReplica({ state, role, tags }: MemberView): boolean {
  return state === 'running' && role === 'replica' && !isTruthyInPython(tags['noloadbalance']);
}

/**
 * Compared with the leader's last WAL position in the store. While that position is unknown no member lags. A member
 * whose own position is unknown lags by the whole WAL. Both are as in Patroni's api.py.
 */
export function isWithinLag({ wal, cluster }: MemberView, maximumBytes: number, mode: LagMode = 'apply'): boolean {
  const leaderPosition = cluster?.leaderPosition ?? 0;
  const own = wal?.kind === 'replica' ? (mode === 'write' ? wal.received : wal.replayed) : 0;
  return leaderPosition - own <= maximumBytes;
}

/** A replica that runs and streams. Its lag is judged separately. */
export function isAttached({ state, replicationState }: MemberView): boolean {
  return state === 'running' && replicationState === 'streaming';
}

/** Every `tag_<key>=<value>` must match. Values that are not strings compare as their text in lower case. */
export function matchesTags(tags: Tags, parameters: URLSearchParams): boolean {
  // When a parameter is given twice, the first one counts.
  return [...new Set(parameters.keys())].every((parameter) => {
    if (!parameter.startsWith(PREFIX)) return true;
    const key = parameter.slice(PREFIX.length);
    const value = Object.hasOwn(tags, key) ? tags[key] : undefined;
    return value !== undefined && textOf(value) === parameters.get(parameter);
  });
}

const PREFIX = 'tag_';

function textOf(value: string | number | boolean): string {
  return typeof value === 'string' ? value : String(value).toLowerCase();
}
