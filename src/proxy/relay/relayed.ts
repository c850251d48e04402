// A session that is relayed to one server. Owns the relay between the two sockets, and knows how the server has ended
// the session. The conversation outlives the server.
import { isOfPrimary } from '../../core/primary-pools.ts';
import type { BackendEnding, CloseReason } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { Traffic } from '../../reports/counts.ts';
import type { Trigger } from '../../reports/trigger.ts';
import type { SessionActivity, SessionTls, StatementEnd, ShownReadWait } from '../../reports/session-list.ts';
import type { SessionState } from '../../reports/session-state.ts';
import type { SessionFollower } from '../../wire/follow/session-follower.ts';
import { isOfPooler, type CancelKey } from '../../wire/messages/cancel-key.ts';
import { encodeErrorResponse } from '../../wire/messages/error-response.ts';
import { isAboutClient } from '../../wire/messages/sql-state.ts';
import type { WaitingBytes } from '../cancel/waiting-bytes.ts';
import type { LoginRefusals } from '../connect/login-refusals.ts';
import type { ObservedLatency } from '../connect/observed-latency.ts';
import { describeEnd, describeRefused, lossMessage } from '../messages/close-message.ts';
import type { RelayEnds } from '../pool-traffic.ts';
import { servedText, serverText, type Server } from '../server.ts';
import type { SessionRecord } from '../session-record.ts';
import { isTls, resetSocket, sayGoodbye, type ProxySocket } from '../socket.ts';
import type { Farewell, SessionControl, SessionHandle, Stage } from '../stage.ts';
import type { Conversation } from './conversation.ts';
import type { Taps } from './directions.ts';
import { Relay, type RelayOpening } from './relay.ts';
import { ReplyTimer } from './reply-timer.ts';
import type { StallGate } from './stall-gate.ts';
import type { OpenPipes } from './stream-pipe.ts';

/** The parts of a proxy that its relayed sessions share. */
export interface RelayServices {
  readonly clock: Clock;
  readonly onTrigger: (trigger: Trigger) => void;
  readonly stallGate: StallGate;
  readonly openPipes: OpenPipes;
  /** Has the counters of a pool. */
  readonly registry: { traffic(pool: PoolName, ends: RelayEnds | undefined): Traffic };
  readonly refusals: Pick<LoginRefusals, 'note'>;
  readonly latency: Pick<ObservedLatency, 'listener'>;
  /** Ends the session when it reaches a limit of its pool. Returns the cancel function. */
  readonly watchLimits: (session: SessionHandle, pool: PoolPolicy) => () => void;
}

/** The part that moves the session. */
export interface MovingPart {
  /** The session has this server now. */
  relayedBy(relayed: Relayed): void;
  /** The server has ended its connection. True: the session has left it, or has ended. */
  serverEnded(ending: BackendEnding): boolean;
}

export interface RelayedOptions {
  readonly session: SessionControl;
  readonly client: ProxySocket;
  readonly backend: ProxySocket;
  readonly conversation: Conversation;
  readonly pool: PoolPolicy;
  readonly server: Server;
  readonly record: Pick<SessionRecord, 'traffic' | 'lost' | 'reached' | 'database'>;
  readonly services: RelayServices;
  /** Undefined: the session stays for good. */
  readonly moving: MovingPart | undefined;
}

export class Relayed implements Stage {
  readonly #options: RelayedOptions;
  #relay: Relay | undefined;
  /** Ends the watch over its age. */
  #onLeft = nothing;
  /** Set when the server has ended the session. */
  #lost: Farewell | undefined;
  /** Set when the server turned out to be the wrong one: whether its client could be told. */
  #canTellLanding: boolean | undefined;

  constructor(options: RelayedOptions) {
    this.#options = options;
  }

  /** The login is still to come, or what follows the first reply to it. Call once. */
  start(opening: RelayOpening): void {
    const { conversation } = this.#options;
    const follower = conversation.follower();
    if (follower !== undefined) conversation.onLogin = (chunk) => !this.#hasLanded(follower, chunk);
    this.#begin().start(opening);
  }

  /** The session comes from another server. `news`: messages for its client. Call once instead of `start`. */
  resume(key: CancelKey | undefined, news: Uint8Array, opening: RelayOpening): void {
    const { conversation, server, record } = this.#options;
    if ('member' in server) record.reached(server.member);
    conversation.key.leadsTo(server, key);
    const relay = this.#begin();
    if (news.length > 0) conversation.passToClient(news);
    relay.start(opening);
  }

