// A session that has, or had, its backend. Owns the relay between the two sockets, the follower that reads along, the
// session's cancel key, and what can be told to the client. Where the stream can be read, the follower is shown every
// byte behind the startup packet before the byte is sent on. A session that moves keeps all of it but the relay.
import type { Socket } from 'node:net';
import { isOfPrimary } from '../../core/primary-pools.ts';
import { CLOSE_REASONS, isEndReason } from '../../model/close-reason.ts';
import type { BackendEnding, CloseReason } from '../../model/close-reason.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import type { SessionState } from '../../reports/session-state.ts';
import type { SessionActivity, SessionTls, StatementEnd } from '../../reports/session-list.ts';
import { encodeErrorResponse } from '../../wire/messages/error-response.ts';
import { isOfPooler } from '../../wire/messages/cancel-key.ts';
import { SessionFollower } from '../../wire/follow/session-follower.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import type { Activity } from '../../wire/follow/session-follower.ts';
import { isAboutClient } from '../../wire/messages/sql-state.ts';
import type { WaitingBytes } from '../cancel/waiting-bytes.ts';
import type { CancelTarget, Keyed } from '../cancel/cancel-keys.ts';
import { closeMessage, describeEnd, lossMessage } from '../messages/close-message.ts';
import { servedText, serverText } from '../server.ts';
import type { Server } from '../server.ts';
import { isTls, resetSocket, sayGoodbye } from '../socket.ts';
import type { Farewell, SessionControl, Stage } from '../stage.ts';
import type { Taps } from './directions.ts';
import type { Traffic } from '../../reports/counts.ts';
import type { NextServer } from './next-server.ts';
import type { RelayServices } from './relay-services.ts';
import { Relay } from './relay.ts';
import type { Opening } from './relay.ts';
import { SettlingTime } from './settling-time.ts';
import type { Gate } from './stall-gate.ts';

/** The part of a session that may move. It stands between the relay and the session. */
export interface MovingPart {
  readonly memory: SessionMemory;
  tapsOver(session: RelayedSession): Taps;
  gateBefore(gate: Gate): Gate;
  /** A question of ours is under way at the server. */
  isQuestioned(): boolean;
  /** The server has ended its connection. True: the session was parked for that, or has ended. */
  serverEnded(ending: BackendEnding): boolean;
}

export interface RelayedSessionInputs {
  readonly session: SessionControl;
  readonly client: Socket;
  readonly backend: Socket;
  /** Its stream is in plain text of protocol 3. */
  readonly isReadable: boolean;
  readonly pool: PoolPolicy;
  readonly server: Server;
  /** Called after bytes of the backend when the session is idle behind them. */
  readonly idleListeners: ReadonlySet<() => void>;
  /** Has the session's own counters. */
  readonly record: {
    readonly traffic: Traffic;
    /** Its server has ended it. */
    lost(): void;
  };
  readonly services: RelayServices;
  /** Undefined: the session stays for good. */
  readonly moving: MovingPart | undefined;
}

const nothing = (): void => {};

export class RelayedSession implements Stage, Taps, CancelTarget {
  /** Ends what the state has under way. */
  onLeft = nothing;
  readonly #inputs: RelayedSessionInputs;
  readonly #moving: MovingPart | undefined;
  #backend: Socket;
  #server: Server;
  #relay: Relay;
  readonly #follower: SessionFollower | undefined;
  #keyed: Keyed | undefined;
  /** While it is parked. */
  #onCancel: (() => void) | undefined;
  #isStarting = true;
  readonly #settling: SettlingTime;
  /** Set when the server has ended the session. */
  #lost: Farewell | undefined;
  /** Set when the server turned out to be the wrong one: whether its client could be told. */
  #canTellLanding: boolean | undefined;

  constructor(inputs: RelayedSessionInputs) {
    const { backend, server } = inputs;
    this.#inputs = inputs;
    this.#settling = new SettlingTime(inputs.services.clock, inputs.record.traffic);
    this.#backend = backend;
    this.#server = server;
    this.#follower = inputs.isReadable ? new SessionFollower(inputs.moving?.memory) : undefined;
    this.#moving = this.#follower && inputs.moving;
    this.#relay = this.#relayTo(backend);
  }

