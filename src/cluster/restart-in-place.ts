// A restart that moves sessions. The member's sessions leave it before its PostgreSQL stops: those that can move are
// parked, and go on at another member of their pool, or at this one when it is back. The others end between two
// transactions. A time limit in the snapshot ends that even if no answer comes.
import type { Handover } from '../core/snapshot.ts';
import type { Clock } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { MovesPolicy } from '../model/moves.ts';
import type { PoolName } from '../model/policy.ts';
import type { ClusterControl, ClusterOperation } from './control.ts';
import { ChangeWaiter } from './switchover/change-waiter.ts';

export interface RestartInPlaceOptions {
  readonly clock: Clock;
  /** As it is now. Undefined: no session moves, and PostgreSQL itself ends the sessions of a restart. */
  readonly moves: () => Pick<MovesPolicy, 'waitMs' | 'parkTimeoutMs'> | undefined;
  /** Synchronous. Undefined: the handover is over. */
  readonly handOver: (handover: Handover | undefined) => void;
  /** Sessions on the member in all processes. Never rejects. */
  readonly sessions: (member: MemberName) => Promise<number>;
  /** The pools in which the member takes new sessions now. */
  readonly pools: (member: MemberName) => readonly PoolName[];
}

/** How often the number of sessions is read. Milliseconds. */
const POLL_MS = 25;
/** After the end of the time for transactions: workers report with a delay. Milliseconds. */
const SLACK_MS = 500;
/** A member that takes no sessions by then is left to the operator. Milliseconds. */
const RETURN_MS = 10_000;

type Restart = Extract<ClusterOperation, { kind: 'restart' }>;

/** Restarts that happen now move sessions; all else is left to `control`. */
export function withParking(control: ClusterControl, site: RestartInPlaceOptions): ClusterControl {
  return {
    ...control,
    async perform(operation) {
      const isNow = operation.kind === 'restart' && operation.schedule === undefined;
      // A refusal must not touch a session.
      if (!isNow || site.moves() === undefined || (await control.plan(operation)).kind === 'unreadable') {
        return control.perform(operation);
      }
      const pools = site.pools(operation.member);
      const result = await withoutSessions(operation, site, () => control.perform(operation));
      // The API is ahead of our probes: without this the next restart of a rolling one could empty a pool.
      if (result.kind === 'done') await untilBack(operation, pools, site);
      return result;
    },
  };
}

async function withoutSessions<T>(operation: Restart, site: RestartInPlaceOptions, act: () => Promise<T>): Promise<T> {
  try {
    await takeSessions(operation, site);
    return await act();
  } finally {
    site.handOver(undefined);
  }
}

/** Resolves when the member has no session any more, or the time for its transactions is over. */
async function takeSessions(
  { member }: Restart,
  { clock, moves, handOver, sessions }: RestartInPlaceOptions,
): Promise<void> {
  const { waitMs = 0, parkTimeoutMs = 0 } = moves() ?? {};
  const since = clock.now();
  const mostMs = waitMs + parkTimeoutMs;
  handOver({ operation: 'restart', member, phase: 'drain', since, mostMs, transactionMs: waitMs });
  const news = new ChangeWaiter(clock);
  while (clock.now() < since + waitMs + SLACK_MS && (await sessions(member)) > 0) await news.next(POLL_MS);
}

/** Resolves when the member takes sessions as `before`, or in another pool because its role has changed. */
async function untilBack(
  { member }: Restart,
  before: readonly PoolName[],
  { clock, pools }: RestartInPlaceOptions,
): Promise<void> {
  const isBack = (): boolean => {
    const now = pools(member);
    return before.every((pool) => now.includes(pool)) || now.some((pool) => !before.includes(pool));
  };
  const news = new ChangeWaiter(clock);
  const endsAt = clock.now() + RETURN_MS;
  while (!isBack() && clock.now() < endsAt) await news.next(POLL_MS);
}
