// One client connection, accept to close: the state and the only method that changes it. Every state owns at most one thing
// under way (a deadline, a place in the line, a dial), ended by `#leave` when the state is left. Ends with exactly one reason and
// one event. Before a byte is forwarded the table is read in the same step (G2, G3).
import type { Socket } from 'node:net';
import { evictionReason } from '../core/close-reason.ts';
import type { CloseReason, LeaveCause } from '../core/close-reason.ts';
import type { Login } from '../core/events.ts';
import type { Instant } from '../core/instant.ts';
import type { MemberName } from '../core/member.ts';
import type { PoolName, PoolPolicy } from '../core/policy.ts';
import type { HoldCause, PoolDecision, Target } from '../core/routing-table.ts';
import { nextSessionState } from '../core/session-state.ts';
import type { SessionEvent, SessionState } from '../core/session-state.ts';
import { encodeErrorResponse } from '../wire/error-response.ts';
import { startupParameters } from '../wire/startup.ts';
import type { Recognition } from '../wire/startup.ts';
import type { Admission, Seat } from './admission.ts';
import { approach, openRoute } from './approach.ts';
import { Attempts } from './attempts.ts';
import { MOST_CANCEL_TARGETS, forwardCancel } from './cancel.ts';
import type { Dial } from './dial.ts';
import type { Greeted } from './greeting.ts';
import type { Holding } from './holding.ts';
import type { Waiting } from './holding.ts';
import type { ProxyOptions } from './options.ts';
import { HTTP_ANSWER, refusalText } from './refusal-text.ts';
import type { RefusalReason } from './refusal-text.ts';
import { refuse } from './refuse.ts';
import type { Place, Registry, Seated } from './registry.ts';
import { startRelay } from './relay.ts';
import type { RelayEnding, Traffic } from './relay.ts';
import { ignoreErrors, peerText, resetSocket } from './socket.ts';
import { Intake } from './startup.ts';

/** What the sessions of a proxy share. */
export interface Surroundings {
  readonly options: ProxyOptions;
  readonly registry: Registry;
  readonly holding: Holding;
  readonly admission: Admission;
  readonly dial: Dial;
  /** Counts the picks of a pool. */
  readonly nextTurn: (pool: PoolName) => number;
  /** No new backend connections: the process is about to end. */
  readonly isStopping: () => boolean;
}

const nothing = (): void => {};

function readLogin(packet: Uint8Array): Login {
  const parameters = startupParameters(packet);
  const user = parameters.get('user');
  const database = parameters.get('database') ?? user;
  return { ...(user === undefined ? {} : { user }), ...(database === undefined ? {} : { database }) };
}

export class Session implements Seated, Waiting {
  readonly id: number;
  readonly pool: PoolName;
  readonly #policy: PoolPolicy;
  readonly #around: Surroundings;
  readonly #client: Socket;
  readonly #clientText: string;
  readonly #intake: Intake;
  readonly #attempts: Attempts;
  readonly #acceptedAt: Instant;
  readonly #traffic: Traffic = { toBackendBytes: 0, toClientBytes: 0 };
  #seat: Seat;
  #state: SessionState = 'startup';
  /** Ends what the present state has under way. */
  #leave: () => void = nothing;
  #packet: Recognition | undefined;
  #login: Login = {};
  #heldSince: Instant | undefined;
  #place: Place | undefined;
  #backend: Socket | undefined;
  #member: MemberName | undefined;
  /** Fixed when the client is refused: what happens while it lingers changes nothing. */
  #verdict: { readonly reason: CloseReason; readonly detail: string | undefined } | undefined;

