// Connects a client to a backend of its pool. For an exclusive pool it first waits for fresh evidence. Then it picks a
// member, connects, and checks the routing table again synchronously with the connect: a backend is handed over only
// while its member is open at that address (G2, G3). Reports once, and nothing after its abort. Apart from the client's
// first request it forwards nothing.
import type { ProxySocket } from '../socket.ts';
import type { ProxyDependencies } from '../options.ts';
import { includesTarget, openRoute, type OpenRoute, type Target } from '../../core/routing-table.ts';
import type { MemberName } from '../../model/member.ts';
import { nothing, whenSettled } from '../../model/once.ts';
import type { BackendPolicy, PoolPolicy } from '../../model/policy.ts';
import { isFull, refusesForNow, refusesOthers } from '../../wire/startup/backend-greeting.ts';
import type { Assignment } from '../stage.ts';
import type { FirstRequest } from '../startup/client-startup.ts';
import { ConnectRace, type ConnectAttempts } from './connect-attempts.ts';
import type { DialResult, DialServer } from '../server.ts';
import { describeRefused } from '../messages/close-message.ts';
import { awaitFirstReply, type FirstReply, type Refusal } from './first-reply.ts';
import type { ParkedBackend, ParkedBackends } from './parked-backends.ts';
import type { Picker } from './picker.ts';
import { ownCertificateFault } from './tls/encrypt-server.ts';

/** One client that needs a backend, and how it hears of the outcome. */
export interface ConnectRequest {
  readonly session: number;
  /** The address of the client, without its port. */
  readonly clientAddress: string;
  readonly pool: PoolPolicy;
  readonly attempts: ConnectAttempts;
  /** The client's first request, if the backend's reply to it can be awaited. */
  readonly firstRequest: FirstRequest | undefined;
  /** The client encrypts towards its server, or is about to. */
  readonly isEncrypted?: boolean;
  /** The pool whose route leads to the server, as its fallback. Absent: its own. */
  readonly via?: PoolPolicy | undefined;
  /** Absent: every target of the route suits. */
  readonly suits?: ((target: Target) => boolean) | undefined;
  /** Used instead of a new connection, if its member is open. */
  readonly parked: ParkedBackend | undefined;
  /** A connect begins: the session counts on this member from now on. */
  readonly onAssigned: (assignment: Assignment) => void;
  /** `firstReply` is set if the first request was sent already. */
  readonly onConnected: (target: Target, backend: ProxySocket, firstReply: FirstReply | undefined) => void;
  /** The backend declined encryption: the client may go on in plain text. */
  readonly onDeclined: (parked: ParkedBackend) => void;
  /** The backend closed without a reply, and no other one is left to try. */
  readonly onClosed: () => void;
  /** The client has waited for a route already. */
  readonly hasWaited?: boolean | undefined;
  /** The member is no longer open, or another member is left to try: route again. */
  readonly onRouteAgain: () => void;
  /** The route is open, but no member could be reached: wait `pauseMs` first. */
  readonly onUnreachable: (pauseMs: number) => void;
}

export interface BackendConnectorOptions extends Pick<
  ProxyDependencies,
  'table' | 'decideIfDue' | 'freshen' | 'onTrigger' | 'onEvent' | 'clock'
> {
  readonly dial: DialServer;
  readonly picker: Picker;
  readonly parked: ParkedBackends;
  readonly policy: () => BackendPolicy;
}

/** The shortest pause before a full server is asked again. Milliseconds. */
const FULL_MS = 1_000;

/** The pause while no target suits. Milliseconds. */
const UNSUITED_MS = 250;

export class BackendConnector {
  readonly #options: BackendConnectorOptions;

  constructor(options: BackendConnectorOptions) {
    this.#options = options;
  }

  /** The caller has just seen an open route. Returns the abort, which is idempotent. */
  connect(request: ConnectRequest): () => void {
    const { freshen, clock, policy } = this.#options;
    const { exclusive, name } = routed(request);
    const fresh = exclusive ? freshen(name) : undefined;
    if (fresh === undefined) return this.#connectToMember(request);
    let abort = nothing;
    const connect = (): void => {
      abort = this.#connectToMember(request);
    };
    // No client waits without a limit (G10).
    abort = whenSettled(fresh, clock, policy().connectTimeoutMs, connect);
    return () => abort();
  }

