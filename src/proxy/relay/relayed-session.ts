// A session that has its backend: the relay between the two sockets, what can be read of it, and the ways to end it. Where the
// stream can be read a follower is shown every byte behind the startup packet: each before it is sent on.
import type { Socket } from 'node:net';
import type { BackendEnding, RelayEnding } from '../../model/close-reason.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import type { Target } from '../../core/routing-table.ts';
import { encodeErrorResponse } from '../../wire/error-response.ts';
import type { ErrorFields } from '../../wire/error-response.ts';
import { SessionFollower } from '../../wire/session-follower.ts';
import type { Keyed } from '../cancel/cancel-keys.ts';
import type { Taps, Traffic } from './directions.ts';
import type { FirstReply } from '../connect/first-reply.ts';
import type { StartupHandOver } from '../startup/client-startup.ts';
import { linger, lingerUnread } from '../ending/linger.ts';
import { Relay } from './relay.ts';
import { isAboutClient } from '../../wire/sql-state.ts';
import { describeEnd, lossMessage } from '../ending/close-message.ts';
import { resetSocket } from '../socket.ts';
import type { Surroundings } from '../surroundings.ts';

export interface RelayedSessionInputs {
  readonly client: Socket;
  readonly backend: Socket;
  readonly handedOver: StartupHandOver;
  readonly firstReply: FirstReply | undefined;
  readonly pool: PoolPolicy;
  readonly target: Target;
  /** Called after what the backend said when the session is idle then. */
  readonly idleListeners: ReadonlySet<() => void>;
  /** The session's own counters. */
  readonly traffic: Traffic;
  readonly around: Surroundings;
  /** Both connections are closed. */
  readonly onEnded: (ending: RelayEnding) => void;
  /**
   * The server ended the session. `lastWords`: for the client, which has read nothing of it; the caller parts from
   * both.
   */
  readonly onLost: (ending: BackendEnding, detail: string, lastWords: ErrorFields | undefined) => void;
  /** The server is a standby where it must be a primary; the client has not been told what it said of that. */
  readonly onLanded: () => void;
}

const SETTLING_MS = 100;

export class RelayedSession implements Taps {
  readonly #inputs: RelayedSessionInputs;
  readonly #relay: Relay;
  readonly #follower: SessionFollower | undefined;
  #keyed: Keyed | undefined;
  #isStarting = true;
  /** When the client was told that it may begin, and how much it had said until then. */
  #ready = { at: -Infinity, bytes: 0 };
  #lostBy: BackendEnding | undefined;
  /** Set when the server turned out to be the wrong one: whether its client could be told. */
  #canTellLanding: boolean | undefined;

