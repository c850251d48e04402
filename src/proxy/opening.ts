// What a client says and does before it has a backend: its first packet is recognised and told, and so is its leaving. Keeps
// every byte for who comes next: the relay, a cancel or a refusal. Knows no route and no state of the session.
import type { Socket } from 'node:net';
import type { Login } from '../core/events.ts';
import type { Clock } from '../core/instant.ts';
import { startupParameters } from '../wire/startup.ts';
import type { Recognition } from '../wire/startup.ts';
import { readTarget, withoutTarget } from '../wire/target.ts';
import { HTTP_ANSWER } from './refusal-text.ts';
import { refuse } from './refuse.ts';
import { Intake } from './startup.ts';

/** At most one of the first three is called, once. */
export interface OpeningListener {
  /** It wants a backend, or to agree on encryption with one. */
  readonly onStartup: () => void;
  readonly onCancel: (request: Uint8Array) => void;
  /** Not PostgreSQL. `answer`: in its own protocol. */
  readonly onStranger: (detail: string, answer?: Uint8Array) => void;
  /** It left, and nothing it said waits for an answer. */
  readonly onLeft: (how: 'no-startup' | 'client-reset' | 'client-gave-up') => void;
}

export interface HandedOver {
  /** The startup packet as it is to be forwarded, where it can be read. */
  readonly startup: Uint8Array | undefined;
  /** What it said besides. */
  readonly bytes: Uint8Array;
  /** It half-closed. */
  readonly hasEnded: boolean;
}

export class Opening {
  readonly #client: Socket;
  readonly #listener: OpeningListener;
  readonly #intake: Intake;
  #packet: Recognition | undefined;

  constructor(client: Socket, listener: OpeningListener) {
    this.#client = client;
    this.#listener = listener;
    this.#intake = new Intake(client, {
      onPacket: (packet) => this.#take(packet),
      onEnd: () => this.#ended(),
      onClosed: () => this.#vanished(),
    });
  }

  start(): void {
    this.#intake.start();
  }

  /** Who it says it is; empty where encryption hides it. */
  login(): Login {
    const packet = this.#startup();
    if (packet === undefined) return {};
    const user = startupParameters(packet).get('user');
    const database = readTarget(packet).database ?? user;
    return { ...(user === undefined ? {} : { user }), ...(database === undefined ? {} : { database }) };
  }

  /** The name of the pool it asks for, if it can be read and names one. */
  target(): string | undefined {
    const packet = this.#startup();
    return packet === undefined ? undefined : readTarget(packet).target?.name;
  }

  /** Its startup packet as it is to be forwarded, if that is all it has said and it waits for the answer. */
  loneStartup(): Uint8Array | undefined {
    if (this.#hasPipelined() || this.#intake.hasEnded()) return undefined;
    return this.#forwarded();
  }

  /** Everything it said; the socket is the caller's, who listens to it in the same step. */
  handOver(): HandedOver {
    const bytes = this.#intake.bytes();
    const startup = this.#forwarded();
    const length = this.#startup()?.length ?? 0;
    this.#intake.release();
    return { startup, bytes: bytes.subarray(length), hasEnded: this.#intake.hasEnded() };
  }

  /** Says no in the client's own terms and parts from it; nothing else is told from here on. Returns the end without courtesy. */
  refuse(error: Uint8Array, clock: Clock, onClosed: () => void): () => void {
    return refuse({ client: this.#client, intake: this.#intake, packet: this.#packet }, error, clock, onClosed);
  }

  /** As the client sent it; nothing where encryption or another protocol hides it. */
  #startup(): Uint8Array | undefined {
    const packet = this.#packet;
    return packet?.kind === 'startup' && packet.major === 3
      ? this.#intake.bytes().subarray(0, packet.length)
      : undefined;
  }

  #forwarded(): Uint8Array | undefined {
    const packet = this.#startup();
    // A copy: the intake's own room is filled further.
    return packet === undefined ? undefined : withoutTarget(new Uint8Array(packet));
  }

  #take(packet: Exclude<Recognition, { kind: 'need-more' }>): void {
    this.#packet = packet;
    switch (packet.kind) {
      case 'cancel-request':
        return this.#listener.onCancel(this.#intake.bytes().slice(0, packet.length));
      case 'invalid':
        return this.#listener.onStranger(packet.why);
      case 'http':
        return this.#listener.onStranger('HTTP', HTTP_ANSWER);
      case 'startup':
      case 'ssl-request':
      case 'gssenc-request':
      case 'tls':
        return this.#listener.onStartup();
    }
  }

  #ended(): void {
    if (this.#packet === undefined) {
      if (this.#intake.bytes().length === 0) this.#listener.onLeft('no-startup');
      else this.#listener.onStranger('incomplete startup packet');
    } else if (this.#packet.kind !== 'cancel-request' && !this.#hasPipelined()) {
      this.#listener.onLeft('client-gave-up');
    }
  }

  /** A cancel request is passed on although its sender did not wait. */
  #vanished(): void {
    if (this.#packet === undefined) {
      this.#listener.onLeft(this.#intake.bytes().length === 0 ? 'no-startup' : 'client-reset');
    } else if (this.#packet.kind !== 'cancel-request') {
      this.#listener.onLeft('client-gave-up');
    }
  }

  /** Who asked more than one thing and half-closed still wants the answers; who only knocked has left. */
  #hasPipelined(): boolean {
    const packet = this.#packet;
    return packet !== undefined && 'length' in packet && this.#intake.bytes().length > packet.length;
  }
}
