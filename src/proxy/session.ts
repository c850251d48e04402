// One client connection, accept to close: the state and the only method that changes it. Every state owns at most one thing
// under way (a deadline, a place in the line, a dial), ended by `#leave` when the state is left. Ends with exactly one reason and
// one event. Before a byte is forwarded the table is read in the same step (G2, G3).
import type { Socket } from 'node:net';
import { isEndReason, isRefusal, mustEndAtOnce } from '../model/close-reason.ts';
import type { BackendEnding, CloseReason, EndReason, RefusalReason } from '../model/close-reason.ts';
import type { Address } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import { openRoute } from '../core/routing-table.ts';
import type { HoldCause, PoolDecision, Target } from '../core/routing-table.ts';
import { nextSessionState } from '../reports/session-state.ts';
import type { SessionEvent, SessionState } from '../reports/session-state.ts';
import { NOT_SUPPORTED } from '../wire/error-response.ts';
import type { ErrorFields } from '../wire/error-response.ts';
import type { Slot } from './accept/admission.ts';
import { arrive } from './startup/arrival.ts';
import type { Accepted, Arrival } from './startup/arrival.ts';
import type { FirstReply } from './connect/first-reply.ts';
import type { HeldClient } from './connect/hold-queue.ts';
import type { StartupHandler } from './startup/client-startup.ts';
import { describeEnd, closeMessage } from './ending/close-message.ts';
import { encodeRefusal } from './ending/refusal-message.ts';
import type { Assignment, RegisteredSession } from './session-registry.ts';
import { RelayedSession } from './relay/relayed-session.ts';
import { SessionRecord } from './session-record.ts';
import { closeSocket, ignoreErrors } from './socket.ts';
import type { Surroundings } from './surroundings.ts';
import { choosePool } from './startup/startup-parameters.ts';

const nothing = (): void => {};

export class Session implements RegisteredSession, HeldClient, StartupHandler {
  readonly id: number;
  readonly listener: Address;
  #pool: PoolName;
  #policy: PoolPolicy;
  readonly #around: Surroundings;
  readonly #record: SessionRecord;
  readonly #slot: Slot;
  #state: SessionState = 'startup';
  /** Ends what the present state has under way. */
  #leave: () => void = nothing;
  #assignment: Assignment | undefined;
  /** Until there is `#relayed`. */
  #arrival: Arrival | undefined;
  #relayed: RelayedSession | undefined;
  readonly #idleListeners = new Set<() => void>();

