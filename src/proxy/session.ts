// One client connection from accept to close. Owns its state, and `#move` is the only method that changes it. Each
// state has at most one thing under way (a deadline, a place in the hold queue, a connect), which `#leave` ends when
// the state is left. A session ends with exactly one close reason and one event. The routing table is brought up to
// date before each routing (G2, G3).
import type { Socket } from 'node:net';
import { CLOSE_REASONS, isEndReason, isRefusal } from '../model/close-reason.ts';
import type { BackendEnding, CloseReason, EndReason, RefusalReason } from '../model/close-reason.ts';
import type { Address, MemberName } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import { openRoute } from '../core/routing-table.ts';
import type { HoldCause, PoolDecision } from '../core/routing-table.ts';
import type { SessionEntry, StatementEnd } from '../reports/session-list.ts';
import { nextSessionState } from '../reports/session-state.ts';
import type { SessionEvent, SessionState } from '../reports/session-state.ts';
import type { ErrorFields } from '../wire/messages/error-response.ts';
import type { Slot } from './accept/admission.ts';
import type { BranchClient } from './branch/branch-route.ts';
import { ConnectAttempts } from './connect/connect-attempts.ts';
import type { FirstReply } from './connect/first-reply.ts';
import { isTrialRoute } from './connect/hold-queue.ts';
import type { HeldClient } from './connect/hold-queue.ts';
import type { ParkedBackend } from './connect/parked-backends.ts';
import { closeMessage } from './ending/close-message.ts';
import { encodeRefusal } from './ending/refusal-message.ts';
import { asStepOf } from './fault.ts';
import type { MovableSession } from './moves/movable-session.ts';
import type { MovingHost } from './moves/moving-host.ts';
import { RelayedSession } from './relay/relayed-session.ts';
import { SessionRecord } from './session-record.ts';
import type { AcceptedClient, Connecting, SessionDependencies } from './session-parts.ts';
import { serverText } from './server.ts';
import type { Server } from './server.ts';
import { Place } from './session-registry.ts';
import type { Assignment, RegisteredSession } from './session-registry.ts';
import { closeSocket, ignoreErrors } from './socket.ts';
import type { StartupHandler } from './startup/client-startup.ts';
import { choosePool } from './startup/startup-parameters.ts';

const nothing = (): void => {};

export class Session implements RegisteredSession, HeldClient, StartupHandler, BranchClient, MovingHost {
  readonly id: number;
  readonly client: string;
  readonly listener: Address;
  movable: MovableSession | undefined;
  #policy: PoolPolicy;
  readonly #deps: SessionDependencies;
  readonly #record: SessionRecord;
  readonly #slot: Slot;
  #state: SessionState = 'startup';
  /** Ends what the current state has under way. */
  #leave: () => void = nothing;
  readonly #place: Place;
  /** Until there is `#relayed`. */
  #connecting: Connecting | undefined;
  #relayed: RelayedSession | undefined;
  readonly #idleListeners = new Set<() => void>();