  /** The stage of the same session at its next server. */
  next(server: Server, backend: ProxySocket): Relayed {
    return new Relayed({ ...this.#options, server, backend });
  }

  client(): ProxySocket {
    return this.#options.client;
  }

  backend(): ProxySocket {
    return this.#options.backend;
  }

  left(to: SessionState): void {
    this.#onLeft();
    if (to !== 'closing') return;
    this.#release();
    resetSocket(this.#options.backend);
  }

  /** Between two messages of the server. A server that has ended the session before stays the reason. */
  farewell(reason: CloseReason, detail?: string): Farewell | undefined {
    if (this.#lost !== undefined) return this.#lost;
    const { conversation, pool } = this.#options;
    const activity = conversation.activity();
    // A client that has half-closed behind requests that are all answered expects nothing but the end.
    const isServed = activity !== 'busy' && activity !== 'starting' && this.#relay?.hasAllOfClient() === true;
    return conversation.farewell(reason, detail, { pool: pool.name, canTell: this.#canTellLanding, isServed });
  }

  /**
   * Between two transactions: the session leaves its server, which is told so. Its client's socket is the caller's, who
   * must listen to it synchronously. Returns the client's bytes that waited; `onLate` is given further ones that were
   * read before.
   */
  park(onLate: (chunk: Uint8Array) => void): WaitingBytes | undefined {
    const waiting = this.#relay?.stop(onLate);
    sayGoodbye(this.#options.backend);
    return waiting;
  }

  isIdle(): boolean {
    return this.#options.conversation.isIdle();
  }

  settlesInMs(): number {
    return this.#options.conversation.settlesInMs();
  }

  activity(): SessionActivity | undefined {
    return this.#options.conversation.activity();
  }

  waitingRead(): ShownReadWait | undefined {
    return this.#options.conversation.waitingRead();
  }

  /** With a reset both peers notice at once. */
  drop(isReset: boolean): void {
    const { client, backend } = this.#options;
    this.#release();
    for (const socket of [backend, client]) {
      if (isReset) resetSocket(socket);
      else socket.destroy();
    }
  }

  tls(): SessionTls {
    if (isTls(this.#options.client)) return 'terminate';
    return this.#options.conversation.follower() === undefined ? 'passthrough' : 'none';
  }

  /** For a session that ends now. A server does not notice during a statement that its client is gone. */
  endStatement(): StatementEnd {
    const activity = this.activity();
    if (activity !== undefined && activity !== 'busy') return 'none';
    return this.#options.conversation.key.cancelStatement() ? 'cancel_sent' : 'not_cancelled';
  }

  /**
   * The server has ended the session. `canTell`: a session that cannot be read may be half-open, and a client that has
   * half a message cannot be told anything.
   */
  lossBy(ending: BackendEnding): { readonly farewell: Farewell; readonly canTell: boolean } {
    const { client, pool, record, conversation, server } = this.#options;
    record.lost();
    const lost = { reason: ending, detail: undefined, client, message: undefined, isLost: true } as const;
    const follower = conversation.follower();
    const fatal = follower?.fatal();
    const activity = conversation.activity();
    if (activity === undefined || follower?.isAtBoundaryToClient() !== true || !client.writable) {
      return { farewell: lost, canTell: false };
    }
    const detail = describeEnd(serverText(server), ending, fatal);
    if (this.#noteRefusal()) return { farewell: { ...lost, reason: 'backend_refused', detail }, canTell: true };
    const serves = servedText(pool.name, 'branch' in server ? server.branch.name : undefined);
    const words = fatal === undefined ? lossMessage({ ending, activity, serves, detail }) : undefined;
    return { farewell: { ...lost, detail, message: words && encodeErrorResponse(words) }, canTell: true };
  }

  #begin(): Relay {
    const { session, services, pool, conversation, moving } = this.#options;
    this.#onLeft = services.watchLimits(session, pool);
    moving?.relayedBy(this);
    const relay = this.#newRelay();
    this.#relay = relay;
    conversation.relaysBy(relay);
    return relay;
  }

  #newRelay(): Relay {
    const { client, backend, pool, record, services, session, conversation, server } = this.#options;
    const follower = conversation.follower();
    const ends = 'member' in server ? { server, database: record.database() } : undefined;
    const poolTraffic = services.registry.traffic(pool.name, ends);
    conversation.countsIn(poolTraffic);
    return new Relay({
      client,
      backend,
      taps: follower && this.#tapped(follower),
      gate: conversation.gate(services.stallGate.gateFor(pool), server),
      pipes: services.openPipes(client, backend),
      traffic: record.traffic,
      poolTraffic,
      clock: services.clock,
      isBackendLeaving: () => this.#isGoodbye(),
      onBackendEnded: (ending) => this.#backendEnded(ending),
      onEnded: (ending) => {
        if (!this.#noteRefusal()) return session.cut(this.#isGoodbye() ? 'client_closed' : ending);
        // A client closes as soon as it has read the error.
        const detail = `${serverText(server)}: ${describeRefused(follower?.fatal())}`;
        return session.cut('backend_refused', detail);
      },
    });
  }

  #tapped(follower: SessionFollower): Taps {
    const { conversation, pool, server, services } = this.#options;
    const onReply = services.latency.listener(pool, server);
    return onReply === undefined
      ? conversation
      : new ReplyTimer(conversation, { follower, clock: services.clock, onReply });
  }

  /** Reads what comes before the first ReadyForQuery. True: it is the wrong server; its client must not see it. */
  #hasLanded(follower: SessionFollower, chunk: Uint8Array): boolean {
    const { client, pool, services, server, conversation } = this.#options;
    const canTell = follower.isAtBoundaryToClient() && client.writable;
    follower.fromBackend(chunk);
    const isPrimaryWanted = isOfPrimary(pool) && 'member' in server;
    if (isPrimaryWanted && follower.isInHotStandby() === true && server.isStandbyReportStale !== true) {
      this.#canTellLanding ??= canTell;
      // The key may be in a later chunk.
      if (follower.cancelKey() !== undefined || follower.activity() !== 'starting') this.#lands();
      return true;
    }
    this.#options.conversation.key.learn(follower.cancelKey(), server);
    if (follower.activity() === 'starting') return false;
    conversation.onLogin = undefined;
    conversation.settles();
    const hasLeft = isPrimaryWanted && server.isTrial === true && follower.isInHotStandby() === false;
    if (hasLeft) services.onTrigger({ kind: 'left_recovery', member: server.member });
    return false;
  }

  /** The key of its server tells a pooler, which may repeat an old report. */
  #lands(): void {
    const { services, session, conversation, server } = this.#options;
    const isPooler = isOfPooler(conversation.follower()?.cancelKey());
    if ('member' in server) services.onTrigger({ kind: 'landed_on_standby', member: server.member, isPooler });
    session.end('landed_on_standby', `${serverText(server)}: in_hot_standby is on`);
  }

  /** The client sent Terminate, and the server gave no other reason for its end. */
  #isGoodbye(): boolean {
    const follower = this.#options.conversation.follower();
    return follower?.isTerminating() === true && follower.fatal() === undefined;
  }

  #backendEnded(ending: BackendEnding): boolean {
    const { conversation, server, services, moving } = this.#options;
    if (this.#isGoodbye()) return false;
    if (this.#canTellLanding !== undefined) {
      this.#lands();
      return true;
    }
    const fatal = conversation.follower()?.fatal();
    const isNews = fatal === undefined || !isAboutClient(fatal);
    if (fatal === undefined) this.#noteRefusal(true);
    if (isNews && 'member' in server) services.onTrigger({ kind: ending, member: server.member });
    return moving?.serverEnded(ending) === true || this.#tellEnd(ending);
  }

  #tellEnd(ending: BackendEnding): boolean {
    const { farewell, canTell } = this.lossBy(ending);
    this.#lost = farewell;
    if (canTell) this.#options.session.end(ending);
    return canTell;
  }

  /** True: the server sent an error instead of letting the session in. `isWordless`: it ended without one. */
  #noteRefusal(isWordless = false): boolean {
    const { session, services, conversation, server } = this.#options;
    const fatal = conversation.follower()?.fatal();
    if (conversation.activity() !== 'starting' || (fatal === undefined && !isWordless)) return false;
    if ('member' in server) services.refusals.note(session, server.member, fatal);
    return fatal !== undefined;
  }

  #release(): void {
    this.#relay?.stop();
    this.#options.conversation.parks();
    this.#options.conversation.key.remove();
  }
}
