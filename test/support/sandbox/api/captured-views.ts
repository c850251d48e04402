// The knowledge of a manager behind a captured answer: the documents of real members, read back into views.
import { parseLsn } from '../../../../src/model/lsn.ts';
import type {
  ClusterView,
  JsonObject,
  MemberView,
  PublishedMember,
  Tags,
  WalView,
} from '../../../../src/sandbox/manager/view.ts';
import type { CapturedAnswer, Capture } from '../../values/captures.ts';

/** The parts of a node status document and of a member's entry in a cluster document that a view is made from. */
export interface CapturedStatus {
  readonly state: MemberView['state'];
  readonly role: MemberView['role'];
  readonly postmaster_start_time?: string;
  readonly server_version?: number;
  readonly timeline?: number;
  readonly xlog?: CapturedPositions;
  readonly replication_state?: 'streaming';
  readonly replication?: MemberView['replication'];
  readonly sync_standby?: true;
  readonly quorum_standby?: true;
  readonly pause?: true;
  readonly cluster_unlocked?: true;
  readonly failsafe_mode_is_active?: true;
  readonly dcs_last_seen: number;
  readonly tags?: Tags;
  readonly database_system_identifier: string;
  readonly pending_restart_reason?: MemberView['pendingRestart'];
  readonly scheduled_restart?: { readonly schedule: string };
  readonly patroni: { readonly version: string; readonly scope: string; readonly name: string };
}

interface CapturedPositions {
  readonly location?: number;
  readonly received_location: number;
  readonly replayed_location: number;
  readonly replayed_timestamp: string | null;
  readonly paused: boolean;
}

interface CapturedEntry {
  readonly name: string;
  readonly role: string;
  readonly state: PublishedMember['state'];
  readonly api_url: string;
  readonly host: string;
  readonly port: number;
  readonly timeline?: number;
  readonly tags?: Tags;
  readonly pending_restart_reason?: MemberView['pendingRestart'];
  readonly scheduled_restart?: { readonly schedule: string; readonly postmaster_start_time: string };
  readonly receive_lsn?: string;
  readonly replay_lsn?: string;
  readonly lsn?: string;
  readonly lag?: number | 'unknown';
}

interface CapturedCluster {
  readonly scope: string;
  readonly members: readonly CapturedEntry[];
  readonly scheduled_switchover?: { readonly at: string; readonly from?: string; readonly to?: string };
}

/** The member of a node status document; `cluster` and the lock are known from the node's other answers. */
export function memberOf(body: CapturedStatus, cluster: ClusterView | undefined, hasLock: boolean): MemberView {
  const { scheduled_restart: restart } = body;
  return {
    name: body.patroni.name,
    lastKnown: undefined,
    state: body.state,
    role: body.role,
    postmasterStartTime: body.postmaster_start_time,
    serverVersion: body.server_version,
    timeline: body.timeline,
    wal: body.xlog === undefined ? undefined : walOf(body.xlog),
    replicationState: body.replication_state,
    replication: body.replication ?? [],
    systemIdentifier: body.database_system_identifier,
    tags: body.tags ?? {},
    pendingRestart: body.pending_restart_reason ?? {},
    scheduledRestart: restart && { schedule: restart.schedule, postmaster_start_time: undefined },
    hasLock,
    syncRole: body.sync_standby ? 'synchronous' : body.quorum_standby ? 'quorum' : undefined,
    heartbeatAgeMs: 0,
    storeSeenAt: body.dcs_last_seen,
    cluster: {
      ...(cluster ?? NOTHING),
      leader: body.cluster_unlocked ? undefined : (cluster?.leader ?? 'somebody'),
      config: { ...cluster?.config, pause: body.pause ?? false },
    },
    isFailsafeActive: body.failsafe_mode_is_active ?? false,
  };
}

function walOf(xlog: CapturedPositions): WalView {
  if (xlog.location !== undefined) return { kind: 'primary', location: xlog.location };
  return {
    kind: 'replica',
    received: xlog.received_location,
    replayed: xlog.replayed_location,
    replayedAt: xlog.replayed_timestamp ?? undefined,
    isPaused: xlog.paused,
  };
}

const NOTHING: ClusterView = {
  scope: 'lab',
  leader: undefined,
  leaderPosition: undefined,
  members: [],
  config: {},
  history: [],
  switchover: undefined,
  synchronous: [],
  quorum: [],
};

/** Everything one node said that a view of the cluster can be made from; undefined when it told no cluster document. */
export function clusterOfNode(capture: Capture, node: string): ClusterView | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixture
  const body = bodyOf(capture, node, '/cluster') as CapturedCluster | undefined;
  if (body === undefined) return undefined;
  const { members, scheduled_switchover: planned } = body;
  const named = (role: string): string[] => members.filter((one) => one.role === role).map(({ name }) => name);
  const positions = members.flatMap(({ lsn = '', lag }) =>
    typeof lag === 'number' ? [(parseLsn(lsn) ?? 0) + lag] : [],
  );
  return {
    ...NOTHING,
    scope: body.scope,
    leader: [...named('leader'), ...named('standby_leader')][0],
    // A replica that is ahead of it has no lag either.
    leaderPosition: positions.length === 0 ? undefined : Math.min(...positions),
    members: members.map(publishedOf),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixture
    config: (bodyOf(capture, node, '/config') ?? {}) as JsonObject,
    switchover: planned && { at: planned.at, from: planned.from, to: planned.to },
    synchronous: named('sync_standby'),
    quorum: named('quorum_standby'),
  };
}

function publishedOf(entry: CapturedEntry): PublishedMember {
  return {
    name: entry.name,
    apiUrl: entry.api_url,
    host: entry.host,
    port: entry.port,
    role: 'replica',
    state: entry.state,
    timeline: entry.timeline,
    received: parseLsn(entry.receive_lsn ?? ''),
    replayed: parseLsn(entry.replay_lsn ?? ''),
    lastKnown: undefined,
    tags: entry.tags ?? {},
    pendingRestart: entry.pending_restart_reason ?? {},
    scheduledRestart: entry.scheduled_restart,
  };
}

/** It said yes where only the holder of the leader lock does. */
export function holdsLock(capture: Capture, node: string): boolean {
  return capture.answers.some(
    (answer) =>
      answer.node === node &&
      answer.status === 200 &&
      ['/', '/primary', '/leader', '/standby-leader'].includes(answer.path),
  );
}

/** Undefined when the answer is no node status document. */
export function statusOf({ body }: CapturedAnswer): CapturedStatus | undefined {
  const isStatus = typeof body === 'object' && body !== null && 'patroni' in body;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixture
  return isStatus ? (body as unknown as CapturedStatus) : undefined;
}

function bodyOf(capture: Capture, node: string, path: string): unknown {
  return capture.answers.find((answer) => answer.node === node && answer.path === path && answer.status === 200)?.body;
}
