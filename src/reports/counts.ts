// The proxy's counts per pool and per worker, for /status and metrics, read in one call at the moment of the request.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';
import type { CausalReadCounts } from './causal-reads.ts';
import type { Latencies } from './latency.ts';
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

/** The first packet of a client. */
export const FIRST_PACKETS = [
  'startup',
  'ssl_request',
  'gssenc_request',
  'tls',
  'cancel_request',
  'cancel_offer',
  'http',
  'invalid',
] as const;
export type FirstPacket = (typeof FIRST_PACKETS)[number];

/** How a session began. `passthrough`: the member answers TLS, so the startup message cannot be read. */
export interface Startup {
  readonly encryption: 'plain' | 'terminated' | 'passthrough';
  readonly tlsVersion: '1.2' | '1.3' | 'none' | 'unknown';
  /** The version of PostgreSQL's protocol. */
  readonly protocol: '3.0' | '3.2' | 'other' | 'unknown';
}

const PROTOCOLS = ['3.0', '3.2', 'other'] as const;

/** Every startup that is possible. */
export const STARTUPS: readonly Startup[] = [
  ...PROTOCOLS.map((protocol) => ({ encryption: 'plain', tlsVersion: 'none', protocol }) as const),
  ...(['1.2', '1.3'] as const).flatMap((tlsVersion) =>
    PROTOCOLS.map((protocol) => ({ encryption: 'terminated', tlsVersion, protocol }) as const),
  ),
  { encryption: 'passthrough', tlsVersion: 'unknown', protocol: 'unknown' },
];

/** Clients of all pools. Totals are since the start. */
export interface ClientCounts {
  /** Clients without a complete startup message, now. */
  readonly handshakes: number;
  /** In the order of FIRST_PACKETS. */
  readonly firstPackets: readonly number[];
  /** In the order of STARTUPS. */
  readonly startups: readonly number[];
}

export const NO_CLIENTS: ClientCounts = {
  handshakes: 0,
  firstPackets: FIRST_PACKETS.map(() => 0),
  startups: STARTUPS.map(() => 0),
};

export function sumOfClients(all: readonly ClientCounts[]): ClientCounts {
  const sum = (list: (one: ClientCounts) => readonly number[]): readonly number[] =>
    list(NO_CLIENTS).map((_, index) => sumOf(all, (one) => list(one)[index] ?? 0));
  return {
    handshakes: sumOf(all, ({ handshakes }) => handshakes),
    firstPackets: sum(({ firstPackets }) => firstPackets),
    startups: sum(({ startups }) => startups),
  };
}

/** Live sessions by state. Of a session that moves, the two states are absent when no session is in them. */
export type StateCounts = Readonly<Record<Exclude<SessionState, 'closed' | MoveState>, number>> &
  Readonly<Partial<Record<MoveState, number>>>;
type MoveState = 'parked' | 'moving';

/** Logins that a member refused, without a gap of a minute. */
export interface RefusedLogins {
  readonly since: Instant;
  /** The newest. */
  readonly at: Instant;
  readonly count: number;
  /** The SQLSTATE of the newest. Undefined: the server closed without a word. */
  readonly sqlState: string | undefined;
}

/** Bytes relayed since the start, incremented on each chunk. */
export interface Traffic {
  toBackendBytes: number;
  toClientBytes: number;
}

export interface PoolCounts extends Readonly<Traffic> {
  readonly states: StateCounts;
  /** Sessions that connect or relay, by member. Absent: none. */
  readonly members: ReadonlyMap<MemberName, number>;
  /** Those of them that began while the pool was served by its fallback. */
  readonly fallbackSessions: number;
  /** Those of them that began while every member of the pool lagged. */
  readonly laggingSessions: number;
  /** Slow start: the share of their weight that members have now. Absent: the whole. */
  readonly ramping?: ReadonlyMap<MemberName, number>;
  /** With `balance: latency`: the members that take sessions. */
  readonly latency?: Latencies;
  /** Members that have refused logins within the last minute. Absent: none. */
  readonly refusing?: ReadonlyMap<MemberName, RefusedLogins>;
  /** Since when the fallback, or lagging members, serve the pool. Absent: they do not. */
  readonly degradedSince?: Instant | undefined;
  /** The start of the longest wait for a member that is not over. Absent: nobody waits. */
  readonly heldSince?: Instant | undefined;
  /** Absent: no session of the pool was gated. */
  readonly causalReads?: CausalReadCounts | undefined;
  /** Connections since the start, counted at the pool of their listener. */
  readonly accepted: number;
  /**
   * Counted at the pool that they asked for, when it is certain: with the startup message, or at the end before it.
   * started = closed + live sessions whose pool is certain.
   */
  readonly started: number;
  /** Counted at the pool that they asked for. Over all pools: accepted = closed + the sum of `states`. */
  readonly closed: number;
}

export type CountsByPool = ReadonlyMap<PoolName, PoolCounts>;

/** The certificate that clients see. */
export interface CertificateStatus {
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** False while the files hold a pair that cannot be used. */
  readonly isCurrent: boolean;
}
