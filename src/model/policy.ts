// The operator's decisions as plain data. config/ parses them and owns the defaults. Durations are in milliseconds,
// sizes in bytes.
import type { MemberTls } from './member-tls.ts';
import type { Check } from './check.ts';
import type { CausalReadsPolicy } from './causal-reads.ts';
import type { LeaveCause } from './close-reason.ts';
import type { KeyPairFiles } from './key-pair.ts';
import type { Address } from './member.ts';
import type { MovesPolicy } from './moves.ts';

export type PoolName = string;

/** The pace of probing and the clocks of the evidence model (guarantees.md). */
export interface ProbePolicy {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly urgent: { readonly intervalMs: number; readonly forMs: number };
  /** Consecutive answers that bring a member into a pool that is not exclusive, or take it out. */
  readonly rise: number;
  readonly fall: number;
  /** New sessions of an exclusive pool need positive evidence younger than this. */
  readonly writeMaxAgeMs: number;
  readonly readMaxAgeMs: number;
  /** Live sessions on a silent member end when its last good answer is this old. */
  readonly silenceGraceMs: number;
  /**
   * A replica loses its sessions when its API and PostgreSQL port are silent for this many probes and another member
   * can serve. Undefined: never.
   */
  readonly silentProbes: number | undefined;
  readonly vouching: boolean;
}

/** How the live sessions of a member that left the pool end: the hardest mode first. */
export const LEAVE_MODES = [
  /** They end synchronously. */
  'close',
  /** As with `drain`, but a session that can move goes on at another member. */
  'move',
  /** Each ends between two transactions, the rest at a deadline. Cancelled when the member returns. */
  'drain',
  /** The same without the deadline: a session that is never seen between two transactions stays. */
  'drain_idle',
  /** They stay. */
  'keep',
] as const;
export type LeaveMode = (typeof LEAVE_MODES)[number];

/** `a` asks more of the sessions than `b`. */
export function isHarder(a: LeaveMode, b: LeaveMode): boolean {
  return LEAVE_MODES.indexOf(a) < LEAVE_MODES.indexOf(b);
}

/**
 * `latency`: as the fewest sessions, but a member that answers slowly gets less. `client_address`: all sessions of an
 * address go to one member, while the same members are open.
 */
export type Balance = 'least_sessions' | 'latency' | 'round_robin' | 'random' | 'client_address';

/** `fallback`: to the fallback, if there is one. `refuse`: not even to the fallback. */
export type WhenAllLagging = 'refuse' | 'least_lagging' | 'fallback';

/** A member that came back gets its share of the open sessions that can move. */
export interface RebalancePolicy {
  /** Sessions that begin to move in a second, over all processes. */
  readonly perSecond: number;
}

export interface PoolPolicy {
  readonly name: PoolName;
  readonly check: Check;
  /** At most one member at any instant. Other pools have that member by fallback only. */
  readonly exclusive: boolean;
  readonly balance: Balance;
  /** The tag that holds a member's weight. */
  readonly weightTag: string | undefined;
  /** The tag that holds a member's zone. Members of our own zone come first. */
  readonly zoneTag: string | undefined;
  /** Slow start: how long the share of a member that opened after the others takes to grow to the whole. */
  readonly slowStartMs: number;
  /** Sessions older than this, plus or minus 10 %, end between two transactions. */
  readonly maxSessionAgeMs: number | undefined;
  readonly fallback: { readonly pool: PoolName; readonly maxSessions: number } | undefined;
  /** A replica lags whose data is older than this. Undefined: data of any age will do. */
  readonly maxStalenessMs: number | undefined;
  /** Where reads go while no member is open because of lag. */
  readonly whenAllLagging: WhenAllLagging;
  /** For `least_lagging`: the most sessions that may begin meanwhile. */
  readonly maxLaggingSessions: number;
  readonly onLeave: Readonly<Record<LeaveCause, LeaveMode>>;
  /** How long `drain` waits before it closes. */
  readonly drainTimeoutMs: number;
  /** Sessions that another member would serve better stay this long first, so that a short change moves no session. */
  readonly relocateAfterMs: number;
  /** Absent: a read may miss acknowledged writes. */
  readonly causalReads?: CausalReadsPolicy | undefined;
  /** Absent: open sessions stay where they are. */
  readonly rebalance?: RebalancePolicy | undefined;
}