  constructor(id: number, policy: PoolPolicy, client: Socket, around: Surroundings) {
    this.id = id;
    this.pool = policy.name;
    this.#policy = policy;
    this.#around = around;
    this.#client = client;
    this.#clientText = peerText(client);
    this.#acceptedAt = around.options.clock.now();
    this.#attempts = new Attempts(around.options.backend.attempts);
    this.#seat = around.admission.admit();
    this.#intake = new Intake(client, {
      onPacket: (packet) => this.#take(packet),
      onEnd: () => this.#clientEnded(),
      onClosed: () => this.#clientVanished(),
    });
  }

  start(): void {
    const { registry, options } = this.#around;
    ignoreErrors(this.#client);
    registry.add(this);
    options.onEvent({ kind: 'client-accepted', pool: this.pool });
    if (this.#seat === 'none') return this.close('too-many-sessions', 'cut off: too many to be told');
    const timeoutMs = options.client.startupTimeoutMs;
    this.#leave = options.clock.schedule(timeoutMs, () => this.#refuse('startup-timeout', `waited ${timeoutMs} ms`));
    this.#intake.start();
  }

  place(): Place | undefined {
    return this.#place;
  }

  release(): void {
    this.#route();
  }

  expire(): void {
    if (this.#isConnectTheTrouble()) this.#refuse('connect-failed', this.#attempts.lastFailure());
    else this.#refuse('hold-timeout');
  }

  turnAway(): void {
    this.#refuse('no-route');
  }

  evict(cause: LeaveCause): void {
    if (this.#state === 'relaying') this.close(evictionReason(cause));
    else this.giveUpDial();
  }

  giveUpDial(): void {
    if (this.#state === 'dialing' && this.#place !== undefined) this.#route();
  }

  stopWaiting(): void {
    if (this.#state === 'holding') this.#refuse('shutdown');
  }

  /** At once and from every state; later calls do nothing. */
  close(reason: CloseReason, detail?: string): void {
    if (!this.#move('close')) return;
    const { admission, options } = this.#around;
    admission.leave(this.#seat);
    if (this.#backend !== undefined) {
      if (reason.startsWith('evicted-')) resetSocket(this.#backend);
      else this.#backend.destroy();
    }
    this.#client.destroy();
    options.onEvent({
      kind: 'session-closed',
      pool: this.pool,
      session: this.id,
      member: this.#member,
      client: this.#clientText,
      ...this.#login,
      reason: this.#verdict?.reason ?? reason,
      detail: this.#verdict === undefined ? detail : this.#verdict.detail,
      durationMs: options.clock.now() - this.#acceptedAt,
      ...this.#traffic,
    });
  }

  /** The transition method: false when the session is closed, or had to be because the step is not in the table. */
  #move(event: SessionEvent): boolean {
    const from = this.#state;
    const to = nextSessionState(from, event);
    if (from === 'closed') return false;
    if (to === undefined) {
      this.close('internal-error', `no step "${event}" from "${from}"`);
      return false;
    }
    const leave = this.#leave;
    this.#leave = nothing;
    this.#state = to;
    leave();
    if (this.#place !== undefined && to !== 'relaying') {
      this.#around.registry.rise(this, this.#place);
      this.#place = undefined;
    }
    this.#around.registry.moved(this, from, to);
    return true;
  }

  #take(packet: Recognition): void {
    this.#packet = packet;
    if (packet.kind === 'startup') this.#login = readLogin(this.#intake.bytes().subarray(0, packet.length));
    if (packet.kind === 'cancel-request') this.#cancel(packet.length);
    else if (packet.kind === 'invalid') this.#refuse('not-postgres', packet.why);
    else if (packet.kind === 'http') this.#refuse('not-postgres', 'HTTP', HTTP_ANSWER);
    else if (this.#seat === 'session') this.#route();
    else
      this.#refuse('too-many-sessions', `the bound of ${this.#around.options.client.maxSessions} sessions is reached`);
  }

  #clientEnded(): void {
    const isIncomplete = this.#state === 'startup' && this.#packet === undefined;
    if (isIncomplete && this.#intake.bytes().length === 0) this.close('no-startup');
    else if (isIncomplete) this.#refuse('not-postgres', 'incomplete startup packet');
    else if (this.#state !== 'startup' && !this.#hasPipelined()) this.close('client-gave-up');
  }

  #clientVanished(): void {
    if (this.#state !== 'startup') this.close('client-gave-up');
    else if (this.#packet !== undefined) this.#client.destroy();
    else this.close(this.#intake.bytes().length === 0 ? 'no-startup' : 'client-reset');
  }

  /** Who asked more than one thing and half-closed still wants the answers; who only knocked has left. */
  #hasPipelined(): boolean {
    const packet = this.#packet;
    return packet !== undefined && 'length' in packet && this.#intake.bytes().length > packet.length;
  }

  #decision(): PoolDecision | undefined {
    return this.#around.options.table().pools.get(this.pool);
  }

  #route(): void {
    const route = this.#decision()?.route;
    if (this.#around.isStopping()) return this.#refuse('shutdown');
    if (route === undefined || route.kind === 'closed') return this.#refuse('no-route');
    if (route.kind === 'hold') return this.#hold(route.cause, 0);
    const { fallback } = route;
    if (fallback !== undefined && this.#around.registry.fallbackSessions(this.pool) >= fallback.maxSessions) {
      const bound = `pool "${this.pool}" lives on the members of pool "${fallback.pool}"`;
      return this.#refuse('too-many-sessions', `${bound}, where its bound is ${fallback.maxSessions} sessions`);
    }
    this.#dial();
  }

  #hold(cause: HoldCause, pauseMs: number): void {
    if (this.#around.isStopping()) return this.#refuse('shutdown');
    const { holding, options } = this.#around;
    this.#heldSince ??= options.clock.now();
    const answer = holding.enter(this, { cause, since: this.#heldSince, pauseMs });
    if (answer.kind === 'held') {
      if (this.#move('hold')) this.#leave = answer.leave;
      else answer.leave();
    } else if (this.#isConnectTheTrouble()) {
      this.#refuse('connect-failed', this.#attempts.lastFailure());
    } else {
      this.#refuse(answer.reason, answer.detail);
    }
  }

  #isConnectTheTrouble(): boolean {
    const { options } = this.#around;
    return this.#attempts.lastFailure() !== undefined && openRoute(options, this.pool) !== undefined;
  }

  #dial(): void {
    if (!this.#move('dial')) return;
    const { options, registry, dial, nextTurn } = this.#around;
    this.#leave = approach({
      session: this.id,
      pool: this.#policy,
      attempts: this.#attempts,
      options,
      registry,
      dial,
      turn: nextTurn(this.pool),
      startup: this.#startupToAwait(),
      onPlace: (place) => {
        this.#place = place;
        registry.sit(this, place);
      },
      onConnected: (target, backend, greeted) => this.#relay(target, backend, greeted),
      onRouteAgain: () => this.#route(),
      onUnreachable: (pauseMs) => this.#hold('no-member', pauseMs),
    });
  }

  /**
   * A client of an exclusive pool whose server shuts down in this very moment gets one more chance: its startup packet, which
   * nobody took, is its whole conversation so far. The second server's answer is relayed whatever it is.
   */
  #startupToAwait(): Uint8Array | undefined {
    const packet = this.#packet;
    if (!this.#policy.exclusive || this.#attempts.wasTurnedAway()) return undefined;
    if (packet?.kind !== 'startup' || packet.major !== 3 || this.#hasPipelined() || this.#intake.hasEnded())
      return undefined;
    return this.#intake.bytes().slice(0, packet.length);
  }

  #relay({ member }: Target, backend: Socket, greeted: Greeted | undefined): void {
    const { options, registry } = this.#around;
    this.#backend = backend;
    if (!this.#move('relay')) return;
    this.#member = member;
    const opening = this.#intake.bytes();
    this.#intake.release();
    options.onEvent({
      kind: 'session-opened',
      pool: this.pool,
      session: this.id,
      member,
      client: this.#clientText,
      ...this.#login,
    });
    startRelay({
      client: this.#client,
      backend,
      opening,
      greeted,
      hasClientEnded: this.#intake.hasEnded(),
      traffic: this.#traffic,
      poolTraffic: registry.traffic(this.pool),
      clock: options.clock,
      onEnded: (ending) => this.#relayEnded(ending, member),
    });
  }

  #relayEnded(ending: RelayEnding, member: MemberName): void {
    const isByBackend = ending === 'backend-reset' || ending === 'backend-closed';
    if (isByBackend && this.#state === 'relaying') this.#around.options.onSmell({ kind: ending, member });
    this.close(ending);
  }

  #cancel(length: number): void {
    const { registry, options, admission, dial } = this.#around;
    this.#leave();
    this.#seat = admission.becomeVisitor(this.#seat);
    const places = registry.placesOf(this.pool).slice(0, MOST_CANCEL_TARGETS);
    options.onEvent({ kind: 'cancel-forwarded', pool: this.pool, members: places.map(({ member }) => member) });
    if (places.length === 0) return this.close('cancel-forwarded', 'no session to cancel in this pool');
    this.#leave = forwardCancel({
      packet: this.#intake.bytes().slice(0, length),
      addresses: places.map(({ address }) => address),
      dial,
      clock: options.clock,
      onDone: () => this.close('cancel-forwarded'),
    });
  }

  #refuse(reason: RefusalReason, detail?: string, answer?: Uint8Array): void {
    if (!this.#move('refuse')) return;
    const { clock } = this.#around.options;
    const now = clock.now();
    const waitedMs = this.#heldSince === undefined ? 0 : now - this.#heldSince;
    const facts = { pool: this.#policy, decision: this.#decision(), now, waitedMs, detail };
    const words = answer ?? encodeErrorResponse(refusalText(reason, facts));
    this.#verdict = { reason, detail };
    const refused = { client: this.#client, intake: this.#intake, packet: this.#packet };
    this.#leave = refuse(refused, words, clock, () => this.close(reason, detail));
  }
}
