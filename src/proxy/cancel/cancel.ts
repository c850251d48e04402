// Passes a CancelRequest on, once. A known key goes to the server of its session, unless its statement waits here. An
// unknown key may be of a session inside TLS or of another proxy: it goes to the other processes on these ports first,
// then to the Pointsmen that the setting `peers` names, then to the members of the listener's pool, because PostgreSQL
// ignores a key that it does not have. Such guesses are limited, because each costs the members connections, and no
// branch gets one: it might sleep. A request that a peer offered goes no further than the sessions here. A request is
// done when its server has closed or could not be reached; one deadline holds for all of it.
import type { ProxySocket } from '../socket.ts';
import type { CancelKeyKnowledge } from '../../reports/events.ts';
import type { BranchIdentity } from '../../model/branch.ts';
import type { Clock } from '../../model/instant.ts';
import { addressText, isSameAddress, type Address } from '../../model/member.ts';
import { nothing, once } from '../../model/once.ts';
import type { PoolName } from '../../model/policy.ts';
import { openRoute, type Target } from '../../core/routing-table.ts';
import { cancelRequest, requestedKey } from '../../wire/messages/cancel-key.ts';
import { CancelKeys, type KeyEntry } from './cancel-keys.ts';
import { serverText, type Dial, type DialResult, type DialServer, type Server } from '../server.ts';
import { GuessLimit } from './guess-limit.ts';
import { PeerOffers } from './peer-offers.ts';
import type { ProxyDependencies, ProxyPolicy } from '../options.ts';
import { NO_SIBLINGS, type CancelOutcome, type Siblings } from '../siblings.ts';
import type { SessionRegistry } from '../session-registry.ts';

/** From the request to the end of all connections that were opened for it. Milliseconds. */
const CANCEL_MS = 5_000;
/** A request with an unknown key goes to at most so many members. */
const MOST_CANCEL_TARGETS = 8;
/** Requests with unknown keys at one listener; see GuessLimit. */
const UNKNOWN_PER_SECOND = 20;
/** Those that are offered to the peers, which costs no server anything. */
const OFFERED_PER_SECOND = 100;

export interface CancelsOptions extends Pick<
  ProxyDependencies,
  'table' | 'decideIfDue' | 'clock' | 'onEvent' | 'siblings' | 'locatePeer'
> {
  readonly registry: SessionRegistry;
  readonly dial: DialServer;
  /** In plain text: for peers. */
  readonly dialPeer: Dial;
  readonly policy: () => Pick<ProxyPolicy, 'cancelPeers'>;
}

export interface CancelRequest {
  /** As the client sent it. */
  readonly packet: Uint8Array;
  readonly pool: PoolName;
  readonly listener: Address;
  /** The client's, without its port. */
  readonly address: string;
  /** A peer was told that the session is here: nobody else is asked. */
  readonly isOffered?: boolean;
  /** Called once, at the end. `problem`: why the request reached no server. */
  readonly onDone: (problem?: string) => void;
}

type KnownRequest = Pick<CancelRequest, 'pool' | 'onDone'>;

export class Cancels {
  readonly keys = new CancelKeys();
  readonly #options: CancelsOptions;
  /** By the listener's address. */
  readonly #guessLimits = new Map<string, GuessLimit>();
  readonly #offerLimits = new Map<string, GuessLimit>();
  readonly #offers: PeerOffers;
  /** Ends the requests of our own that are under way. */
  readonly #own = new Set<{ stop: () => void }>();

