// The first stage of a session, from its accept until its server has taken it in: its client says what it wants, waits
// for a route, and is connected. Each state has at most one thing under way (a deadline, a place in the hold queue, a
// connect). The routing table is brought up to date before each routing (G2, G3).
import { isRefusal, type CloseReason, type RefusalReason } from '../model/close-reason.ts';
import { nothing } from '../model/once.ts';
import { addressText, type Address } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { openRoute, type HoldCause, type PoolDecision } from '../core/routing-table.ts';
import type { SessionEvent, SessionState } from '../reports/session-state.ts';
import type { Slot } from './accept/admission.ts';
import { ConnectAttempts } from './connect/connect-attempts.ts';
import type { FirstReply } from './connect/first-reply.ts';
import { isTrialRoute } from './connect/hold-queue.ts';
import type { ParkedBackend } from './connect/parked-backends.ts';
import { encodeRefusal } from './messages/refusal-message.ts';
import type { Server } from './server.ts';
import { closeSocket, ignoreErrors, type ProxySocket } from './socket.ts';
import type { Farewell, Stage } from './stage.ts';
import type { ClientStartup } from './startup/client-startup.ts';
import { startupParameters } from '../wire/startup/startup.ts';
import { choosePool } from './startup/startup-parameters.ts';
import { enterNextStage, type SessionParts, type TakenIn } from './taken-in.ts';

export interface ArrivingOptions extends SessionParts {
  readonly client: ProxySocket;
  /** The client is a load balancer that names its own client first. */
  readonly awaitsHeader: boolean;
  /** The listener's pool. */
  readonly policy: PoolPolicy;
  readonly slot: Slot;
}

export class Arriving implements Stage {
  readonly #options: ArrivingOptions;
  readonly #startup: ClientStartup;
  readonly #attempts: ConnectAttempts;
  #policy: PoolPolicy;
  /** Set from a declined encryption until the client's startup message has its backend. */
  #parked: ParkedBackend | undefined;
  /** Ends what the state has under way. */
  #leave = nothing;

