// The proxy's counts per pool and per worker, for /status and metrics, read in one call at the moment of the request.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { SessionState } from './session-state.ts';

/** One of several processes that serve clients. */
export interface WorkerStatus {
  /** 1, 2, 3 …: its slot. A replacement gets the same number. */
  readonly number: number;
  /** Undefined while the worker is being replaced. */
  readonly pid: number | undefined;
  /** It accepts clients. */
  readonly isReady: boolean;
  readonly startedAt: Instant | undefined;
  /** How often the worker of this slot was replaced. */
  readonly restarts: number;
  readonly sessions: number;
  /** User and system time since its start. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export interface PoolCounts {
  /** Live sessions by state. */
  readonly states: Readonly<Record<Exclude<SessionState, 'closed'>, number>>;
  /** Sessions that connect or relay, by member. Absent: none. */
  readonly members: ReadonlyMap<MemberName, number>;
  /** Of these, the ones that began while the pool was served by its fallback. */
  readonly fallbackSessions: number;
  /** Slow start: the share of their weight that members have now. Absent: the whole. */
  readonly ramping?: ReadonlyMap<MemberName, number>;
  /** Since when the fallback, or lagging members, serve the pool. Absent: they do not. */
  readonly degradedSince?: Instant | undefined;
  /** The start of the longest wait for a member that is not over. Absent: nobody waits. */
  readonly heldSince?: Instant | undefined;
  /** Connections since the start, counted at the pool of their listener. */
  readonly accepted: number;
  /** Counted at the pool that they asked for. Over all pools: accepted = closed + the sum of `states`. */
  readonly closed: number;
  /** Bytes relayed since the start. */
  readonly toBackendBytes: number;
  readonly toClientBytes: number;
}