  constructor(options: CancelsOptions) {
    this.#options = options;
    this.#offers = new PeerOffers({
      ...options,
      dial: options.dialPeer,
      peers: () => options.policy().cancelPeers ?? [],
    });
  }

  /** Returns the function that ends it at once; nothing is reported after that. */
  passOn(request: CancelRequest): () => void {
    const { siblings } = this.#options;
    const own = this.#keyedOf(request.packet);
    if (own !== undefined) return this.#sendKnown(request, own);
    return siblings === undefined ? this.#offer(request) : this.#passToSiblings(request, siblings);
  }

  takesOffers(): boolean {
    return this.#offers.hasPeers();
  }

  /** Whether a session of this Pointsman has the key, in whichever process. */
  isAnywhere(packet: Uint8Array, tell: (isHere: boolean) => void): void {
    const { siblings } = this.#options;
    const isHere = this.isKnown(packet);
    if (isHere || siblings === undefined) tell(isHere);
    else void siblings.knowsCancel(packet).then(tell);
  }

  isKnown(packet: Uint8Array): boolean {
    return this.#keyedOf(packet) !== undefined;
  }

  /** For another process, which has learnt that the key is known here. */
  passOnKnown(packet: Uint8Array, pool: PoolName, onDone: CancelRequest['onDone']): void {
    const own = this.#keyedOf(packet);
    if (own === undefined) onDone('its session has ended');
    else this.#sendKnown({ pool, onDone }, own);
  }

  /** Has the server of a session that ends here cancel the statement that it runs. */
  cancelStatement({ current, server }: KeyEntry): void {
    const request = { stop: nothing };
    this.#own.add(request);
    const onDone = (): void => void this.#own.delete(request);
    request.stop = forward({
      ...this.#options,
      packet: cancelRequest(current),
      servers: [server],
      onSent: nothing,
      onDone,
    });
  }

  /** Ends the requests of our own at once. */
  stop(): void {
    for (const { stop } of this.#own) stop();
    this.#own.clear();
  }

  #passToSiblings(request: CancelRequest, siblings: Siblings): () => void {
    let isStopped = false;
    let stop = nothing;
    const answered = (outcome: CancelOutcome): void => {
      if (isStopped) return;
      if (outcome.kind === 'done') request.onDone(outcome.problem);
      else stop = this.#offer(request);
    };
    void siblings.passOnCancel(request.packet, request.pool).then(answered);
    return () => {
      isStopped = true;
      stop();
    };
  }

  /** A peer is asked before the members: a session that has moved has another key there. */
  #offer(request: CancelRequest): () => void {
    const { packet, pool, isOffered = false, onDone } = request;
    if (isOffered) {
      onDone('its session has ended');
      return nothing;
    }
    if (!this.takesOffers() || !this.#isWithin(this.#offerLimits, OFFERED_PER_SECOND, request)) {
      return this.#guess(request);
    }
    let guess = nothing;
    const stop = this.#offers.offer(packet, {
      onTaken: (peer) =>
        this.#options.onEvent({ kind: 'cancel_forwarded', pool, key: 'peer', members: [], peer: addressText(peer) }),
      onDone,
      onNobody: () => (guess = this.#guess(request)),
    });
    return () => {
      stop();
      guess();
    };
  }

  #guess(request: CancelRequest): () => void {
    const { pool, onDone } = request;
    this.#options.decideIfDue();
    const targets = this.#guessTargets(pool);
    let problem: string | undefined;
    if (targets.length === 0) problem = 'the pool has no member to pass it on to';
    else if (!this.#isWithin(this.#guessLimits, UNKNOWN_PER_SECOND, request))
      problem = 'dropped: too many requests with unknown keys';
    if (problem === undefined) return this.#send(request, targets, 'unknown');
    onDone(problem);
    return nothing;
  }

  #send(
    { packet, pool, onDone }: Pick<CancelRequest, 'packet' | 'pool' | 'onDone'>,
    servers: readonly Server[],
    key: CancelKeyKnowledge,
  ): () => void {
    const onSent = (reached: readonly Server[]): void => {
      const members = reached.flatMap((server) => ('member' in server ? [server.member] : []));
      this.#options.onEvent({ kind: 'cancel_forwarded', pool, key, members, ...branchOf(reached) });
    };
    return forward({ ...this.#options, packet, servers, onSent, onDone });
  }

  /** A session that has moved has another key at its server. */
  #sendKnown({ pool, onDone }: KnownRequest, { current, server, session }: KeyEntry): () => void {
    if (session.takesCancel()) {
      this.#options.onEvent({ kind: 'cancel_forwarded', pool, key: 'known', members: [] });
      onDone();
      return nothing;
    }
    return this.#send({ packet: cancelRequest(current), pool, onDone }, [server], 'known');
  }

  #keyedOf(packet: Uint8Array): KeyEntry | undefined {
    const key = requestedKey(packet);
    return key === undefined ? undefined : this.keys.find(key);
  }

  /** The members that have the pool's sessions, then those that get new ones: another proxy's sessions are there. */
  #guessTargets(pool: PoolName): readonly Target[] {
    const { table, registry } = this.#options;
    const targets: Target[] = [...registry.assignmentsOf(pool)];
    for (const target of openRoute(table(), pool)?.targets ?? []) {
      if (!targets.some(({ address }) => isSameAddress(address, target.address))) targets.push(target);
    }
    return targets.slice(0, MOST_CANCEL_TARGETS);
  }

  #isWithin(limits: Map<string, GuessLimit>, perSecond: number, { listener, address }: CancelRequest): boolean {
    const { clock, siblings = NO_SIBLINGS } = this.#options;
    const now = clock.now();
    const name = addressText(listener);
    const limit = limits.get(name) ?? new GuessLimit(perSecond / siblings.processes, now);
    limits.set(name, limit);
    return limit.take(address, now);
  }
}

