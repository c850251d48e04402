// What the proxy counts per pool; status and metrics read it, in one call, at the moment they are asked.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { SessionState } from './session-state.ts';

/** One of several processes that serve clients. */
export interface WorkerStatus {
  /** 1, 2, 3 …: its place, which the one that replaces it takes. */
  readonly number: number;
  /** Undefined while it is being replaced. */
  readonly pid: number | undefined;
  /** It accepts clients. */
  readonly isReady: boolean;
  readonly startedAt: Instant | undefined;
  /** How often the worker of this place was replaced. */
  readonly restarts: number;
  readonly sessions: number;
  /** User and system, since its start. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export interface PoolCounts {
  /** Live sessions by state. */
  readonly states: Readonly<Record<Exclude<SessionState, 'closed'>, number>>;
  /** Dialing and relaying sessions by member; absent: none. */
  readonly members: ReadonlyMap<MemberName, number>;
  /** Of these, the ones that came while the pool lived on another pool's members. */
  readonly fallbackSessions: number;
  /** The part of its weight that a member has by now, of those that have not the whole yet (slow start). */
  readonly ramping?: ReadonlyMap<MemberName, number>;
  /** Since when the pool lives on its fallback, or on members that lag; absent: it does not. */
  readonly degradedSince?: Instant | undefined;
  /** Connections since the start, by the pool of their listener. */
  readonly accepted: number;
  /** By the pool they asked for. Over all pools, accepted = closed + the sum of `states`. */
  readonly closed: number;
  /** Bytes relayed since the start. */
  readonly toBackendBytes: number;
  readonly toClientBytes: number;
}
