// All of a session that outlives its server: the follower that reads along, the taps before it, in one order for both
// directions, and the client's cancel key. Where the stream can be read, follower and taps are shown every byte behind
// the startup packet before the byte is sent on.
import type { ProxySocket } from '../socket.ts';
import { CLOSE_REASONS, isEndReason, type CloseReason } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import type { PoolName } from '../../model/policy.ts';
import type { SessionActivity, ShownReadWait } from '../../reports/session-list.ts';
import { SessionFollower } from '../../wire/follow/session-follower.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import { encodeErrorResponse } from '../../wire/messages/error-response.ts';
import type { CancelTarget } from '../cancel/cancel-keys.ts';
import type { Cancels } from '../cancel/cancel.ts';
import { SessionKey } from '../cancel/session-key.ts';
import { closeMessage } from '../messages/close-message.ts';
import type { Farewell } from '../stage.ts';
import type { Traffic } from '../../reports/counts.ts';
import type { Taps } from './directions.ts';
import type { Relay } from './relay.ts';
import type { Server } from '../server.ts';
import { SettlingTime } from './settling-time.ts';
import type { ClientGate } from './stall-gate.ts';

/** Reads along, and may keep bytes back. A tap leaves out the methods that it does not need. */
export interface Tap {
  /** Undefined: the client's bytes may go on. */
  wait?(): Promise<void> | undefined;
  /** Before they are sent on. */
  fromClient?(bytes: Uint8Array): void;
  /** Returns the bytes that the client may read now, which may be more than the chunk. Undefined: none. */
  fromServer(chunk: Uint8Array): Uint8Array | undefined;
  /** Nothing of the client runs at the server, where a cancel request might end a question of ours. */
  isAsking?(): boolean;
}

/** Holds back transactions until their server may run them. */
export interface TransactionGate {
  /** The session has a connection to this server. Returns the gate for its client, which comes before `inner`. */
  startsAt(server: Server, inner: ClientGate): ClientGate;
  relaysBy(relay: Relay): void;
  /** The session has no server any more. */
  leaves(): void;
  /** All bytes that have come may pass, this once. */
  takesPass(): boolean;
  /** A transaction that has come must wait from now on. */
  holds(): void;
  /** The statement that waited first was taken out. */
  cancelled(): void;
  passedToClient(): void;
  /** Undefined: none waits. */
  waiting(): ShownReadWait | undefined;
}

export interface RelayConversationOptions {
  readonly client: ProxySocket;
  readonly clock: Clock;
  /** Its stream is in plain text of protocol 3. */
  readonly isReadable: boolean;
  /** The session's own counters. */
  readonly traffic: Traffic;
  /** Called after bytes of the server when the session is idle behind them. */
  readonly idleListeners: ReadonlySet<() => void>;
  readonly cancels: Cancels;
  /** Undefined: transactions begin when they come. */
  readonly transactions?: TransactionGate | undefined;
}

/** For most sessions. */
const NO_TAPS: readonly Tap[] = [];

export class Conversation implements Taps, CancelTarget {
  /** Set until the login is over: reads what the server says. False: its client does not get it. */
  onLogin: ((chunk: Uint8Array) => boolean) | undefined;
  readonly key: SessionKey;
  readonly #client: ProxySocket;
  readonly #idleListeners: ReadonlySet<() => void>;
  readonly #settling: SettlingTime;
  readonly #transactions: TransactionGate | undefined;
  #follower: SessionFollower | undefined;
  #taps = NO_TAPS;
  /** The counters of its pool: those of its last relay. */
  #poolTraffic: Traffic | undefined;
  /** To its server. Undefined: it has none. */
  #relay: Relay | undefined;
  /** While it has no server. */
  #onCancel: (() => void) | undefined;
  /** Requests of the client that wait until the one before them is answered. */
  #held: PromiseWithResolvers<void> | undefined;