  constructor(options: ArrivingOptions) {
    const { session, client, awaitsHeader, policy, parts } = options;
    this.#options = options;
    this.#policy = policy;
    this.#attempts = new ConnectAttempts(parts.policy().backend.connectAttempts);
    this.#startup = parts.newStartup(client, awaitsHeader, {
      onRequest: () => this.#begin(),
      onCancel: (packet, isOffered) => this.#cancel(packet, isOffered),
      onOffer: (packet) => this.#offered(packet),
      onSource: (source) => this.#identify(source),
      onEnd: (reason, detail) => session.end(reason, detail),
    });
  }

  start(): void {
    const { client, awaitsHeader, slot, record } = this.#options;
    ignoreErrors(client);
    if (!awaitsHeader) record.accepted();
    if (slot.kind === 'none') this.#cutOff();
    else this.#leave = this.#startup.start();
  }

  client(): ProxySocket {
    return this.#startup.client();
  }

  left(to: SessionState): void {
    const leave = this.#leave;
    this.#leave = nothing;
    leave();
    if (to !== 'dialing' && to !== 'startup') this.#parked?.drop();
  }

  /** An error that says why, before there is a backend. */
  farewell(reason: CloseReason, detail?: string): Farewell | undefined {
    const startup = isRefusal(reason) ? this.#startup.unanswered() : undefined;
    if (!isRefusal(reason) || startup === undefined) return undefined;
    return { reason, detail, client: this.client(), message: this.#refusal(reason, detail), startup };
  }

  drop(): void {
    closeSocket(this.client());
  }

  /** A client does not wait without a limit while members change faster than it can connect (G10). */
  reroute(): void {
    const { session, record, parts } = this.#options;
    if (session.state !== 'dialing' || session.assignment() === undefined) return undefined;
    const isLate = parts.clock.now() - record.heldSince() > parts.policy().hold.clientTimeoutMs;
    return isLate ? this.#giveUp('hold_timeout') : this.#route();
  }

  #enter(step: SessionEvent, leave: () => void): boolean {
    if (!this.#options.session.move(step)) return false;
    // Counts as its wait, for the client and for the list of sessions.
    if (step === 'hold') this.#options.record.heldSince();
    this.#leave = leave;
    return true;
  }

  #begin(): void {
    const { session, slot, record, parts } = this.#options;
    const parameters = this.#startup.parameters();
    if (parameters !== undefined) record.named(parameters.names);
    if (slot.exceededLimit !== undefined) return session.end('too_many_sessions', slot.exceededLimit);
    const chosen = choosePool(parameters?.poolRequest?.name, session.pool, parts.policy());
    if (chosen.kind === 'unknown') return session.end('unknown_pool', chosen.detail);
    const access = this.#policy.exclusive ? 'write' : 'read';
    parts.registry.transfer(session, session.state, chosen.pool);
    session.pool = chosen.pool;
    this.#policy = parts.pool(chosen.pool) ?? this.#policy;
    if (parameters !== undefined) parts.registry.settled(session);
    if (chosen.kind === 'pool') return this.#isReadable() ? this.#route() : session.end('causal_reads_unreadable');
    this.#parked?.drop();
    return parts.connectToBranch({
      ...chosen,
      session: session.id,
      access,
      startup: this.#startup,
      enter: (step, leave) => this.#enter(step, leave),
      onFound: (branch) => record.found(branch),
      onConnected: (server, backend, reply) => this.#connected(server, backend, reply),
      onRefused: (reason, detail) => session.end(reason, detail),
    });
  }

  /** As far as the pool needs it. */
  #isReadable(): boolean {
    if (this.#policy.causalReads === undefined) return true;
    const parameters = this.#startup.parameters();
    return parameters !== undefined && !startupParameters(parameters.forwarded).has('replication');
  }

  /** The limit on sessions from one address could not be checked before. */
  #identify(source: Address | undefined): void {
    const { session, slot, record } = this.#options;
    if (source !== undefined) {
      record.forwarded(session.client, source.host);
      session.client = addressText(source);
    }
    record.accepted();
    slot.identify(record.address());
    if (slot.kind === 'none') this.#cutOff();
  }

  #cutOff(): void {
    const { session, client, slot } = this.#options;
    // Sent without lingering; most clients still read it.
    client.write(this.#refusal('too_many_sessions', slot.exceededLimit));
    session.cut('too_many_sessions', `${slot.exceededLimit}: cut off`);
  }

  /** Its deadline is that of a startup. */
  #offered(packet: Uint8Array): void {
    const { session, slot, parts } = this.#options;
    if (!parts.cancels.takesOffers())
      return session.end('not_postgres', 'a cancel request of a peer: peers is not set');
    slot.becomeOverLimit();
    return parts.cancels.isAnywhere(packet, (isHere) => {
      if (session.state !== 'startup') return;
      if (isHere) this.#startup.acceptOffer();
      else session.end('cancel_offered');
    });
  }

  #cancel(packet: Uint8Array, isOffered: boolean): void {
    const { session, slot, record, parts } = this.#options;
    this.#leave();
    this.#parked?.drop();
    slot.becomeOverLimit();
    slot.setStarting(false);
    const onDone = (problem?: string): void =>
      session.end(problem === undefined ? 'cancel_forwarded' : 'cancel_failed', problem);
    const { pool, listener } = session;
    this.#leave = parts.cancels.passOn({ packet, pool, listener, address: record.address(), isOffered, onDone });
  }

  #giveUp(reason: RefusalReason, detail?: string): void {
    const { session, record, parts } = this.#options;
    const hasRoute = openRoute(parts.table(), session.pool) !== undefined;
    const failure = hasRoute ? this.#attempts.failure() : undefined;
    if (failure?.member !== undefined) record.reached(failure.member);
    session.end(failure?.reason ?? reason, failure?.detail ?? detail);
  }

  #decision(): PoolDecision | undefined {
    return this.#options.parts.table().pools.get(this.#options.session.pool);
  }

  #route(isItsTurn = false): void {
    const { session, parts } = this.#options;
    this.#policy = parts.pool(session.pool) ?? this.#policy;
    // Its own old assignment must not count against the limits, nor have the decision route the session as well.
    session.assign(undefined);
    parts.decideIfDue();
    const route = this.#decision()?.route;
    if (parts.isStopping()) return session.end('shutdown');
    if (route === undefined || route.kind === 'closed') return session.end('no_route');
    if (route.kind === 'hold') return this.#hold(route.cause, 0);
    if (!isItsTurn && isTrialRoute(route)) return this.#hold('in_recovery', 0);
    const exceeded = parts.registry.limitReached(session.pool, route);
    return exceeded === undefined ? this.#connect() : session.end('too_many_sessions', exceeded);
  }

  #hold(cause: HoldCause, pauseMs: number): void {
    const { session, record, parts } = this.#options;
    if (parts.isStopping()) return session.end('shutdown');
    const answer = parts.holdQueue.enter({
      session,
      cause,
      since: record.heldSince(),
      pauseMs,
      onReleased: () => this.#route(true),
      onGiveUp: (reason) => this.#giveUp(reason),
    });
    if (answer.kind === 'refused') this.#giveUp(answer.reason, answer.detail);
    else if (!this.#enter('hold', answer.leave)) answer.leave();
  }

  #connect(): void {
    const { session, record, parts } = this.#options;
    if (!session.move('dial')) return;
    const abort = parts.connector.connect({
      session: session.id,
      clientAddress: record.address(),
      pool: this.#policy,
      attempts: this.#attempts,
      firstRequest: this.#startup.firstRequest(),
      isEncrypted: this.#startup.isEncrypting(),
      hasWaited: record.waitedMs() > 0,
      parked: this.#parked,
      onAssigned: (assignment) => session.assign(assignment),
      onConnected: (target, backend, firstReply) => this.#connected(target, backend, firstReply),
      onDeclined: (backend) => this.#decline(backend),
      onClosed: () => this.#giveUp('no_route'),
      onRouteAgain: () => this.#route(),
      onUnreachable: (pauseMs) => this.#hold('no_member', pauseMs),
    });
    // A parked backend may have been used synchronously.
    if (session.state === 'dialing') this.#leave = abort;
  }

  #decline(parked: ParkedBackend): void {
    if (!this.#options.session.move('answer')) return parked.drop();
    this.#parked = parked;
    this.#leave = this.#startup.declineEncryption();
  }

  #connected(server: Server, backend: ProxySocket, firstReply: FirstReply | undefined): void {
    const { session } = this.#options;
    const client = this.client();
    // The `close` event of a client that was reset in this turn of the event loop is still to come.
    if (client.destroyed) session.end('client_gave_up');
    if (session.state === 'closed') return void backend.destroy();
    const refusal: TakenIn['refusal'] = (reason, detail) => this.#refusal(reason, detail);
    const handedOver = this.#startup.handOver();
    return enterNextStage(this.#options, {
      client,
      server,
      backend,
      firstReply,
      handedOver,
      pool: this.#policy,
      refusal,
    });
  }

  #refusal(reason: RefusalReason, detail: string | undefined): Uint8Array {
    const targetFrom = this.#startup.parameters()?.poolRequest?.from;
    const facts = { pool: this.#policy, decision: this.#decision(), detail, targetFrom };
    // A server's own words say more than ours.
    return this.#attempts.words(reason) ?? encodeRefusal(reason, { ...this.#options.record.refusalFacts(), ...facts });
  }
}
