// The options of a proxy: its policies as plain data, and its dependencies, the routing table among them.
import type { Server, ServerOpts, Socket } from 'node:net';
import type { ReadPem } from '../model/pem.ts';
import type { Address } from '../model/member.ts';
import type { AskedServer, Positions, QuestionsPolicy } from '../model/causal-reads.ts';
import type { BranchBackendsPolicy, BranchConnectPolicy, LocateBranch } from '../model/branch.ts';
import type { ProxyEvent } from '../reports/events.ts';
import type { Trigger } from '../reports/trigger.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { LoginsPolicy } from '../model/logins.ts';
import type { MovesPolicy, VerifierBatch, VerifierPolicy } from '../model/moves.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type {
  BackendPolicy,
  ClientPolicy,
  HoldPolicy,
  ListenerPolicy,
  PoolName,
  PoolPolicy,
  ProbePolicy,
  RelayMode,
} from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { WalEvidence } from '../core/wal-samples.ts';
import type { LoginTools } from '../wire/talk/password-login.ts';
import type { Dial } from './server.ts';
import type { Siblings } from './siblings.ts';

/** A reload may change these. They apply to each use after it. */
export interface ProxyPolicy {
  readonly pools: readonly PoolPolicy[];
  readonly listeners: readonly ListenerPolicy[];
  readonly client: ClientPolicy;
  readonly backend: BackendPolicy;
  readonly hold: HoldPolicy;
  readonly relay: RelayMode;
  /** Absent: a target is a pool. */
  readonly branches?: BranchRouting | undefined;
  /** Absent: no session moves. */
  readonly moves?: MovesPolicy | undefined;
  /** Absent: a client that binds its login has one TLS connection with the server. */
  readonly logins?: LoginsPolicy | undefined;
  /** Absent: no server is asked for its positions. */
  readonly questions?: QuestionsPolicy | undefined;
  /** Other Pointsmen behind the same address: the setting `peers`. Absent: there are none. */
  readonly cancelPeers?: readonly Address[] | undefined;
  /** Absent: no read is gated. */
  readonly probe?: Pick<ProbePolicy, 'writeMaxAgeMs'> | undefined;
}

/** The part of the policy of branches that a proxy needs. */
export interface BranchRouting {
  readonly connect: BranchConnectPolicy;
  readonly pool: PoolPolicy;
  readonly backends: Pick<BranchBackendsPolicy, 'caFile'>;
}

/** A file descriptor that is bound already. `name` is for messages. */
export interface InheritedSocket {
  readonly fd: number;
  readonly name: string;
}

export type CreateServer = (options: ServerOpts) => Server;

/** A connection whose peer acknowledges nothing. */
export interface Silence {
  /** Sent, or waiting in the kernel, and not acknowledged. */
  readonly bytes: number;
  /** Retransmissions, or questions for room in a full window, without an answer. An answer sets it back. */
  readonly attempts: number;
}

/** By `connectionKey` (ending/tcp-table.ts). */
export type SilentConnections = ReadonlyMap<string, Silence>;

export type ReadSilentConnections = () => Promise<SilentConnections>;

/** How many sessions have file descriptors. */
export interface DescriptorBudget {
  /** The limit on open files. */
  readonly limit: number;
  /** At one time. May be negative: the limit is too low for anything. */
  readonly sessions: number;
  /** Over-limit connections at one time. */
  readonly overLimit: number;
}

/** Opens no connection before the first question. `server`: the one that has them. `connect` rejects with words. */
export type OpenVerifiers = (
  policy: VerifierPolicy,
  server: Address,
  connect: (signal: AbortSignal) => Promise<Socket>,
) => VerifierBatch;

/** The parts that connections need on which servers are asked for their positions. */
export interface PositionsNeeds extends Pick<ProxyDependencies, 'clock' | 'onEvent'> {
  readonly policy: () => QuestionsPolicy | undefined;
  /** With TLS where the members want it. Rejects with words for people. */
  readonly connect: (server: AskedServer) => (signal: AbortSignal) => Promise<Socket>;
  /** That of the cluster. Undefined: it is not known. */
  readonly systemIdentifier: () => string | undefined;
  readonly tools: LoginTools;
  /** `tls-server-end-point` of the server's certificate. Undefined: no TLS. */
  readonly endPointOf: (socket: Socket) => Uint8Array | undefined;
  /** Runs what must not belong to the session that asks. */
  readonly apart: (run: () => void) => void;
}

/** Opens no connection before the first question. `end` closes all. */
export type OpenPositions = (needs: PositionsNeeds) => Positions & { readonly end: () => void };

/** Every address of a peer that may be contacted. Never rejects. */
export type LocatePeer = (peer: Address) => Promise<readonly Address[]>;

/** These stay for the life of the proxy. */
export interface ProxyDependencies {
  /** As it was last decided. A pure read. */
  readonly table: () => RoutingTable;
  /**
   * Decides now if the table is no longer valid. May call tableChanged(), and so end sessions. Called for each read of
   * a client's bytes. Its timers and promises belong to no session (fault.ts).
   */
  readonly decideIfDue: () => void;
  /**
   * Undefined: the evidence about the exclusive pool's member is fresh. Else resolves when the member was probed again.
   * Never rejects. `since`: every member must be probed after that instant.
   */
  readonly freshen: (pool: PoolName, since?: Instant) => Promise<void> | undefined;
  /** For sessions that lose their primary without warning. Absent: nothing is known. */
  readonly wal?: () => WalEvidence;
  readonly onTrigger: (trigger: Trigger) => void;
  readonly onEvent: (event: ProxyEvent) => void;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  readonly readPem: ReadPem;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly dial?: Dial;
  /** Default: of this machine. */
  readonly createServer?: CreateServer | undefined;
  /** Default: the table of this machine's kernel. */
  readonly readSilentConnections?: ReadSilentConnections | undefined;
  /** Absent: there are no branches, whatever the policy. */
  readonly locateBranch?: LocateBranch;
  /** Absent: sessions that logged in with a secret stay, and no login has a verifier. */
  readonly openVerifiers?: OpenVerifiers;
  /** Absent: no server is asked for its positions. */
  readonly openPositions?: OpenPositions;
  /** As it is now. Absent: sessions of pools with several members stay. */
  readonly snapshot?: () => Snapshot;
  /** Absent: no other process serves these ports. */
  readonly siblings?: Siblings;
  /** Absent: no peer is found. */
  readonly locatePeer?: LocatePeer;
  /** Absent: no limit on file descriptors is known. */
  readonly descriptors?: DescriptorBudget | undefined;
  /** Listening sockets that this process was started with. */
  readonly inherited?: readonly InheritedSocket[] | undefined;
}

export type ProxyOptions = ProxyPolicy & ProxyDependencies;
