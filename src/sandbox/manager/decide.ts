// The decision in a manager's heartbeat, as Patroni makes it: what the member knows now in, the one thing to do next
// out. Pure. The rule behind it: PostgreSQL is a primary only under the leader lock, and only the lock's holder changes
// that.
import type { ServerRole, Upstream } from '../postgres/server-types.ts';
import type { ClusterSettings, SwitchoverRecord } from './view.ts';

export type LockView =
  | { readonly kind: 'mine' }
  | { readonly kind: 'held'; readonly by: string; readonly address: Upstream | undefined }
  | { readonly kind: 'free'; readonly freeMs: number }
  /** The store does not answer. `isVouched`: failsafe_mode is on, and every other member answers the leader. */
  | { readonly kind: 'unreachable'; readonly silentMs: number; readonly isVouched: boolean };

export interface Situation {
  readonly me: string;
  readonly lock: LockView;
  /** `starting`: it runs and does not accept connections yet. `hanging`: a query does not return. */
  readonly server: 'stopped' | 'starting' | 'primary' | 'standby' | 'hanging';
  /** The server was a primary when last seen. */
  readonly wasPrimary: boolean;
  /** The server that its standby streams from. */
  readonly upstream: Upstream | undefined;
  /** Failed starts in a row. */
  readonly failedStarts: number;
  /** Its WAL continued after the point where the leader left that timeline. */
  readonly hasDiverged: boolean;
  /** How long it has not streamed, although the leader runs. */
  readonly notStreamingMs: number;
  readonly settings: ClusterSettings;
  readonly switchover: SwitchoverRecord | undefined;
  /** The time of the planned switchover has come. */
  readonly isSwitchoverDue: boolean;
}

export type ManagerStep =
  | { readonly kind: 'nothing'; readonly why: string }
  /** Go on as leader: record the WAL position, name the synchronous standbys. */
  | { readonly kind: 'lead' }
  | { readonly kind: 'start'; readonly role: ServerRole }
  | { readonly kind: 'promote' }
  | { readonly kind: 'follow'; readonly upstream: Upstream | undefined }
  | {
      readonly kind: 'demote';
      readonly mode: 'fast' | 'immediate';
      readonly upstream: Upstream | undefined;
      readonly why: string;
    }
  | { readonly kind: 'hand_over' }
  /** Compare with the other members, then try to acquire the lock. */
  | { readonly kind: 'compete' }
  /** Try to get the lock without a comparison. */
  | { readonly kind: 'acquire' }
  | { readonly kind: 'release'; readonly why: string }
  | { readonly kind: 'rebuild'; readonly from: string };

/** After this many failed starts a replica is made anew. */
const STARTS_BEFORE_REBUILD = 3;
/** Longer than a restart of the leader. Milliseconds. */
const REBUILD_AFTER_NOT_STREAMING_MS = 15_000;
/** A free lock is left this long to the member that was named for it. */
const RESERVED_MS = 3_000;

export function decide(situation: Situation): ManagerStep {
  const { server, lock } = situation;
  if (server === 'hanging') return nothing('PostgreSQL does not answer');
  // A start in progress is a task of its own, so this one takes too long. Only from a leader can it be made anew.
  if (server === 'starting' && lock.kind !== 'held') return nothing('PostgreSQL does not take connections yet');
  switch (lock.kind) {
    case 'mine':
      return decideWithLock(situation);
    case 'held':
      return decideAsFollower(situation, lock);
    case 'free':
      return decideUnlocked(situation, lock.freeMs);
    case 'unreachable':
      return decideWithoutStore(situation, lock);
  }
}

function decideWithLock(situation: Situation): ManagerStep {
  const { server, settings } = situation;
  const { standbyCluster } = settings;
  if (server === 'stopped') return startWithLock(situation);
  const mayHandOver = situation.isSwitchoverDue && isMineToCarryOut(situation);
  if (standbyCluster === undefined) {
    if (server === 'standby') return { kind: 'promote' };
    return { kind: mayHandOver ? 'hand_over' : 'lead' };
  }
  const upstream = remote(standbyCluster);
  if (server === 'primary') return { kind: 'demote', mode: 'fast', upstream, why: 'this is a standby cluster now' };
  if (mayHandOver) return { kind: 'hand_over' };
  return isSameUpstream(situation.upstream, upstream) ? { kind: 'lead' } : { kind: 'follow', upstream };
}

