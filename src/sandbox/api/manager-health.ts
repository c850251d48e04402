// The health checks as the management API defines them, path by path. Pure. It does not say what happens to a parameter
// that cannot be parsed. Here the request is refused, because an ignored lag= would make every replica look good.
import { settingsOf } from '../manager/cluster-settings.ts';
import type { MemberView } from '../manager/view.ts';
import { isAttached, isReplica, isWithinLag, matchesTags, type LagMode } from './health-conditions.ts';
import { parseLagBound } from './lag-bound.ts';

export type HealthVerdict = { readonly kind: 'yes' | 'no' } | { readonly kind: 'invalid'; readonly text: string };

interface Bounds {
  /** Undefined when the request does not ask for it. */
  readonly lagBytes: number | undefined;
  readonly mode: LagMode;
}

interface HealthCheck {
  readonly holds: (member: MemberView, bounds: Bounds) => boolean;
  readonly takesLag?: true;
  readonly takesMode?: true;
  /** "Ignored by the leader endpoints" (management API). */
  readonly ignoresTags?: true;
}

const isPrimary = ({ hasLock, role, state }: MemberView): boolean =>
  hasLock && role === 'primary' && state === 'running';
const isSynchronous = (member: MemberView): boolean => isReplica(member) && member.syncRole === 'synchronous';
const isQuorum = (member: MemberView): boolean => isReplica(member) && member.syncRole === 'quorum';

function isStandbyLeader(member: MemberView): boolean {
  return member.hasLock && member.role !== 'primary' && settingsOf(member).standbyCluster !== undefined;
}

function isNear(member: MemberView, { lagBytes }: Bounds): boolean {
  return lagBytes === undefined || isWithinLag(member, lagBytes);
}

/** The node is the leader, or a replica that runs, streams, and lags less than the limit. */
function isReady(member: MemberView, { lagBytes, mode }: Bounds): boolean {
  if (member.hasLock) return true;
  const maximum = lagBytes ?? settingsOf(member).maximumLagOnFailover;
  return isAttached(member) && isWithinLag(member, maximum, mode);
}

/**
 * No, when the last heartbeat is older than ttl on a primary, or than 2*ttl on a replica. The management API makes no
 * exception for a pause.
 */
export function hasFreshHeartbeat(member: MemberView): boolean {
  return member.heartbeatAgeMs <= settingsOf(member).ttlMs * (member.role === 'primary' ? 1 : 2);
}

export const LIVENESS = '/liveness';

const primary: HealthCheck = { holds: isPrimary, ignoresTags: true };
const synchronous: HealthCheck = { holds: isSynchronous };
const asynchronous: HealthCheck = {
  holds: (member, bounds) => isReplica(member) && member.syncRole === undefined && isNear(member, bounds),
  takesLag: true,
};

const CHECKS: ReadonlyMap<string, HealthCheck> = new Map([
  ['/', primary],
  ['/primary', primary],
  ['/read-write', primary],
  ['/leader', { holds: ({ hasLock }) => hasLock, ignoresTags: true }],
  ['/standby-leader', { holds: isStandbyLeader, ignoresTags: true }],
  ['/replica', { holds: (member, bounds) => isReplica(member) && isNear(member, bounds), takesLag: true }],
  ['/read-only', { holds: (member) => isReplica(member) || isPrimary(member) }],
  ['/synchronous', synchronous],
  ['/sync', synchronous],
  ['/read-only-sync', { holds: (member) => isSynchronous(member) || isPrimary(member) }],
  ['/quorum', { holds: isQuorum }],
  ['/read-only-quorum', { holds: (member) => isQuorum(member) || isPrimary(member) }],
  ['/asynchronous', asynchronous],
  ['/async', asynchronous],
  ['/health', { holds: ({ state }) => state === 'running' }],
  ['/readiness', { holds: isReady, takesLag: true, takesMode: true }],
  [LIVENESS, { holds: hasFreshHeartbeat }],
]);

export function isHealthPath(path: string): boolean {
  return CHECKS.has(path);
}

/** For a path that is a health check. */
export function judgeHealth(path: string, parameters: URLSearchParams, member: MemberView): HealthVerdict {
  const check = CHECKS.get(path);
  if (check === undefined) return { kind: 'invalid', text: `${path} is no health check` };
  const lag = check.takesLag === true ? parameters.get('lag') : null;
  const lagBytes = lag === null ? undefined : parseLagBound(lag);
  if (lag !== null && lagBytes === undefined) {
    return {
      kind: 'invalid',
      text: `lag must be bytes or a number with B, kB, MB, GB or TB, not ${JSON.stringify(lag)}`,
    };
  }
  const mode = check.takesMode === true ? (parameters.get('mode') ?? 'apply') : 'apply';
  if (mode !== 'apply' && mode !== 'write') {
    return { kind: 'invalid', text: `mode must be apply or write, not ${JSON.stringify(mode)}` };
  }
  const holds = check.holds(member, { lagBytes, mode });
  return { kind: holds && (check.ignoresTags === true || matchesTags(member.tags, parameters)) ? 'yes' : 'no' };
}