  /** Call once. */
  start(opening: Opening): void {
    this.watchAge();
    this.#relay.start(opening);
  }

  /** The session is relayed from now on. */
  watchAge(): void {
    const { session, services, pool } = this.#inputs;
    this.onLeft = services.maxAge.watch(session, pool.maxSessionAgeMs);
  }

  client(): Socket {
    return this.#inputs.client;
  }

  left(to: SessionState): void {
    const { onLeft } = this;
    this.onLeft = nothing;
    onLeft();
    if (to !== 'closing') return;
    this.#release();
    resetSocket(this.#backend);
  }

  /** Between two messages of the server. A server that has ended the session before stays the reason. */
  farewell(reason: CloseReason, detail?: string): Farewell | undefined {
    const { client, pool } = this.#inputs;
    if (this.#lost !== undefined) return this.#lost;
    if (!isEndReason(reason)) return undefined;
    const activity = this.activity();
    const isAtBoundary = this.#follower?.isAtBoundaryToClient() === true && client.writable;
    const canTell = this.#canTellLanding ?? (CLOSE_REASONS[reason].told === 'always' ? isAtBoundary : this.isIdle());
    if (!canTell || activity === undefined) return undefined;
    // A client that has half-closed behind requests that are all answered expects nothing but the end.
    const isServed = activity !== 'busy' && activity !== 'starting' && this.#relay.hasAllOfClient();
    const fields = closeMessage(reason, { pool: pool.name, detail, activity });
    return { reason, detail, client, message: isServed ? undefined : encodeErrorResponse(fields) };
  }

  /** Neither side has ended: the server can be asked, and the session parked. */
  isWhole(): boolean {
    return this.#relay.isWhole();
  }

  /** Sends bytes of ours to the server. To be called between two transactions, while the client's bytes wait. */
  tellServer(bytes: Uint8Array): void {
    this.#relay.tellBackend(bytes);
  }

  /** To be called where the session is idle. True: the next bytes that its server is told must be a Sync. */
  endBatch(): boolean {
    if (this.#follower?.endBatch() !== true) return false;
    this.#settling.begins();
    return true;
  }

  /** Bytes of the server that were kept from the client. They must stay as they are. */
  passToClient(bytes: Uint8Array): void {
    this.#follower?.fromBackend(bytes);
    this.#relay.tellClient(bytes);
  }

  /**
   * Between two transactions: the session leaves its server, which is told so. Its client's socket is the caller's, who
   * must listen to it synchronously. Returns the client's bytes that waited; `onLate` is given further ones that were
   * read before. Until it goes on, `onCancel` gets its cancel requests.
   */
  park(onLate: (chunk: Uint8Array) => void, onCancel: () => void): WaitingBytes | undefined {
    const waiting = this.#relay.stop(onLate);
    this.#onCancel = onCancel;
    sayGoodbye(this.#backend);
    return waiting;
  }

  takesCancel(): boolean {
    if (this.#onCancel !== undefined) {
      this.#onCancel();
      return true;
    }
    // Nothing of the client runs at the server, where the request might end a question of ours.
    return this.isIdle() && (this.#relay.cancelWaiting() || this.#moving?.isQuestioned() === true);
  }

  /** The session was parked because its server had ended it, which was meant: its client reads the last words. */
  giveBack(ending: BackendEnding, words: Uint8Array | undefined): void {
    const { client, session } = this.#inputs;
    if (words !== undefined) {
      this.#follower?.fromBackend(words);
      client.write(words);
    }
    if (!this.#tellEnd(ending)) session.cut(ending);
  }

  /** The session was parked, and goes on. */
  resume({ backend, server, key, news, opening, hasClientEnded }: NextServer): void {
    this.#backend = backend;
    this.#server = server;
    this.#onCancel = undefined;
    // Without a new key the first one may still be of use there. It is of none at the old server.
    if (this.#keyed !== undefined) Object.assign(this.#keyed, { current: key ?? this.#keyed.current, server });
    this.#relay = this.#relayTo(backend);
    if (news.length > 0) this.passToClient(news);
    this.#relay.start({ packet: undefined, bytes: opening, hasEnded: hasClientEnded });
  }

  /** Between two transactions with nothing under way, as far as can be read, and with a client that can be told. */
  isIdle(): boolean {
    return this.#follower?.isBetweenTransactions() === true && this.#inputs.client.writable;
  }

  /**
   * How long the client is still left to send its first statement, or to run one that it has prepared. Milliseconds. A
   * client that is ended in this time would read the error where it expects an answer.
   */
  settlesInMs(): number {
    return this.#settling.leftMs(this.#follower?.hasBatch() === true);
  }

  /** With a reset both peers notice at once. */
  drop(isReset: boolean): void {
    const { client } = this.#inputs;
    this.#release();
    for (const socket of [this.#backend, client]) {
      if (isReset) resetSocket(socket);
      else socket.destroy();
    }
  }

  /** The last message of the server so far is a FATAL error. */
  isFatal(): boolean {
    return this.#follower?.fatal() !== undefined;
  }

  /** Undefined: it cannot be read. */
  activity(): SessionActivity | undefined {
    const activity: Activity = this.#follower?.activity() ?? 'unknown';
    return activity === 'unknown' ? undefined : activity;
  }

  tls(): SessionTls {
    if (isTls(this.#inputs.client)) return 'terminate';
    return this.#follower === undefined ? 'passthrough' : 'none';
  }

  /** For a session that ends now. A server does not notice during a statement that its client is gone. */
  endStatement(): StatementEnd {
    const activity = this.activity();
    if (activity !== undefined && activity !== 'busy') return 'none';
    if (this.#keyed === undefined) return 'not_cancelled';
    this.#inputs.services.cancels.cancelStatement(this.#keyed);
    return 'cancel_sent';
  }

  // For the relay, or for the part of the session that moves.

  fromClient(chunk: Uint8Array): undefined {
    this.#follower?.fromClient(chunk);
  }

  /**
   * As `fromClient`, where the client may be held back so that the session becomes idle, because a part of Pointsman
   * waits for that.
   */
  fromClientOneByOne(chunk: Uint8Array): number | undefined {
    if (this.#inputs.idleListeners.size === 0) return this.fromClient(chunk);
    return this.#follower?.fromClientOneByOne(chunk);
  }

  /** After a client was held back. */
  mayGoOn(): boolean {
    return this.#inputs.idleListeners.size === 0 || this.#follower?.mayGoOn() !== false;
  }

  fromBackend(chunk: Uint8Array): boolean {
    const follower = this.#follower;
    if (follower === undefined) return true;
    if (this.#isStarting) return !this.#hasLanded(follower, chunk);
    follower.fromBackend(chunk);
    return true;
  }

  passedToClient(): void {
    const { idleListeners } = this.#inputs;
    if (idleListeners.size === 0 || !this.isIdle()) return;
    for (const run of idleListeners) run();
  }

  /** Reads what comes before the first ReadyForQuery. True: it is the wrong server; its client must not see it. */
  #hasLanded(follower: SessionFollower, chunk: Uint8Array): boolean {
    const { client, pool, services } = this.#inputs;
    const server = this.#server;
    const canTell = follower.isAtBoundaryToClient() && client.writable;
    follower.fromBackend(chunk);
    const isPrimaryWanted = isOfPrimary(pool) && 'member' in server;
    if (isPrimaryWanted && follower.isInHotStandby() === true && server.isStandbyReportStale !== true) {
      this.#canTellLanding ??= canTell;
      // The key may be in a later chunk.
      if (follower.cancelKey() !== undefined || follower.activity() !== 'starting') this.#lands();
      return true;
    }
    const key = this.#keyed === undefined ? follower.cancelKey() : undefined;
    if (key !== undefined) this.#keyed = services.cancels.keys.add(key, server, this);
    this.#isStarting = follower.activity() === 'starting';
    if (this.#isStarting) return false;
    this.#settling.begins();
    const hasLeft = isPrimaryWanted && server.isTrial === true && follower.isInHotStandby() === false;
    if (hasLeft) services.onTrigger({ kind: 'left_recovery', member: server.member });
    return false;
  }

  /** The key of its server tells a pooler, which may repeat an old report. */
  #lands(): void {
    const { services, session } = this.#inputs;
    const isPooler = isOfPooler(this.#follower?.cancelKey());
    const server = this.#server;
    if ('member' in server) services.onTrigger({ kind: 'landed_on_standby', member: server.member, isPooler });
    session.end('landed_on_standby', `${serverText(server)}: in_hot_standby is on`);
  }

  /** The client sent Terminate, and the server gave no other reason for its end. */
  #isGoodbye(): boolean {
    return this.#follower?.isTerminating() === true && this.#follower.fatal() === undefined;
  }

  #backendEnded(ending: BackendEnding): boolean {
    const server = this.#server;
    if (this.#isGoodbye()) return false;
    if (this.#canTellLanding !== undefined) {
      this.#lands();
      return true;
    }
    const fatal = this.#follower?.fatal();
    const isNews = fatal === undefined || !isAboutClient(fatal);
    if (fatal === undefined) this.#noteRefusal(true);
    if (isNews && 'member' in server) this.#inputs.services.onTrigger({ kind: ending, member: server.member });
    return this.#moving?.serverEnded(ending) === true || this.#tellEnd(ending);
  }

  /** A session that cannot be read may be half-open. A client that has half a message cannot be told anything. */
  #tellEnd(ending: BackendEnding): boolean {
    const { client, pool, record, session } = this.#inputs;
    const server = this.#server;
    const follower = this.#follower;
    record.lost();
    const lost = { reason: ending, detail: undefined, client, message: undefined, isLost: true } as const;
    this.#lost = lost;
    const fatal = follower?.fatal();
    const activity = follower?.activity() ?? 'unknown';
    if (activity === 'unknown' || follower?.isAtBoundaryToClient() !== true || !client.writable) return false;
    const detail = describeEnd(serverText(server), ending, fatal);
    const serves = servedText(pool.name, 'branch' in server ? server.branch.name : undefined);
    const words = fatal === undefined ? lossMessage({ ending, activity, serves, detail }) : undefined;
    if (this.#noteRefusal()) this.#lost = { ...lost, reason: 'backend_refused', detail };
    else this.#lost = { ...lost, detail, message: words && encodeErrorResponse(words) };
    session.end(ending);
    return true;
  }

  /** True: the server sent an error instead of letting the session in. `isWordless`: it ended without one. */
  #noteRefusal(isWordless = false): boolean {
    const fatal = this.#follower?.fatal();
    if (this.#follower?.activity() !== 'starting' || (fatal === undefined && !isWordless)) return false;
    const { services, session } = this.#inputs;
    if ('member' in this.#server) services.connector.noteRefusal(session, this.#server.member, fatal);
    return fatal !== undefined;
  }

  #relayTo(backend: Socket): Relay {
    const { client, pool, record, services, session } = this.#inputs;
    const gate = services.stallGate.gateFor(pool);
    return new Relay({
      client,
      backend,
      taps: this.#follower && (this.#moving?.tapsOver(this) ?? this),
      gate: this.#moving?.gateBefore(gate) ?? gate,
      pipes: services.openPipes(client, backend),
      traffic: record.traffic,
      poolTraffic: services.registry.traffic(pool.name),
      clock: services.clock,
      onBackendEnded: (ending) => this.#backendEnded(ending),
      onEnded: (ending) => {
        if (!this.#noteRefusal()) return session.cut(this.#isGoodbye() ? 'client_closed' : ending);
        // A client closes as soon as it has read the error.
        const detail = describeEnd(serverText(this.#server), 'backend_closed', this.#follower?.fatal());
        return session.cut('backend_refused', detail);
      },
    });
  }

  #release(): void {
    this.#relay.stop();
    if (this.#keyed !== undefined) this.#inputs.services.cancels.keys.remove(this.#keyed);
  }
}