  #connectToMember(request: ConnectRequest): () => void {
    const { parked, attempts } = request;
    const route = this.#freshRoute(request);
    if (route === undefined) {
      request.onRouteAgain();
      return nothing;
    }
    const targets = suitable(request, route.targets);
    if (targets === undefined) return this.#noneSuits(request);
    const reused = parked?.take(route.targets);
    if (reused !== undefined) {
      request.onAssigned(assignmentTo(reused.target, route, request));
      return this.#handOver(request, { target: reused.target, backend: reused.socket, dialMs: 0 });
    }
    return this.#race(request, route, this.#pick(request, attempts.preferred(targets)));
  }

  /** Later, because the caller has many such sessions at a time. */
  #noneSuits({ pool, onUnreachable }: ConnectRequest): () => void {
    const { clock, onTrigger } = this.#options;
    onTrigger({ kind: 'clients_held', pool: pool.name });
    return clock.schedule(0, () => onUnreachable(UNSUITED_MS));
  }

  #race(request: ConnectRequest, route: OpenRoute, first: Target): () => void {
    const { dial, clock, onEvent, onTrigger, policy, picker } = this.#options;
    const { pool, session, attempts, isEncrypted = false } = request;
    const { connectTimeoutMs, attemptDelayMs } = policy();
    const attemptsLeft = attempts.left();
    let assigned = first;
    let isAborted = false;
    let abort = nothing;
    let dialMs = 0;
    const assign = (target: Target): void => {
      assigned = target;
      request.onAssigned(assignmentTo(target, route, request));
    };
    const race = new ConnectRace({
      dial,
      clock,
      isEncrypted,
      timeoutMs: connectTimeoutMs,
      delayMs: route.targets.length > 1 ? attemptDelayMs : undefined,
      next: (tried) => (tried.length < attemptsLeft ? this.#anotherTarget(request, tried) : undefined),
      onBegin: assign,
      onFinished: ({ member }, outcome, durationMs) => {
        dialMs = durationMs;
        onEvent({ kind: 'dial_finished', pool: pool.name, session, member, outcome, durationMs });
      },
      onSlow: ({ member }) => {
        picker.latency.loginFailed(pool, member);
        onTrigger({ kind: 'connect_slow', member });
      },
      onConnected: (target, socket) => {
        if (target !== assigned) assign(target);
        const server = { target, backend: socket, dialMs };
        abort = this.#handOver(request, server, () => isAborted);
      },
      onFailed: (target, result, isLast) => this.#failed(request, target, result, isLast),
    });
    race.begin(first);
    return () => {
      isAborted = true;
      race.abort();
      abort();
    };
  }

  #handOver(request: ConnectRequest, dialed: DialedServer, isAborted = (): boolean => false): () => void {
    const { target, backend, dialMs } = dialed;
    const { clock, picker } = this.#options;
    const { onConnected, pool } = request;
    const isOpen = includesTarget(this.#freshRoute(request)?.targets ?? [], target);
    if (!isOpen || isAborted()) {
      backend.destroy();
      // An overdue decision may have routed this client again.
      if (!isAborted()) request.onRouteAgain();
      return nothing;
    }
    const { firstRequest } = request;
    if (firstRequest === undefined) {
      onConnected(target, backend, undefined);
      return nothing;
    }
    const sentAt = clock.now();
    return awaitFirstReply({
      backend,
      request: firstRequest,
      clock,
      onReply: (reply) => {
        picker.latency.login(pool, target.member, dialMs + clock.now() - sentAt);
        onConnected(target, backend, reply);
      },
      onDeclined: () => request.onDeclined(this.#park(target, backend)),
      isTurnedAway: (sqlState) => this.#isTriedAgain(request, target, sqlState),
      onTurnedAway: (refusal, error) => this.#turnedAway(request, target, refusal, error),
    });
  }

  /** With TLS to members a connection in plain text is used by nobody. */
  #park(target: Target, backend: ProxySocket): ParkedBackend {
    const parked = this.#options.parked.park(target, backend);
    if (this.#options.policy().tls !== undefined) parked.drop();
    return parked;
  }

  /**
   * The client's first request is all that it has sent, so it may be sent once more. In a pool of several members
   * another one is tried. The only member of an exclusive pool is tried again while it may be about to hand over, or to
   * have room: never because it is full and nothing else is wrong.
   */
  #isTriedAgain({ pool, attempts, hasWaited }: ConnectRequest, { member }: Target, sqlState?: string): boolean {
    if (!pool.exclusive) {
      const targets = openRoute(this.#options.table(), pool.name)?.targets ?? [];
      return refusesOthers(sqlState) && attempts.hasAnother(member, targets);
    }
    if (!isFull(sqlState)) return sqlState === undefined || refusesForNow(sqlState);
    return hasWaited === true || this.#options.picker.refusals.isClearing(member);
  }

  #turnedAway(request: ConnectRequest, target: Target, refusal: Refusal | undefined, error?: Error): void {
    const { onTrigger, table, picker } = this.#options;
    const { pool, session, attempts } = request;
    const { member } = target;
    onTrigger({ kind: 'backend_closed', member });
    picker.refusals.note({ id: session, pool: pool.name }, member, refusal?.sqlState);
    const isTriedAgain = refusal !== undefined || this.#isTriedAgain(request, target);
    const isFirst = attempts.lastRefusal() === undefined;
    const targets = openRoute(table(), pool.name)?.targets ?? [];
    const detail = ownCertificateFault(error)?.detail ?? describeRefused(refusal?.sqlState);
    const pauseMs = attempts.refused(member, detail, refusal?.bytes, targets);
    if (!isTriedAgain) return request.onClosed();
    // The next route is decided on fresh evidence: the primary may have stepped down meanwhile.
    if (pauseMs === 0 || (isFirst && !isFull(refusal?.sqlState))) return request.onRouteAgain();
    return request.onUnreachable(isFull(refusal?.sqlState) ? Math.max(pauseMs, FULL_MS) : pauseMs);
  }

  #failed(request: ConnectRequest, { member }: Target, result: FailedDial, isLast: boolean): void {
    const { table, onTrigger, picker } = this.#options;
    if (!result.isLocalFault) {
      picker.latency.loginFailed(request.pool, member);
      onTrigger({ kind: 'dial_failed', member });
    }
    const route = openRoute(table(), routed(request).name);
    const pauseMs = request.attempts.failed(member, result.detail, result.isLocalFault, route?.targets ?? []);
    if (!isLast) return;
    if (route === undefined || pauseMs === 0) request.onRouteAgain();
    else request.onUnreachable(pauseMs);
  }

  /** A member of the current route that was not tried yet. */
  #anotherTarget(request: ConnectRequest, tried: readonly MemberName[]): Target | undefined {
    const targets = suitable(request, this.#freshRoute(request)?.targets ?? []) ?? [];
    const [first, ...rest] = targets.filter(({ member }) => !tried.includes(member));
    return first && this.#pick(request, request.attempts.preferred([first, ...rest]));
  }

  #pick({ pool, clientAddress }: ConnectRequest, targets: readonly [Target, ...Target[]]): Target {
    return this.#options.picker.pick(pool, targets, clientAddress);
  }

  #freshRoute(request: ConnectRequest): OpenRoute | undefined {
    this.#options.decideIfDue();
    return openRoute(this.#options.table(), routed(request).name);
  }
}

/** A member with a connection to it. */
interface DialedServer {
  readonly target: Target;
  readonly backend: ProxySocket;
  /** How long the connect took. Milliseconds. */
  readonly dialMs: number;
}

/** Undefined: none of them suits. */
function suitable({ suits }: ConnectRequest, targets: readonly Target[]): readonly [Target, ...Target[]] | undefined {
  const suited = suits === undefined ? targets : targets.filter(suits);
  return isSome(suited) ? suited : undefined;
}

function isSome(targets: readonly Target[]): targets is readonly [Target, ...Target[]] {
  return targets.length > 0;
}

type FailedDial = Extract<DialResult, { kind: 'failed' }>;

function assignmentTo(target: Target, { fallback, lagging }: OpenRoute, { via }: ConnectRequest): Assignment {
  return { ...target, isFallback: fallback !== undefined || via !== undefined, isLagging: lagging !== undefined };
}

/** The pool whose route leads to the server. */
function routed({ pool, via }: ConnectRequest): PoolPolicy {
  return via ?? pool;
}