function startWithLock(situation: Situation): ManagerStep {
  const { settings, failedStarts, wasPrimary } = situation;
  if (settings.isPaused) return { kind: 'release', why: 'PostgreSQL is stopped and the cluster is paused' };
  if (failedStarts > 0) return { kind: 'release', why: 'PostgreSQL does not start' };
  if (settings.standbyCluster !== undefined) return startStandby(remote(settings.standbyCluster));
  // A former standby begins a new timeline: it is promoted once it runs.
  return wasPrimary ? { kind: 'start', role: { kind: 'primary' } } : startStandby(undefined);
}

function decideAsFollower(situation: Situation, lock: Extract<LockView, { kind: 'held' }>): ManagerStep {
  const { server, settings } = situation;
  if (settings.isPaused && (server === 'primary' || server === 'stopped')) {
    return nothing(server === 'primary' ? 'paused: goes on as primary without the lock' : 'paused: stays stopped');
  }
  if (server === 'primary')
    return { kind: 'demote', mode: 'immediate', upstream: lock.address, why: `${lock.by} leads` };
  if (server === 'stopped') {
    return situation.failedStarts >= STARTS_BEFORE_REBUILD
      ? { kind: 'rebuild', from: lock.by }
      : startStandby(lock.address);
  }
  const isBeyondRepair =
    server === 'starting' || situation.hasDiverged || situation.notStreamingMs > REBUILD_AFTER_NOT_STREAMING_MS;
  if (isBeyondRepair && !settings.isPaused) return { kind: 'rebuild', from: lock.by };
  // A leader without an address will publish one.
  if (lock.address === undefined || isSameUpstream(situation.upstream, lock.address))
    return nothing(`follows ${lock.by}`);
  return { kind: 'follow', upstream: lock.address };
}

function decideUnlocked(situation: Situation, freeMs: number): ManagerStep {
  const { me, server, settings, switchover } = situation;
  const isPlanned = switchover !== undefined && situation.isSwitchoverDue;
  if (isPlanned && switchover.to === me && server === 'standby') return { kind: 'acquire' };
  if (isPlanned && freeMs < RESERVED_MS) {
    if (switchover.to !== undefined) return nothing(`the lock is for ${switchover.to}`);
    if (switchover.from === me) return nothing('the lock is for anybody else');
  }
  if (server === 'primary') return { kind: 'acquire' };
  if (settings.isPaused) return nothing('paused: no automatic failover');
  return server === 'stopped' ? startStandby(undefined) : { kind: 'compete' };
}

function decideWithoutStore(situation: Situation, lock: Extract<LockView, { kind: 'unreachable' }>): ManagerStep {
  const { server, settings } = situation;
  if (settings.isPaused) return nothing('paused: the store does not answer');
  if (server === 'stopped') return startStandby(situation.upstream);
  if (server === 'standby') return nothing('the store does not answer');
  if (lock.isVouched) return nothing('failsafe: every other member answers');
  if (lock.silentMs <= settings.retryTimeoutMs) return nothing('the store does not answer yet');
  return { kind: 'demote', mode: 'fast', upstream: undefined, why: 'the store does not answer' };
}

function isMineToCarryOut({ me, switchover }: Situation): boolean {
  if (switchover === undefined || switchover.to === me) return false;
  return switchover.from === undefined || switchover.from === me;
}

function remote(standbyCluster: NonNullable<ClusterSettings['standbyCluster']>): Upstream | undefined {
  const { host, port } = standbyCluster;
  return host === undefined ? undefined : { host, port: port ?? 5432 };
}

function startStandby(upstream: Upstream | undefined): ManagerStep {
  return { kind: 'start', role: { kind: 'standby', upstream } };
}

function nothing(why: string): ManagerStep {
  return { kind: 'nothing', why };
}

export function isSameUpstream(a: Upstream | undefined, b: Upstream | undefined): boolean {
  return a?.host === b?.host && a?.port === b?.port;
}