  constructor(options: RelayConversationOptions) {
    const { client, clock, isReadable, traffic, idleListeners, cancels, transactions } = options;
    this.#client = client;
    this.#transactions = transactions;
    this.#idleListeners = idleListeners;
    this.key = new SessionKey(cancels, this);
    this.#settling = new SettlingTime(clock, traffic);
    this.#follower = isReadable ? new SessionFollower() : undefined;
  }

  /** To be called before the first byte, for a session that can be read. The follower tells `memory`. */
  readAlong(memory: SessionMemory, taps: readonly Tap[]): void {
    this.#follower = new SessionFollower(memory);
    this.tappedBy(taps);
  }

  /** From now on these read along, and no others. */
  tappedBy(taps: readonly Tap[]): void {
    this.#taps = taps;
  }

  /** Undefined: it cannot be read. */
  follower(): SessionFollower | undefined {
    return this.#follower;
  }

  /** For what the client is told while it has no server. To be called before the first byte of each relay. */
  countsIn(poolTraffic: Traffic): void {
    this.#poolTraffic = poolTraffic;
  }

  relaysBy(relay: Relay): void {
    this.#relay = relay;
    this.#onCancel = undefined;
    this.#transactions?.relaysBy(relay);
  }

  /** It has no server. `onCancel` gets the cancel requests of its client. Absent: the session ends. */
  parks(onCancel?: () => void): void {
    this.#transactions?.leaves();
    this.#relay = undefined;
    this.#onCancel = onCancel;
  }

  /** For the client's bytes at this server. */
  gate(stallGate: ClientGate, server: Server): ClientGate {
    const tapped = (): Promise<void> | undefined => stallGate() ?? this.#held?.promise ?? this.#wait();
    const inner = this.#taps.length === 0 ? stallGate : tapped;
    return this.#transactions?.startsAt(server, inner) ?? inner;
  }

  /** The client has logged in, and its first statement is still to come. */
  settles(): void {
    this.#settling.begins();
  }

  /** Between two transactions with nothing under way, as far as can be read, and with a client that can be told. */
  isIdle(): boolean {
    return this.#follower?.isBetweenTransactions() === true && this.#client.writable;
  }

  /** Undefined: it cannot be read. */
  activity(): SessionActivity | undefined {
    const activity = this.#follower?.activity() ?? 'unknown';
    return activity === 'unknown' ? undefined : activity;
  }

  /** Undefined: no transaction of it waits for its server. */
  waitingRead(): ShownReadWait | undefined {
    return this.#transactions?.waiting();
  }

  /** Neither side has ended: the server can be asked, and the session parked. */
  isWhole(): boolean {
    return this.#relay?.isWhole() === true;
  }

  /**
   * How long the client is still left to send its first statement, or to run one that it has prepared. Milliseconds. A
   * client that is ended in this time would read the error where it expects an answer.
   */
  settlesInMs(): number {
    return this.#settling.leftMs(this.#follower?.hasBatch() === true);
  }

