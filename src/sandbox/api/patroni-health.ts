// The health checks as Patroni 4.1 answers them: any path, matched by substrings in this order. A lag limit applies
// wherever the replica condition does, and one that cannot be parsed is ignored. Pure.
import { settingsOf } from '../manager/cluster-settings.ts';
import type { MemberView } from '../manager/view.ts';
import { isAttached, isReplica, isWithinLag, matchesTags } from './health-conditions.ts';
import { parseLagBound } from './lag-bound.ts';
import { hasFreshHeartbeat } from './manager-health.ts';

interface Conditions {
  readonly isPrimary: boolean;
  readonly isStandbyLeader: boolean;
  readonly isReplica: boolean;
}

/** True for the status 200. A path without a meaning is 503. */
export function judgePatroniHealth(path: string, given: URLSearchParams, member: MemberView): boolean {
  const parameters = withoutEmpty(given);
  const conditions = conditionsOf(member, parameters);
  if (/standby[_-]leader/.test(path)) return conditions.isStandbyLeader;
  if (path.includes('leader')) return member.hasLock;
  if (path === '/' || /master|primary|read-write/.test(path)) return conditions.isPrimary;
  return holdsWithTags(path, conditions, member) && matchesTags(member.tags, parameters);
}

function conditionsOf(member: MemberView, parameters: URLSearchParams): Conditions {
  const { hasLock, role } = member;
  const isStandbyCluster = settingsOf(member).standbyCluster !== undefined;
  const lagBytes = parseLagBound(parameters.get('lag') ?? '') ?? Number.POSITIVE_INFINITY;
  const wantedState = parameters.get('replication_state');
  const isWanted = wantedState === null || wantedState === member.replicationState;
  return {
    isPrimary: hasLock && !isStandbyCluster,
    isStandbyLeader: hasLock && isStandbyCluster && (role === 'replica' || role === 'standby_leader'),
    isReplica: isReplica(member) && isWanted && isWithinLag(member, lagBytes) && !(hasLock && isStandbyCluster),
  };
}

function holdsWithTags(path: string, conditions: Conditions, { state, syncRole }: MemberView): boolean {
  const isWriter = conditions.isPrimary || conditions.isStandbyLeader;
  if (path.includes('replica')) return conditions.isReplica;
  if (path.includes('read-only') && !/sync|quorum/.test(path)) return isWriter || conditions.isReplica;
  if (path.includes('health')) return state === 'running';
  const isSynchronous = conditions.isReplica && syncRole === 'synchronous';
  const isQuorum = conditions.isReplica && syncRole === 'quorum';
  switch (path) {
    case '/sync':
    case '/synchronous':
      return isSynchronous;
    case '/quorum':
      return isQuorum;
    case '/async':
    case '/asynchronous':
      return conditions.isReplica && syncRole === undefined;
    case '/read-only-sync':
    case '/read-only-synchronous':
      return isWriter || isSynchronous;
    case '/read-only-quorum':
      return isWriter || isQuorum;
    default:
      return false;
  }
}

/** No role and no tag is checked. While the store was never reached, a replica is ready in failsafe mode only. */
export function judgePatroniReadiness(parameters: URLSearchParams, member: MemberView): boolean {
  if (member.hasLock) return true;
  if (!isAttached(member)) return false;
  if (member.cluster === undefined) return member.isFailsafeActive;
  const maximum = parseLagBound(parameters.get('lag') ?? '') ?? settingsOf(member).maximumLagOnFailover;
  return isWithinLag(member, maximum, parameters.get('mode') === 'write' ? 'write' : 'apply');
}

export function judgePatroniLiveness(member: MemberView): boolean {
  return settingsOf(member).isPaused || hasFreshHeartbeat(member);
}

/** Python's parse_qs drops empty values. */
function withoutEmpty(parameters: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...parameters].filter(([, value]) => value !== ''));
}