  constructor(id: number, { policy, listener, client }: Accepted, around: Surroundings) {
    this.id = id;
    this.#pool = policy.name;
    this.listener = listener;
    this.#policy = policy;
    this.#around = around;
    this.#record = new SessionRecord(id, client, around.seams);
    this.#slot = around.admission.admit(this.#record.address(), {
      bytesRead: () => client.bytesRead,
      drop: () => this.cut('startup_timeout', 'silent while others needed the room'),
    });
    this.#arrival = arrive(client, this, around);
  }

  start(): void {
    const { startup } = this.#arriving();
    ignoreErrors(startup.client());
    this.#around.registry.add(this);
    this.#record.accepted(this.#pool);
    if (this.#slot.kind === 'none') {
      // Unasked, and without waiting for whether it arrives: most clients read it all the same.
      startup.client().write(this.#refusal('too_many_sessions', this.#slot.exceededLimit));
      return this.cut('too_many_sessions', `${this.#slot.exceededLimit}: cut off`);
    }
    this.#leave = startup.start();
  }

  get state(): SessionState {
    return this.#state;
  }

  get pool(): PoolName {
    return this.#pool;
  }

  assignment(): Assignment | undefined {
    return this.#assignment;
  }

  release(): void {
    this.#route();
  }

  giveUp(reason: RefusalReason, detail?: string): void {
    const hasRoute = openRoute(this.#around.seams.table(), this.#pool) !== undefined;
    const failure = hasRoute ? this.#arriving().attempts.lastFailure() : undefined;
    if (failure === undefined) this.end(reason, detail);
    else this.end('connect_failed', failure);
  }

  isIdle(): boolean {
    return this.#state === 'relaying' && this.#relayed?.isIdle() === true;
  }

  settlesInMs(): number {
    return this.#relayed?.settlesInMs() ?? 0;
  }

  onIdle(run: () => void): () => void {
    this.#idleListeners.add(run);
    return () => this.#idleListeners.delete(run);
  }

  end(reason: CloseReason, detail?: string): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    if (this.#relayed !== undefined) this.#endRelayed(this.#relayed, reason, detail);
    else if (isRefusal(reason)) this.#refuse(reason, detail);
    else this.cut(reason, detail);
  }

  reroute(): void {
    if (this.#state !== 'dialing' || this.#assignment === undefined) return;
    // Members that change faster than a connect takes keep nobody for ever (G10).
    const { clock } = this.#around.seams;
    const isLate = clock.now() - this.#record.heldSince() > this.#around.policy().hold.clientTimeoutMs;
    if (isLate) this.giveUp('hold_timeout');
    else this.#route();
  }

  cut(reason: CloseReason, detail?: string): void {
    if (!this.#move('close')) return;
    this.#slot.release();
    if (this.#relayed === undefined) closeSocket(this.#arriving().startup.client());
    else this.#relayed.cut(mustEndAtOnce(reason));
    this.#record.closed(this.#pool, reason, detail);
  }

  /** The transition method: false when the session is closed, or had to be because the step is not in the table. */
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
    this.#slot.setStarting(to === 'startup');
    leave();
    if (to !== 'dialing' && to !== 'startup') this.#arrival?.parked?.drop();
    if (to !== 'relaying') this.#releaseAssignment();
    this.#around.registry.moved(this, from, to);
    return true;
  }

  #releaseAssignment(): void {
    if (this.#assignment === undefined) return;
    this.#around.registry.release(this, this.#assignment);
    this.#assignment = undefined;
  }

  // For the startup.

  begin(): void {
    const { startup } = this.#arriving();
    const parameters = startup.parameters();
    if (parameters !== undefined) this.#record.loggedIn(parameters.login);
    const { pools } = this.#around.policy();
    if (this.#slot.kind !== 'session') return this.end('too_many_sessions', this.#slot.exceededLimit);
    const chosen = choosePool(parameters?.poolRequest?.name, this.#pool, pools);
    if (chosen.kind === 'unknown') return this.end('unknown_pool', chosen.detail);
    this.#around.registry.transfer(this, this.#state, chosen.pool);
    this.#pool = chosen.pool;
    this.#route();
  }

  cancel(packet: Uint8Array): void {
    this.#leave();
    this.#arriving().parked?.drop();
    this.#slot.becomeOverLimit();
    this.#slot.setStarting(false);
    const onDone = (problem?: string): void =>
      this.end(problem === undefined ? 'cancel_forwarded' : 'cancel_failed', problem);
    const { pool, listener } = this;
    const address = this.#record.address();
    this.#leave = this.#around.cancels.passOn({ packet, pool, listener, address, onDone });
  }

  #arriving(): Arrival {
    if (this.#arrival === undefined) throw new Error('this client has its backend');
    return this.#arrival;
  }

  #decision(): PoolDecision | undefined {
    return this.#around.seams.table().pools.get(this.pool);
  }

  #route(): void {
    this.#policy = this.#around.pool(this.pool) ?? this.#policy;
    this.#around.seams.decideIfDue();
    const route = this.#decision()?.route;
    if (this.#around.isStopping()) return this.end('shutdown');
    if (route === undefined || route.kind === 'closed') return this.end('no_route');
    if (route.kind === 'hold') return this.#hold(route.cause, 0);
    // The bounds are of the other sessions.
    this.#releaseAssignment();
    const full = this.#around.registry.limitReached(this.#pool, route);
    if (full === undefined) this.#dial();
    else this.end('too_many_sessions', full);
  }

  #hold(cause: HoldCause, pauseMs: number): void {
    if (this.#around.isStopping()) return this.end('shutdown');
    const answer = this.#around.holdQueue.enter(this, { cause, since: this.#record.heldSince(), pauseMs });
    if (answer.kind === 'held') {
      if (this.#move('hold')) this.#leave = answer.leave;
      else answer.leave();
    } else {
      this.giveUp(answer.reason, answer.detail);
    }
  }

  #dial(): void {
    if (!this.#move('dial')) return;
    const { startup, attempts, parked } = this.#arriving();
    const abort = this.#around.connector.connect({
      session: this.id,
      clientAddress: this.#record.address(),
      pool: this.#policy,
      attempts,
      firstRequest: startup.firstRequest(),
      parked,
      onAssigned: (assignment) => {
        this.#around.registry.assign(this, assignment, this.#assignment);
        this.#assignment = assignment;
      },
      onConnected: (target, backend, firstReply) => this.#relay(target, backend, firstReply),
      onDeclined: (target, backend) => this.#decline(target, backend),
      onClosed: ({ member }) => {
        this.#record.reached(member);
        // An error that answers a request for encryption is shown to nobody.
        if (startup.parameters() === undefined) this.cut('backend_closed');
        else this.end('backend_closed', describeEnd(member, 'backend_closed', undefined));
      },
      onRouteAgain: () => this.#route(),
      onUnreachable: (pauseMs) => this.#hold('no_member', pauseMs),
    });
    // With a parked backend it may be over by now.
    if (this.#state === 'dialing') this.#leave = abort;
  }

  #decline(target: Target, backend: Socket): void {
    const parked = this.#around.parked.park(target, backend);
    if (!this.#move('answer')) return parked.drop();
    const arrival = this.#arriving();
    arrival.parked = parked;
    arrival.startup.client().write(NOT_SUPPORTED);
    this.#leave = arrival.startup.next();
  }

  #relay(target: Target, backend: Socket, firstReply: FirstReply | undefined): void {
    const { startup } = this.#arriving();
    // A client that was reset in this turn of the event loop has not had its `close` yet.
    if (startup.client().destroyed) this.end('client_gave_up');
    if (!this.#move('relay')) return void backend.destroy();
    this.#leave = this.#around.maxAge.watch(this, this.#policy.maxSessionAgeMs);
    this.#record.opened(this.#pool, target.member);
    this.#relayed = new RelayedSession({
      client: startup.client(),
      backend,
      handedOver: startup.handOver(),
      firstReply,
      pool: this.#policy,
      target,
      idleListeners: this.#idleListeners,
      traffic: this.#record.traffic,
      services: this.#around.relaying,
      onEnded: (ending) => this.cut(ending),
      onLost: (ending, detail, message) => this.#close(ending, detail, message),
      onLanded: () => this.end('landed_on_standby', `${target.member}: in_hot_standby is on`),
    });
    this.#arrival = undefined;
    this.#relayed.start();
  }

  /** Before there is a backend: the client is told why, in an error. */
  #refuse(reason: RefusalReason, detail: string | undefined): void {
    if (!this.#move('end')) return;
    const { clock } = this.#around.seams;
    const error = this.#refusal(reason, detail);
    this.#record.closing(reason, detail);
    this.#leave = this.#arriving().startup.refuse(error, clock, () => this.cut(reason, detail));
  }

  #endRelayed(relayed: RelayedSession, reason: CloseReason, detail: string | undefined): void {
    const lostBy = relayed.lostBy();
    // The end of its server is the reason that stays.
    if (lostBy !== undefined) this.#close(lostBy, undefined, undefined);
    else if (!isEndReason(reason) || !relayed.canBeTold()) this.cut(reason, detail);
    else this.#close(reason, detail, closeMessage(reason, this.#pool, detail));
  }

  /** The backend ends synchronously; the client reads what there is to read, then the message. */
  #close(reason: EndReason | BackendEnding, detail: string | undefined, message: ErrorFields | undefined): void {
    const relayed = this.#relayed;
    if (relayed === undefined || !this.#move('end')) return;
    this.#record.closing(reason, detail);
    // Its client may take its time, and has no session any more.
    if (relayed.lostBy() !== undefined) this.#slot.becomeOverLimit();
    this.#leave = relayed.close(message, () => this.cut(reason, detail));
  }

  #refusal(reason: RefusalReason, detail: string | undefined): Uint8Array {
    return encodeRefusal(reason, {
      pool: this.#policy,
      decision: this.#decision(),
      now: this.#around.seams.clock.now(),
      waitedMs: this.#record.waitedMs(),
      detail,
      targetFrom: this.#arriving().startup.parameters()?.poolRequest?.from,
    });
  }
}
