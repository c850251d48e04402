// The node status document, and the judgement of the health checks by it, as Patroni 4.1 gives them (api.py): see the
// captures of real members. Independent of src.
import type { Tags } from './store.ts';
import type { PostgresServer } from '../postgres/server.ts';
import type { StoreView } from './store.ts';

/** A manager as its API shows it. */
export interface ManagerView {
  readonly name: string;
  readonly scope: string;
  readonly version: string;
  readonly server: PostgresServer;
  /** Its task with PostgreSQL. Undefined: there is none. */
  readonly task: string | undefined;
  /** The role of the member, where PostgreSQL cannot tell. */
  readonly role: string;
  /** By its own wall clock. */
  readonly isLeader: boolean;
  /** As of its last loop. Undefined: the store has not answered since it started. */
  readonly view: StoreView | undefined;
  /** Seconds since the epoch. */
  readonly storeSeenAt: number;
  readonly tags: Tags;
  readonly isStandbySynchronous: boolean;
}

export interface NodeDocument {
  readonly state: string;
  readonly role: string;
  readonly timeline?: number;
  readonly xlog?: Readonly<Record<string, number | boolean | string | null>>;
  readonly replication_state?: string;
  readonly sync_standby?: boolean;
  readonly [key: string]: unknown;
}

export function nodeDocument(manager: ManagerView): NodeDocument {
  const { server, view, name, scope, version, tags } = manager;
  const about = {
    ...(view !== undefined && view.leader === undefined && { cluster_unlocked: true }),
    ...(view?.config.pause === true && { pause: true }),
    dcs_last_seen: Math.floor(manager.storeSeenAt),
    ...(Object.keys(tags).length > 0 && { tags }),
    database_system_identifier: server.systemIdentifier,
    patroni: { version, scope, name },
  };
  const state = server.state();
  if (state !== 'standby' && state !== 'promoting' && state !== 'primary') {
    return { state: manager.task ?? stateOf(state), role: manager.role, ...about };
  }
  const isReplica = server.isInRecovery();
  const replication = server.standbys().map(({ standby }) => ({
    application_name: standby,
    state: 'streaming',
    sync_state: server.synchronousStandbys().includes(standby) ? 'sync' : 'async',
  }));
  return {
    state: manager.task ?? 'running',
    postmaster_start_time: `${new Date(server.startedAtWall()).toISOString().replace('T', ' ').slice(0, -1)}+00:00`,
    role: isReplica ? 'replica' : 'primary',
    server_version: Number.parseInt(server.options.version, 10) * 10_000,
    xlog: isReplica
      ? {
          received_location: server.wal.end(),
          replayed_location: server.position(),
          replayed_timestamp: null,
          paused: server.isReplayPaused(),
        }
      : { location: server.wal.flushed() },
    timeline: server.timeline(),
    ...(replication.length > 0 && { replication }),
    ...(isReplica && server.isStreaming() && { replication_state: 'streaming' }),
    ...(isReplica && manager.isStandbySynchronous && { sync_standby: true }),
    ...about,
  };
}

function stateOf(state: 'stopped' | 'starting' | 'stopping' | 'crashed'): string {
  // A server that has just died: Patroni has not looked yet.
  return state === 'crashed' ? 'unknown' : state;
}

/** The status of a health check. Undefined: the path is none. */
export function healthStatus(
  path: string,
  query: URLSearchParams,
  manager: ManagerView,
  document = nodeDocument(manager),
): 200 | 503 | undefined {
  const { tags, isLeader, view } = manager;
  const areTagsRight = [...query]
    .filter(([key]) => key.startsWith('tag_'))
    .every(([key, value]) => tagText(tags[key.slice('tag_'.length)]) === value);
  const isRunningReplica = document.role === 'replica' && document.state === 'running';
  const isReplica =
    isRunningReplica &&
    areTagsRight &&
    tags['noloadbalance'] !== true &&
    !isLagging(document, query.get('lag'), view) &&
    (query.get('replication_state') ?? document.replication_state) === document.replication_state;
  const isSynchronous = isReplica && document.sync_standby === true;
  const isPrimary = document.role === 'primary' && isLeader;
  const status = ((): boolean | undefined => {
    switch (path) {
      case '/':
      case '/primary':
      case '/master':
      case '/read-write':
      case '/leader':
        return isLeader;
      case '/standby-leader':
        return false;
      case '/replica':
        return isReplica;
      case '/read-only':
        return (isPrimary && areTagsRight) || isReplica;
      case '/sync':
      case '/synchronous':
        return isSynchronous && view !== undefined;
      case '/read-only-sync':
        return isPrimary || isSynchronous;
      case '/async':
      case '/asynchronous':
        return isReplica && !isSynchronous && view !== undefined;
      case '/health':
        return document.state === 'running';
      case '/readiness':
        return isLeader || (isRunningReplica && document.replication_state === 'streaming');
      default:
        return undefined;
    }
  })();
  if (status === undefined) return undefined;
  return status ? 200 : 503;
}

/** An unknown position of the leader is no lag: Patroni fails open. */
function isLagging({ xlog }: NodeDocument, lag: string | null, view: StoreView | undefined): boolean {
  const leaderAt = view?.lastPosition ?? 0;
  if (lag === null || leaderAt === 0) return false;
  return leaderAt > Number(xlog?.['replayed_location'] ?? 0) + bytesOf(lag);
}

const UNITS: Readonly<Record<string, number>> = { kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

function bytesOf(lag: string): number {
  const [, number, unit = ''] = /^(\d+)(\w*)$/.exec(lag) ?? [];
  return Number(number) * (UNITS[unit] ?? 1);
}

function tagText(tag: Tags[string] | undefined): string | undefined {
  if (tag === undefined) return undefined;
  return typeof tag === 'string' ? tag : String(tag).toLowerCase();
}

/** GET /cluster. */
export function clusterDocument(scope: string, view: StoreView): object {
  const members = view.members.map((member) => {
    const isLeader = member.name === view.leader;
    const isSynchronous = view.sync?.standby === member.name && !isLeader;
    const lagOf = (position: number | undefined): number | 'unknown' =>
      position === undefined ? 'unknown' : Math.max(0, view.lastPosition - position);
    return {
      name: member.name,
      role: isLeader ? 'leader' : isSynchronous ? 'sync_standby' : 'replica',
      state: isLeader ? member.state : (member.replicationState ?? member.state),
      api_url: member.apiUrl,
      host: member.host,
      port: member.port,
      ...(member.timeline !== undefined && { timeline: member.timeline }),
      ...(Object.keys(member.tags).length > 0 && { tags: member.tags }),
      ...(!isLeader && {
        receive_lag: lagOf(member.position),
        replay_lag: lagOf(member.replayed),
        lag: lagOf(member.position),
      }),
    };
  });
  const { failover, config } = view;
  const scheduled =
    failover?.at === undefined
      ? undefined
      : { at: new Date(failover.at).toISOString(), from: failover.leader, to: failover.candidate };
  return {
    members,
    ...(config.pause === true && { pause: true }),
    ...(scheduled && { scheduled_switchover: scheduled }),
    scope,
  };
}

/** GET /history. */
export function historyDocument(view: StoreView): readonly unknown[] {
  return view.history.map(({ timeline, end, at, newLeader }) => [
    timeline,
    end,
    'no recovery target specified',
    new Date(at).toISOString().replace('Z', '+00:00'),
    newLeader,
  ]);
}