/** A key that is known belongs to one session, so at most one branch is reached. */
function branchOf(servers: readonly Server[]): { readonly branch?: BranchIdentity } {
  const [server] = servers;
  return server !== undefined && 'branch' in server ? { branch: server.branch } : {};
}

interface ForwardOptions {
  readonly packet: Uint8Array;
  readonly servers: readonly Server[];
  readonly dial: DialServer;
  readonly clock: Clock;
  /** Called at most once, when every server was reached or has failed. */
  readonly onSent: (reached: readonly Server[]) => void;
  readonly onDone: (problem?: string) => void;
}

function forward({ packet, servers, dial, clock, onSent, onDone }: ForwardOptions): () => void {
  const sockets = new Set<ProxySocket>();
  const aborts: (() => void)[] = [];
  const reached: Server[] = [];
  let problem = `no server could be reached within ${CANCEL_MS / 1000} s`;
  let dialing = servers.length;
  let pending = servers.length;
  let isStopped = false;
  const report = once((): void => {
    if (reached.length > 0) onSent(reached);
  });
  const stop = (): void => {
    if (isStopped) return;
    isStopped = true;
    cancelDeadline();
    for (const abort of aborts) abort();
    for (const socket of sockets) socket.destroy();
  };
  const finish = (): void => {
    if (isStopped) return;
    report();
    stop();
    if (reached.length > 0) onDone();
    else onDone(problem);
  };
  const oneDone = (): void => {
    pending -= 1;
    if (pending === 0) finish();
  };
  const cancelDeadline = clock.schedule(CANCEL_MS, finish);
  for (const server of servers) {
    const dialled = (result: DialResult): void => {
      dialing -= 1;
      if (result.kind === 'failed') {
        problem = `${serverText(server)}: ${result.detail}`;
        if (dialing === 0) report();
        return oneDone();
      }
      const { socket } = result;
      sockets.add(socket);
      reached.push(server);
      // PostgreSQL sends no answer: it acts on the request and closes.
      socket.on('end', () => socket.end()).on('close', oneDone);
      socket.write(packet);
      socket.resume();
      if (dialing === 0) report();
      return undefined;
    };
    aborts.push(dial(server, { clock, timeoutMs: CANCEL_MS }, dialled));
  }
  return stop;
}