  /** To be called where the session is idle. True: the next bytes that its server is told must be a Sync. */
  endBatch(): boolean {
    if (this.#follower?.endBatch() !== true) return false;
    this.#settling.begins();
    return true;
  }

  /** Sends bytes of ours to the server. To be called between two transactions, while the client's bytes wait. */
  tellServer(bytes: Uint8Array): void {
    this.#relay?.tellBackend(bytes);
  }

  /** Bytes of the server that were kept from the client. They must stay as they are. */
  passToClient(bytes: Uint8Array): void {
    this.#follower?.fromBackend(bytes);
    if (this.#relay !== undefined) return this.#relay.tellClient(bytes);
    // Last words of its server may acknowledge a write.
    if (this.#poolTraffic !== undefined) this.#poolTraffic.toClientBytes += bytes.length;
    this.#client.write(bytes);
    return undefined;
  }

  takesCancel(): boolean {
    if (this.#onCancel !== undefined) {
      this.#onCancel();
      return true;
    }
    if (!this.isIdle()) return false;
    if (this.#relay?.cancelWaiting() !== true) return this.#taps.some((tap) => tap.isAsking?.());
    this.#transactions?.cancelled();
    return true;
  }

  /**
   * The last message, where it would stand between two messages of the server, and the client can still be told.
   * `canTell`: decided already. `isServed`: the client expects nothing but the end.
   */
  farewell(
    reason: CloseReason,
    detail: string | undefined,
    { pool, canTell, isServed }: { pool: PoolName; canTell?: boolean | undefined; isServed?: boolean },
  ): Farewell | undefined {
    const client = this.#client;
    const activity = this.activity();
    if (!isEndReason(reason) || activity === undefined) return undefined;
    const isAtBoundary = this.#follower?.isAtBoundaryToClient() === true && client.writable;
    // A client that logs in reads an error at any place between two messages.
    const isTold = activity === 'starting' || CLOSE_REASONS[reason].told === 'always';
    const mayTell = canTell ?? (isTold ? isAtBoundary : this.isIdle());
    if (!mayTell) return undefined;
    const fields = closeMessage(reason, { pool, detail, activity });
    return { reason, detail, client, message: isServed === true ? undefined : encodeErrorResponse(fields) };
  }

  // Taps

  fromClient(chunk: Uint8Array): number | undefined {
    const follower = this.#follower;
    if (follower === undefined) return undefined;
    if (this.#taps.length > 0 || this.#transactions !== undefined) return this.#tappedFromClient(follower, chunk);
    follower.fromClient(chunk);
    return undefined;
  }

  fromBackend(chunk: Uint8Array): boolean {
    const passing = this.#taps.length === 0 ? chunk : this.#tappedFromServer(chunk);
    if (passing !== chunk) {
      if (passing !== undefined) this.passToClient(passing);
      return false;
    }
    if (this.onLogin !== undefined) return this.onLogin(chunk);
    this.#follower?.fromBackend(chunk);
    return true;
  }

  passedToClient(): void {
    this.#transactions?.passedToClient();
    const idleListeners = this.#idleListeners;
    if (idleListeners.size > 0 && this.isIdle()) for (const run of idleListeners) run();
    if (this.#held !== undefined && this.#follower?.mayGoOn() !== false) this.goOn();
  }

  /** Requests of the client that were held back for a pause go on. To be called, too, when nobody waits for one. */
  goOn(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /**
   * The client may be held back: so that the session becomes idle where somebody waits for that, and before a
   * transaction.
   */
  #tappedFromClient(follower: SessionFollower, chunk: Uint8Array): number | undefined {
    const isOneByOne = this.#taps.length > 0 && this.#idleListeners.size > 0;
    const isGated = this.#transactions?.takesPass() === false;
    let passing: number | undefined;
    if (isGated) passing = follower.fromClientUntilTransaction(chunk, isOneByOne);
    else if (isOneByOne) passing = follower.fromClientOneByOne(chunk);
    else follower.fromClient(chunk);
    if (passing !== undefined && passing < chunk.length) {
      if (isOneByOne && !follower.mayGoOn()) this.#held ??= Promise.withResolvers<void>();
      else this.#transactions?.holds();
    }
    for (const tap of this.#taps) tap.fromClient?.(chunk.subarray(0, passing));
    return passing;
  }

  /** Undefined: the client reads nothing now. */
  #tappedFromServer(chunk: Uint8Array): Uint8Array | undefined {
    let passing: Uint8Array | undefined = chunk;
    for (const tap of this.#taps) {
      passing = tap.fromServer(passing);
      if (passing === undefined) return undefined;
    }
    return passing;
  }

  #wait(): Promise<void> | undefined {
    for (const tap of this.#taps) {
      const wait = tap.wait?.();
      if (wait !== undefined) return wait;
    }
    return undefined;
  }
}
