// What the operator decided, as plain data: config/ parses it, everything else reads it. Durations in milliseconds,
// sizes in bytes. Defaults live in config/.
import type { Check } from './check.ts';
import type { LeaveCause } from './close-reason.ts';
import type { KeyPairFiles } from './key-pair.ts';
import type { Address } from './member.ts';

export type PoolName = string;

/** Cadence of probing and the clocks of the evidence model. */
export interface ProbePolicy {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly urgent: { readonly intervalMs: number; readonly forMs: number };
  /** Consecutive answers that bring a member into, or take it out of, a pool that is not exclusive. */
  readonly rise: number;
  readonly fall: number;
  /** New sessions of an exclusive pool need positive evidence younger than this. */
  readonly writeMaxAgeMs: number;
  readonly readMaxAgeMs: number;
  /** Live sessions on a silent member end when its last good answer is this old. */
  readonly silenceGraceMs: number;
  /**
   * A replica whose API and PostgreSQL port are silent for so many probes loses its sessions while others serve.
   * Undefined: never.
   */
  readonly silentProbes: number | undefined;
  readonly vouching: boolean;
}

/** What happens to live sessions of a member that left the pool. */
export type LeaveMode =
  /** End them in the same step. */
  | 'close'
  /** End each between two of its transactions, the rest at a deadline; cancelled when the member returns. */
  | 'drain'
  /** As `drain`, without the deadline: a session that is never seen between two transactions stays. */
  | 'drain_idle'
  /** Leave them alone. */
  | 'keep';

/** How much each mode asks of the sessions. */
export const LEAVE_FORCE: Readonly<Record<LeaveMode, number>> = {
  keep: 0,
  drain_idle: 1,
  drain: 2,
  close: 3,
};

/** `client_address`: every session of an address to the same member, while the same members are open. */
export type Balance = 'least_sessions' | 'round_robin' | 'random' | 'client_address';

/** `fallback`: to the fallback, if there is one. `refuse`: nowhere, even so. */
export type WhenAllLagging = 'refuse' | 'least_lagging' | 'fallback';

export interface PoolPolicy {
  readonly name: PoolName;
  readonly check: Check;
  /** At most one member at any instant; it is in no other pool unless by fallback. */
  readonly exclusive: boolean;
  readonly balance: Balance;
  /** The tag that holds a member's weight. */
  readonly weightTag: string | undefined;
  /** The tag that holds a member's zone: those of our own come first. */
  readonly zoneTag: string | undefined;
  /** In so long the part of a member that opened after the others grows to the whole. */
  readonly slowStartMs: number;
  /** Sessions older than this, give or take a tenth, end between two of their transactions. */
  readonly maxSessionAgeMs: number | undefined;
  readonly fallback: { readonly pool: PoolName; readonly maxSessions: number } | undefined;
  /** Where reads go while nobody is open because of lag. */
  readonly whenAllLagging: WhenAllLagging;
  /** Of `least_lagging`: so many sessions at most that came meanwhile. */
  readonly maxLaggingSessions: number;
  readonly onLeave: Readonly<Record<LeaveCause, LeaveMode>>;
  /** How long `drain` waits before it closes. */
  readonly drainTimeoutMs: number;
  /** Sessions that another member would serve better stay this long first, so that a short change moves nobody. */
  readonly relocateAfterMs: number;
}

/** When clients of the primary begin to wait for its planned change. */
export interface SwitchoverPolicy {
  /** So long before the scheduled time; 0: not before the primary itself says so. */
  readonly beforeSwitchoverMs: number;
}

/** All that decideRoutes needs to know beside the snapshot. Pools in the operator's order. */
export interface RoutingPolicy {
  readonly probe: ProbePolicy;
  readonly hold: SwitchoverPolicy;
  readonly pools: readonly PoolPolicy[];
  /** Where we are. */
  readonly zone?: string | undefined;
}

export interface ListenerPolicy {
  readonly address: Address;
  readonly pool: PoolName;
  /** Other processes of the same user may listen there too, if they say the same; the kernel deals out the connections. */
  readonly reusePort?: boolean | undefined;
}

/** Bounds towards clients. */
export interface ClientPolicy {
  /** One absolute deadline for everything up to the startup message. */
  readonly startupTimeoutMs: number;
  /** Accepted connections at one time, over all listeners, held ones included. */
  readonly maxSessions: number;
  /** Of these, from one address. Undefined: no bound of their own. */
  readonly maxSessionsPerAddress?: number | undefined;
  /** Those that have not said yet what they want, in the middle of a handshake for one. Undefined: no bound of their own. */
  readonly maxHandshakes?: number | undefined;
  /** Sessions ended per second for reasons that can wait. */
  readonly maxDisconnectsPerSecond: number;
  readonly tls: ClientTls;
}

/** Whose TLS it is: the members' (`passthrough`), or ours, for who asks for it (`terminate`) or for everybody (`require`). */
export type ClientTls = { readonly mode: 'passthrough' } | ({ readonly mode: 'terminate' | 'require' } & KeyPairFiles);

/** Bounds towards members. */
export interface BackendPolicy {
  readonly connectTimeoutMs: number;
  /** A connect that is unanswered for this long is raced by one to the next member. Undefined: never. */
  readonly attemptDelayMs: number | undefined;
  /** Dials per client, on other members where there are any, while no client byte was forwarded. */
  readonly connectAttempts: number;
}

/**
 * How bytes get from client to backend and back. `auto`: through the handles under Node's streams, which is cheaper, when
 * the self-test at the start finds that it works here. `streams`: always through Node's documented streams.
 */
export type RelayMode = 'auto' | 'streams';

/** How long and how many clients wait while a pool has no route. */
export interface HoldPolicy {
  readonly clientTimeoutMs: number;
  readonly maxSessions: number;
  /** Once a pool has been without a route for this long, its clients are refused at once. */
  readonly outageTimeoutMs: number;
  /** Held clients let go per second when a route opens. */
  readonly maxConnectsPerSecond: number;
}

export interface ShutdownPolicy {
  /** From readiness 503 to the listeners' end: time for load balancers to look away. */
  readonly graceMs: number;
  /** From then on sessions may end by themselves for so long, before they are ended. */
  readonly waitMs: number;
  /** From then to the close of what still lives. */
  readonly drainTimeoutMs: number;
}