  constructor(inputs: RelayedSessionInputs) {
    const { client, backend, handedOver, firstReply, pool, traffic, around } = inputs;
    const { packet, bytes, hasEnded, isReadable } = handedOver;
    this.#inputs = inputs;
    this.#follower = isReadable ? new SessionFollower() : undefined;
    this.#relay = new Relay({
      client,
      backend,
      packet,
      opening: bytes,
      firstReply,
      hasClientEnded: hasEnded,
      taps: this.#follower && this,
      gate: around.stallGate.gateFor(pool),
      pipes: around.openPipes(client, backend),
      traffic,
      poolTraffic: around.registry.traffic(pool.name),
      clock: around.seams.clock,
      onBackendEnded: (ending) => this.#backendEnded(ending),
      onEnded: (ending) => inputs.onEnded(this.#isGoodbye() ? 'client_closed' : ending),
    });
  }

  /** Call once. */
  start(): void {
    this.#relay.start();
  }

  /** Known to be between two transactions, with nothing under way, and with a client that can be told something. */
  isIdle(): boolean {
    return this.#follower?.isBetweenTransactions() === true && this.#inputs.client.writable;
  }

  /**
   * For the first statement of a client that has just logged in: it would read of an end where it expects its first
   * answer.
   */
  settlesInMs(): number {
    const { traffic, around } = this.#inputs;
    if (traffic.toBackendBytes !== this.#ready.bytes) return 0;
    return Math.max(0, this.#ready.at + SETTLING_MS - around.seams.clock.now());
  }

  /** Ends both connections in this step. `isReset`: what either was not sent yet it is not sent any more, and it notices at once. */
  cut(isReset: boolean): void {
    const { client, backend } = this.#inputs;
    this.#release();
    for (const socket of [backend, client]) {
      if (isReset) resetSocket(socket);
      else socket.destroy();
    }
  }

  /** Set once the server has ended the session: nobody else ends it. */
  lostBy(): BackendEnding | undefined {
    return this.#lostBy;
  }

  /** True: an error message would stand between two messages of the server, and its client can still be told. */
  canBeTold(): boolean {
    return this.#canTellLanding ?? this.isIdle();
  }

  /**
   * Ends the backend synchronously. The client may read what its server said, then the message where there is one.
   * Calls `onClosed` when the client has closed. Returns the function that destroys the client's socket at once.
   */
  close(message: ErrorFields | undefined, onClosed: () => void): () => void {
    const { client, backend, around } = this.#inputs;
    const { clock } = around.seams;
    const bytes = message && encodeErrorResponse(message);
    this.#release();
    resetSocket(backend);
    const wait = this.#lostBy === undefined ? linger : lingerUnread;
    return wait(client, bytes, clock, onClosed);
  }

  /** For the relay alone, as are the next two. */
  fromClient(chunk: Uint8Array): void {
    this.#follower?.fromClient(chunk);
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

  /** Reads what a server tells once, before its first ReadyForQuery. True: it is the wrong one, which the client is not told. */
  #hasLanded(follower: SessionFollower, chunk: Uint8Array): boolean {
    const { client, pool, target, around, onLanded } = this.#inputs;
    const canTell = follower.isAtBoundaryToClient() && client.writable;
    follower.fromBackend(chunk);
    const isPrimaryWanted = pool.exclusive && pool.check.family === 'primary';
    if (isPrimaryWanted && follower.isInHotStandby() === true && target.isStandbyReportStale !== true) {
      around.seams.onTrigger({ kind: 'landed_on_standby', member: target.member });
      this.#canTellLanding = canTell;
      onLanded();
      return true;
    }
    const key = this.#keyed === undefined ? follower.cancelKey() : undefined;
    if (key !== undefined) this.#keyed = around.cancels.keys.add(key, target);
    this.#isStarting = follower.activity() === 'starting';
    if (!this.#isStarting) this.#ready = { at: around.seams.clock.now(), bytes: this.#inputs.traffic.toBackendBytes };
    return false;
  }

  /** The client said Terminate, and the server did not end the session for a reason of its own. */
  #isGoodbye(): boolean {
    return this.#follower?.isTerminating() === true && this.#follower.fatal() === undefined;
  }

  #backendEnded(ending: BackendEnding): boolean {
    const { client, pool, target, around, onLost } = this.#inputs;
    const follower = this.#follower;
    if (this.#isGoodbye()) return false;
    this.#lostBy = ending;
    const fatal = follower?.fatal();
    if (fatal === undefined || !isAboutClient(fatal)) around.seams.onTrigger({ kind: ending, member: target.member });
    // What cannot be read may be half-open. A client that has half a message cannot be told anything.
    const activity = follower?.activity() ?? 'unknown';
    if (activity === 'unknown' || follower?.isAtBoundaryToClient() !== true || !client.writable) return false;
    const detail = describeEnd(target.member, ending, fatal);
    onLost(
      ending,
      detail,
      fatal === undefined ? lossMessage({ ending, activity, pool: pool.name, detail }) : undefined,
    );
    return true;
  }

  #release(): void {
    this.#relay.stop();
    if (this.#keyed !== undefined) this.#inputs.around.cancels.keys.remove(this.#keyed);
  }
}