/** When new clients of the primary begin to wait for a scheduled switchover. */
export interface SwitchoverPolicy {
  /** This long before the scheduled time. 0: only when the primary itself steps down. */
  readonly beforeSwitchoverMs: number;
}

/** Everything that decideRoutes needs beside the snapshot. Pools are in the operator's order. */
export interface RoutingPolicy {
  readonly probe: ProbePolicy;
  readonly hold: SwitchoverPolicy;
  readonly pools: readonly PoolPolicy[];
  /** Absent: no session moves. */
  readonly moves?: MovesPolicy | undefined;
  /** Our own zone. */
  readonly zone?: string | undefined;
}

export interface ListenerPolicy {
  /** With a directory as its host: a Unix socket. */
  readonly address: Address;
  readonly pool: PoolName;
  /**
   * Other processes of this user may share the port, if they set this too. The kernel distributes the connections. The
   * file of a Unix socket is taken over from another process.
   */
  readonly reusePort?: boolean | undefined;
  /** The mode of the file of a Unix socket. Undefined: 0o777. */
  readonly unixSocketMode?: number | undefined;
  /** Load balancers in these networks send the header of the PROXY protocol before everything. CIDR. */
  readonly proxyNetworks?: readonly string[] | undefined;
}

/** Limits towards clients. */
export interface ClientPolicy {
  /** One absolute deadline for everything up to the startup message. */
  readonly startupTimeoutMs: number;
  /** Accepted connections at a time, over all listeners, held ones included. */
  readonly maxSessions: number;
  /** The most of them from one address. Undefined: no limit of their own. */
  readonly maxSessionsPerAddress?: number | undefined;
  /** The most of them without a complete startup message. Undefined: no limit of their own. */
  readonly maxHandshakes?: number | undefined;
  /** Sessions ended per second for reasons that can wait. */
  readonly maxDisconnectsPerSecond: number;
  /** A client that has sent nothing for so long is probed (TCP keepalive). Undefined: never. */
  readonly tcpKeepalivesIdleMs?: number | undefined;
  /** A client that acknowledges no sent byte for so long has vanished. Undefined: the kernel decides. */
  readonly tcpUserTimeoutMs?: number | undefined;
  readonly tls: ClientTls;
}

/**
 * `passthrough`: the members answer TLS. `terminate`: Pointsman answers it for clients that ask for it. `require`: the
 * same, and plain text is refused.
 */
export type ClientTls = { readonly mode: 'passthrough' } | ({ readonly mode: 'terminate' | 'require' } & KeyPairFiles);

/** Limits towards members. */
export interface BackendPolicy {
  readonly connectTimeoutMs: number;
  /** After this time without an answer, a connect to the next member starts as well. Undefined: never. */
  readonly attemptDelayMs: number | undefined;
  /** Connects per client, to other members where there are any, while no client byte was forwarded. */
  readonly connectAttempts: number;
  /** A server that has sent nothing for so long is probed (TCP keepalive). Undefined: never. */
  readonly tcpKeepalivesIdleMs?: number | undefined;
  /** A server that acknowledges no sent byte for so long has vanished. Undefined: the kernel decides. */
  readonly tcpUserTimeoutMs?: number | undefined;
  /** Undefined: plain text. */
  readonly tls?: MemberTls | undefined;
}

/**
 * How bytes get from client to backend and back. `auto`: through the handles under Node's streams, which is cheaper,
 * when the self-test at the start finds that it works here. `streams`: always through Node's documented streams.
 */
export type RelayMode = 'auto' | 'streams';

/** How long and how many clients wait while a pool has no route. */
export interface HoldPolicy {
  readonly clientTimeoutMs: number;
  readonly maxSessions: number;
  /** Once a pool has been without a route for this long, its clients are refused at once. */
  readonly outageTimeoutMs: number;
  /** Held clients that may connect per second when a route opens. */
  readonly maxConnectsPerSecond: number;
}

export interface ShutdownPolicy {
  /** From readiness 503 to the end of the listeners: time for load balancers to notice. */
  readonly graceMs: number;
  /** From then on: how long sessions may end by themselves. */
  readonly waitMs: number;
  /** From then on: how long the drain may take before the remaining sessions are closed. */
  readonly drainTimeoutMs: number;
}
