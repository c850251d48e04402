// The answers of a fake member: Patroni's rules for its health checks and the status document, as far as tests need
// them.
import { parseSize } from '../../../src/model/check.ts';
import type { FakeMemberState } from './fake-member.ts';

export function nodeStatusDocument(name: string, member: FakeMemberState): Record<string, unknown> {
  const isPrimary = member.role === 'primary' || member.role === 'master';
  const replayed = member.location - member.lagBytes;
  const xlog = isPrimary
    ? { location: member.location }
    : { received_location: member.location, replayed_location: replayed, replayed_timestamp: null, paused: false };
  return {
    state: member.state,
    role: member.role,
    server_version: 150018,
    ...(member.state === 'running'
      ? { xlog, timeline: member.timeline, postmaster_start_time: '2026-11-25 08:30:00.000000+00:00' }
      : {}),
    ...(isPrimary || member.replicationState === undefined ? {} : { replication_state: member.replicationState }),
    dcs_last_seen: 1_795_234_895,
    ...(Object.keys(member.tags).length === 0 ? {} : { tags: member.tags }),
    database_system_identifier: member.systemIdentifier,
    [member.dialect]: { version: member.version, scope: member.scope, name },
    ...member.extra,
  };
}

/** The status of any path, by Patroni's order of substrings; what it does not know is 503. */
export function healthStatus(member: FakeMemberState, path: string): 200 | 503 {
  const [bare = '', query = ''] = path.split('?');
  return isYes(member, bare, new URLSearchParams(query)) ? 200 : 503;
}

function isYes(member: FakeMemberState, path: string, query: URLSearchParams): boolean {
  const isPrimary = member.hasLock && member.role !== 'standby_leader';
  if (path === '/patroni' || path === '/manager') return path === `/${member.dialect}`;
  if (path.includes('standby-leader')) return member.hasLock && member.role === 'standby_leader';
  if (path.includes('leader')) return member.hasLock;
  if (path === '/' || path.includes('primary') || path.includes('read-write')) return isPrimary;
  if (path.includes('read-only')) return (isPrimary && hasTags(member, query)) || isReplica(member, query);
  if (path.includes('replica') || path.includes('async')) return isReplica(member, query);
  if (path.includes('sync')) return isReplica(member, query) && member.extra['sync_standby'] === true;
  if (path.includes('quorum')) return isReplica(member, query) && member.extra['quorum_standby'] === true;
  if (path.includes('health')) return member.state === 'running' && hasTags(member, query);
  if (path.includes('liveness')) return true;
  return path.includes('readiness') && member.state === 'running';
}

function isReplica(member: FakeMemberState, query: URLSearchParams): boolean {
  const bound = parseSize(query.get('lag') ?? '');
  const isLagging = bound !== undefined && member.lagBytes > bound;
  const isOut = Boolean(member.tags['noloadbalance']);
  return member.role === 'replica' && member.state === 'running' && !isLagging && !isOut && hasTags(member, query);
}

function hasTags(member: FakeMemberState, query: URLSearchParams): boolean {
  return [...query].every(([key, value]) => {
    if (!key.startsWith('tag_')) return true;
    const tag = member.tags[key.slice('tag_'.length)];
    return (typeof tag === 'string' ? tag : String(tag).toLowerCase()) === value;
  });
}