  constructor(id: number, { policy, listener, client }: AcceptedClient, deps: SessionDependencies) {
    this.id = id;
    this.listener = listener;
    this.#policy = policy;
    this.#deps = deps;
    this.#record = new SessionRecord(id, client, deps);
    this.#place = new Place(this, deps.registry);
    this.client = this.#record.client();
    this.#slot = deps.admission.admit(this.#record.address(), {
      bytesRead: () => client.bytesRead,
      drop: () => this.cut('startup_timeout', 'silent while others needed the room'),
    });
    const attempts = new ConnectAttempts(deps.policy().backend.connectAttempts);
    this.#connecting = { startup: deps.newStartup(client, this), attempts, parked: undefined };
  }

  start(): void {
    const { startup } = this.#untilRelay();
    ignoreErrors(startup.client());
    this.#deps.registry.add(this);
    this.#record.accepted(this.pool);
    if (this.#slot.kind === 'none') {
      // Sent at once, without waiting until it has arrived. Most clients read it all the same.
      startup.client().write(this.#refusal('too_many_sessions', this.#slot.exceededLimit));
      return this.cut('too_many_sessions', `${this.#slot.exceededLimit}: cut off`);
    }
    this.#leave = startup.start();
  }

  get state(): SessionState {
    return this.#state;
  }

  get pool(): PoolName {
    return this.#policy.name;
  }

  assignment(): Assignment | undefined {
    return this.#place.assignment();
  }

  release(): void {
    this.#route(true);
  }

  giveUp(reason: RefusalReason, detail?: string): void {
    const hasRoute = openRoute(this.#deps.table(), this.pool) !== undefined;
    const failure = hasRoute ? this.#untilRelay().attempts.failure() : undefined;
    if (failure?.member !== undefined) this.#record.reached(failure.member);
    this.end(failure?.reason ?? reason, failure?.detail ?? detail);
  }

  isIdle(): boolean {
    return this.#state === 'relaying' && this.#relayed?.isIdle() === true;
  }

  settlesInMs(): number {
    return this.#relayed?.settlesInMs() ?? 0;
  }

  onIdle(run: () => void): () => void {
    const listeners = this.#idleListeners;
    listeners.add(run);
    return () => {
      if (listeners.delete(run) && listeners.size === 0) this.movable?.interposed.goOn();
    };
  }

  end(reason: CloseReason, detail?: string): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    asStepOf(this, () => {
      if (this.#relayed !== undefined) this.#endRelayed(this.#relayed, reason, detail);
      else if (isRefusal(reason)) this.#refuse(reason, detail);
      else this.cut(reason, detail);
    });
  }

  entry(): SessionEntry {
    const entry = this.#record.entry(this, this.#connecting?.startup.client(), this.#relayed);
    return this.movable === undefined ? entry : { ...entry, moves: this.movable.shown() };
  }

  endStatement(): StatementEnd {
    return (this.#state === 'relaying' ? this.#relayed?.endStatement() : undefined) ?? 'none';
  }

  reroute(): void {
    this.movable?.reroute();
    if (this.#state !== 'dialing' || this.#place.assignment() === undefined) return undefined;
    // A client does not wait without a limit while members change faster than it can connect (G10).
    const isLate = this.#deps.clock.now() - this.#record.heldSince() > this.#deps.policy().hold.clientTimeoutMs;
    return isLate ? this.giveUp('hold_timeout') : this.#route();
  }

  cut(reason: CloseReason, detail?: string): void {
    if (this.#state === 'closed') return;
    try {
      this.#slot.release();
      this.#move('close');
      this.movable?.ended(reason, detail);
    } finally {
      // Whatever has thrown may throw again: its sockets are closed all the same.
      if (this.#relayed === undefined) closeSocket(this.#untilRelay().startup.client());
      else this.#relayed.cut(CLOSE_REASONS[reason].isReset);
      this.#record.closed(this.pool, reason, detail, this.#relayed?.lost()?.at);
    }
  }

  /** The transition method. False: the session is closed, possibly just now, because the table has no such step. */
  #move(event: SessionEvent): boolean {
    const from = this.#state;
    const to = nextSessionState(from, event);
    if (from === 'closed') return false;
    if (to === undefined) {
      this.cut('internal_error', `no step "${event}" from "${from}"`);
      return false;
    }
    const leave = this.#leave;
    this.#leave = nothing;
    this.#state = to;
    if (to !== from) this.#record.stateChanged();
    this.#slot.setStarting(to === 'startup');
    leave();
    if (to !== 'dialing' && to !== 'startup') this.#connecting?.parked?.drop();
    if (to !== 'relaying') this.#place.release();
    this.#deps.registry.moved(this, from, to);
    return true;
  }

  // StartupHandler

  begin(): void {
    const { startup, parked } = this.#untilRelay();
    const parameters = startup.parameters();
    if (parameters !== undefined) this.#record.named(this.#deps.names.share(parameters.names));
    if (this.#slot.kind !== 'session') return this.end('too_many_sessions', this.#slot.exceededLimit);
    const chosen = choosePool(parameters?.poolRequest?.name, this.pool, this.#deps.policy());
    if (chosen.kind === 'unknown') return this.end('unknown_pool', chosen.detail);
    const access = this.#policy.exclusive ? 'write' : 'read';
    this.#deps.registry.transfer(this, this.#state, chosen.pool);
    this.#policy = this.#deps.pool(chosen.pool) ?? this.#policy;
    if (parameters !== undefined) this.#deps.registry.settled(this);
    if (chosen.kind === 'pool') return this.#route();
    parked?.drop();
    return this.#deps.branches.connect({ ...chosen, access, client: this, startup, record: this.#record });
  }

  cancel(packet: Uint8Array): void {
    this.#leave();
    this.#untilRelay().parked?.drop();
    this.#slot.becomeOverLimit();
    this.#slot.setStarting(false);
    const onDone = (problem?: string): void =>
      this.end(problem === undefined ? 'cancel_forwarded' : 'cancel_failed', problem);
    const { pool, listener } = this;
    const address = this.#record.address();
    this.#leave = this.#deps.cancels.passOn({ packet, pool, listener, address, onDone });
  }

  // BranchClient, MovingHost

  enter(step: 'hold' | 'dial' | 'park' | 'move', leave: () => void): boolean {
    if (!this.#move(step)) return false;
    // Counts as its wait, for the client and for the list of sessions.
    if (step === 'hold') this.#record.heldSince();
    this.#leave = leave;
    return true;
  }

  connected(server: Server, backend: Socket, firstReply: FirstReply | undefined): void {
    const { startup } = this.#untilRelay();
    const client = startup.client();
    // The `close` event of a client that was reset in this turn of the event loop is still to come.
    if (client.destroyed) this.end('client_gave_up');
    if (!this.#move('relay')) return void backend.destroy();
    this.#leave = this.#deps.maxAge.watch(this, this.#policy.maxSessionAgeMs);
    const handedOver = startup.handOver();
    this.movable = this.#deps.mover.adopt({ host: this, client, record: this.#record, server, handedOver });
    this.#relayed = new RelayedSession({
      client,
      backend,
      isReadable: handedOver.isReadable,
      moving: this.movable?.interposed,
      pool: this.#policy,
      server,
      idleListeners: this.#idleListeners,
      traffic: this.#record.traffic,
      services: this.#deps.relaying,
      onEnded: (ending, detail) => this.cut(ending, detail),
      onRefused: (member, sqlState) =>
        this.#deps.connector.noteRefusal({ session: this.id, pool: this.pool, member, sqlState }),
      onLost: (ending, detail, message) => this.#close(ending, detail, message),
      onLanded: () => this.end('landed_on_standby', `${serverText(server)}: in_hot_standby is on`),
    });
    this.#connecting = undefined;
    this.#record.opened(this.pool, server, this.#relayed.tls());
    this.#relayed.start({ ...handedOver, firstReply });
  }

  /** `park` and `move` come before it. */
  resumed(member: MemberName): boolean {
    if (!this.#move('resume')) return false;
    this.#leave = this.#deps.maxAge.watch(this, this.#policy.maxSessionAgeMs);
    this.#record.reached(member);
    return true;
  }

  assign(assignment: Assignment): void {
    this.#place.assign(assignment);
  }

  #untilRelay(): Connecting {
    if (this.#connecting === undefined) throw new Error('the session is relayed already');
    return this.#connecting;
  }

  #decision(): PoolDecision | undefined {
    return this.#deps.table().pools.get(this.pool);
  }

  #route(isItsTurn = false): void {
    this.#policy = this.#deps.pool(this.pool) ?? this.#policy;
    this.#deps.decideIfDue();
    const route = this.#decision()?.route;
    if (this.#deps.isStopping()) return this.end('shutdown');
    if (route === undefined || route.kind === 'closed') return this.end('no_route');
    if (route.kind === 'hold') return this.#hold(route.cause, 0);
    if (!isItsTurn && isTrialRoute(route)) return this.#hold('in_recovery', 0);
    // Its own old assignment must not count against the limits.
    this.#place.release();
    const exceeded = this.#deps.registry.limitReached(this.pool, route);
    return exceeded === undefined ? this.#connect() : this.end('too_many_sessions', exceeded);
  }

  #hold(cause: HoldCause, pauseMs: number): void {
    if (this.#deps.isStopping()) return this.end('shutdown');
    const answer = this.#deps.holdQueue.enter(this, { cause, since: this.#record.heldSince(), pauseMs });
    if (answer.kind === 'refused') this.giveUp(answer.reason, answer.detail);
    else if (!this.enter('hold', answer.leave)) answer.leave();
  }

  #connect(): void {
    if (!this.#move('dial')) return;
    const { startup, attempts, parked } = this.#untilRelay();
    const abort = this.#deps.connector.connect({
      session: this.id,
      clientAddress: this.#record.address(),
      pool: this.#policy,
      attempts,
      firstRequest: startup.firstRequest(),
      hasWaited: this.#record.waitedMs() > 0,
      parked,
      onAssigned: (assignment) => this.assign(assignment),
      onConnected: (target, backend, firstReply) => this.connected(target, backend, firstReply),
      onDeclined: (backend) => this.#decline(backend),
      onClosed: () => this.giveUp('no_route'),
      onRouteAgain: () => this.#route(),
      onUnreachable: (pauseMs) => this.#hold('no_member', pauseMs),
    });
    // A parked backend may have been used synchronously.
    if (this.#state === 'dialing') this.#leave = abort;
  }

  #decline(parked: ParkedBackend): void {
    if (!this.#move('answer')) return parked.drop();
    const connecting = this.#untilRelay();
    connecting.parked = parked;
    this.#leave = connecting.startup.declineEncryption();
  }

  /** Before the relay: the client gets an error that says why. */
  #refuse(reason: RefusalReason, detail: string | undefined): void {
    if (!this.#move('end')) return;
    const error = this.#refusal(reason, detail);
    this.#record.closing(reason, detail);
    this.#leave = this.#untilRelay().startup.refuse(error, () => this.cut(reason, detail));
  }

  #endRelayed(relayed: RelayedSession, reason: CloseReason, detail: string | undefined): void {
    const lostBy = relayed.lost()?.by;
    // The server has ended the session before: that stays the reason.
    if (lostBy !== undefined) return this.#close(lostBy, undefined, undefined);
    const activity = isEndReason(reason) ? relayed.canBeTold(CLOSE_REASONS[reason].told === 'always') : undefined;
    if (!isEndReason(reason) || activity === undefined) return this.cut(reason, detail);
    const message = relayed.isServed() ? undefined : closeMessage(reason, { pool: this.pool, detail, activity });
    return this.#close(reason, detail, message);
  }

  /** The backend ends synchronously; the client reads what there is to read, then the message. */
  #close(
    reason: EndReason | BackendEnding | 'backend_refused',
    detail: string | undefined,
    message: ErrorFields | undefined,
  ): void {
    const relayed = this.#relayed;
    if (relayed === undefined || !this.#move('end')) return;
    this.#record.closing(reason, detail);
    this.movable?.ended(reason, detail);
    // Its client may take its time to read, and no longer counts as a session.
    if (relayed.lost() !== undefined) this.#slot.becomeOverLimit();
    this.#leave = relayed.close(message, () => this.cut(reason, detail));
  }

  #refusal(reason: RefusalReason, detail: string | undefined): Uint8Array {
    const { attempts, startup } = this.#untilRelay();
    const targetFrom = startup.parameters()?.poolRequest?.from;
    const facts = { pool: this.#policy, decision: this.#decision(), detail, targetFrom };
    // A server's own words say more than ours.
    return attempts.words(reason) ?? encodeRefusal(reason, { ...this.#record.refusalFacts(), ...facts });
  }
}
