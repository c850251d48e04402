// Patroni's rules for who may take the leader lock and who has to let go of it, as pure decisions (ha.py). Independent
// of the sandbox in src and of every rule of Pointsman.
import type { MemberKey, StoreView, SyncKey } from './store.ts';

/** A member as it sees itself. */
export interface OwnState {
  readonly name: string;
  readonly isRunning: boolean;
  readonly isPrimary: boolean;
  readonly timeline: number;
  /** Received, or written. */
  readonly position: number;
  readonly isNoFailover: boolean;
}

/** The answer of another member's API to a member that wants the lock. Undefined fields: not known. */
export interface PeerAnswer {
  readonly name: string;
  readonly isPrimary: boolean;
  readonly isRunning: boolean;
  readonly timeline: number;
  readonly position: number;
  readonly isNoFailover: boolean;
}

export type Candidacy = { readonly kind: 'stand' } | { readonly kind: 'yield'; readonly why: string };

const STAND: Candidacy = { kind: 'stand' };

/** Before anybody is asked. */
export function mayStand(own: OwnState, view: StoreView, nowMs: number): Candidacy {
  const { config, failover, sync, history } = view;
  if (!own.isRunning) return yields('PostgreSQL does not run');
  if (own.isNoFailover) return yields('the tag nofailover is set');
  const isOrdered = failover !== undefined && (failover.at === undefined || failover.at <= nowMs);
  if (isOrdered && failover.candidate !== undefined) {
    if (failover.candidate === own.name) return STAND;
    if (view.members.some(({ name }) => name === failover.candidate))
      return yields(`${failover.candidate} is the candidate`);
  } else if (config.pause === true && !own.isPrimary) return yields('the cluster is paused');
  if (isOrdered && failover.leader === own.name) return yields('it was told to give the lock away');
  const highest = (history.at(-1)?.timeline ?? 0) + 1;
  if (!own.isPrimary && own.timeline < highest) return yields(`it is on timeline ${own.timeline}, not ${highest}`);
  if (config.synchronous_mode === true && !mayLead(own.name, sync)) return yields('it is no synchronous standby');
  const lag = view.lastPosition - own.position;
  if (lag > config.maximum_lag_on_failover) return yields(`it lacks ${lag} bytes`);
  return STAND;
}

/** With the answers of the other members, as far as they came. */
export function isHealthiest(
  own: OwnState,
  peers: readonly PeerAnswer[],
  { failover, sync, config }: StoreView,
): Candidacy {
  if (failover?.candidate === own.name) return STAND;
  for (const peer of peers) {
    if (peer.isPrimary && !own.isPrimary) return yields(`${peer.name} is a primary`);
    if (peer.isNoFailover || !peer.isRunning) continue;
    if (config.synchronous_mode === true && !mayLead(peer.name, sync)) continue;
    if (peer.timeline >= own.timeline && peer.position > own.position) return yields(`${peer.name} has more WAL`);
  }
  return STAND;
}

/** Only the last leader and its synchronous standby have every commit that was confirmed. */
function mayLead(name: string, sync: SyncKey | undefined): boolean {
  return sync === undefined || sync.leader === name || sync.standby === name;
}

/** POST /switchover and /failover. Undefined: it may be ordered. */
export function refusalOfOrder(
  { leader, candidate }: { readonly leader?: string; readonly candidate?: string },
  { leader: current, members, config, sync }: StoreView,
  isFailover: boolean,
): string | undefined {
  if (isFailover && candidate === undefined) return 'Failover could be performed only to a specific candidate';
  if (!isFailover && leader === undefined) return 'Switchover could be performed only from a specific leader';
  if (config.pause === true && candidate === undefined)
    return 'Switchover is possible only to a specific candidate in a paused state';
  if (leader !== undefined && current !== leader) return 'leader name does not match';
  if (candidate !== undefined) {
    if (candidate === current) return 'candidate is the current leader';
    const isKnown = members.some(({ name }) => name === candidate);
    if (!isKnown) return 'candidate does not exists';
    if (config.synchronous_mode === true && !isFailover && sync?.standby !== candidate) {
      return 'candidate name does not match with sync_standby';
    }
  } else if (members.every(({ name }) => name === current))
    return `${isFailover ? 'failover' : 'switchover'} is not possible: cluster does not have members except leader`;
  return undefined;
}

/** The standby that a commit has to wait for: the present one as long as it streams. Undefined: there is none. */
export function chooseSynchronous(
  present: string | undefined,
  streaming: readonly { readonly name: string; readonly flushed: number }[],
  members: readonly MemberKey[],
): string | undefined {
  const usable = streaming.filter(({ name }) => {
    const member = members.find((one) => one.name === name);
    return member !== undefined && member.tags['nosync'] !== true && member.tags['nofailover'] !== true;
  });
  if (usable.some(({ name }) => name === present)) return present;
  return usable.toSorted((one, other) => other.flushed - one.flushed)[0]?.name;
}

function yields(why: string): Candidacy {
  return { kind: 'yield', why };
}
