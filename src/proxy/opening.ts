// What a client says and does before it has a backend: its first packet is recognised and told, and so is its leaving; after a
// declined request for encryption the same for the next packet, within one deadline that stands still while the client waits
// for us. Keeps every byte for who comes next: the relay, a cancel or a refusal. Knows no route and no state of the session.
import type { Socket } from 'node:net';
import type { Login } from '../core/events.ts';
import type { Clock } from '../core/instant.ts';
import { startupParameters } from '../wire/startup.ts';
import type { Recognition } from '../wire/startup.ts';
import { readTarget, withoutTarget } from '../wire/target.ts';
import type { Asked } from './approach.ts';
import { HTTP_ANSWER } from './refusal-text.ts';
import { refuse } from './refuse.ts';
import { Intake } from './startup.ts';

export interface OpeningInputs {
  readonly clock: Clock;
  /** For everything up to the startup message. */
  readonly timeoutMs: number;
  /** It wants a backend, or to agree on encryption with one; once, and again after each `next`. */
  readonly onStartup: () => void;
  readonly onCancel: (request: Uint8Array) => void;
  /** Not PostgreSQL. `answer`: in its own protocol. */
  readonly onStranger: (detail: string, answer?: Uint8Array) => void;
  /** It left, and nothing it said waits for an answer. */
  readonly onLeft: (how: 'no-startup' | 'client-reset' | 'client-gave-up') => void;
  readonly onLate: (detail: string) => void;
}

export interface HandedOver {
  /** The first packet as it is to be forwarded, where it can be read. */
  readonly packet: Uint8Array | undefined;
  /** What it said besides. */
  readonly bytes: Uint8Array;
  /** It half-closed. */
  readonly hasEnded: boolean;
  /** The packet begins a stream in plain text of the protocol that is spoken here. */
  readonly isReadable: boolean;
}

export class Opening {
  readonly #client: Socket;
  readonly #inputs: OpeningInputs;
  readonly #intake: Intake;
  #leftMs: number;
  #packet: Recognition | undefined;
  #hasNegotiated = false;

  constructor(client: Socket, inputs: OpeningInputs) {
    this.#client = client;
    this.#inputs = inputs;
    this.#leftMs = inputs.timeoutMs;
    this.#intake = new Intake(client, {
      onPacket: (packet) => this.#take(packet),
      onMore: () => this.#check(),
      onEnd: () => this.#ended(),
      onClosed: () => this.#vanished(),
    });
  }

  /** Returns what ends the deadline, to be called once when the packet is there or not wanted any more. */
  start(): () => void {
    const stop = this.#await();
    this.#intake.start();
    return stop;
  }

  /** The request for encryption was answered no: waits for what the client says to that. Returns as `start` does. */
  next(): () => void {
    const length = this.#length();
    this.#packet = undefined;
    this.#hasNegotiated = true;
    const stop = this.#await();
    this.#intake.skip(length);
    return stop;
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

  /** What it waits to be answered, as it is to be forwarded, if that is all it has said. */
  asked(): Asked | undefined {
    const packet = this.#forwarded();
    if (packet === undefined || this.#hasPipelined() || this.#intake.hasEnded()) return undefined;
    return { kind: this.#isNegotiating() ? 'negotiation' : 'startup', packet };
  }

  /** Everything it said; the socket is the caller's, who listens to it in the same step. */
  handOver(): HandedOver {
    const packet = this.#forwarded();
    const bytes = this.#intake.bytes().subarray(packet === undefined ? 0 : this.#length());
    this.#intake.release();
    const isReadable = packet !== undefined && !this.#isNegotiating();
    return { packet, bytes, hasEnded: this.#intake.hasEnded(), isReadable };
  }

  /** Says no in the client's own terms and parts from it; nothing else is told from here on. Returns the end without courtesy. */
  refuse(error: Uint8Array, clock: Clock, onClosed: () => void): () => void {
    // The error itself is the answer to a request with something behind it.
    const packet = this.#isNegotiating() && this.#hasPipelined() ? undefined : this.#packet;
    return refuse({ client: this.#client, intake: this.#intake, packet }, error, clock, onClosed);
  }

  #await(): () => void {
    const { clock, timeoutMs, onLate } = this.#inputs;
    const since = clock.now();
    const cancel = clock.schedule(Math.max(0, this.#leftMs), () => onLate(`waited ${timeoutMs} ms`));
    return () => {
      cancel();
      this.#leftMs -= clock.now() - since;
    };
  }

  /** A startup packet as the client sent it; nothing where encryption or another protocol hides it. */
  #startup(): Uint8Array | undefined {
    const packet = this.#packet;
    return packet?.kind === 'startup' && packet.major === 3 ? this.#first() : undefined;
  }

  #forwarded(): Uint8Array | undefined {
    if (this.#isNegotiating()) return this.#first();
    const packet = this.#startup();
    return packet === undefined ? undefined : withoutTarget(packet);
  }

  /** A copy: the intake's own room is filled further. */
  #first(): Uint8Array {
    return new Uint8Array(this.#intake.bytes().subarray(0, this.#length()));
  }

  #length(): number {
    return this.#packet !== undefined && 'length' in this.#packet ? this.#packet.length : 0;
  }

  #isNegotiating(): boolean {
    return this.#packet?.kind === 'ssl-request' || this.#packet?.kind === 'gssenc-request';
  }

  #take(packet: Exclude<Recognition, { kind: 'need-more' }>): void {
    this.#packet = packet;
    switch (packet.kind) {
      case 'cancel-request':
        return this.#inputs.onCancel(this.#first());
      case 'invalid':
        return this.#inputs.onStranger(packet.why);
      case 'http':
        return this.#inputs.onStranger('HTTP', HTTP_ANSWER);
      case 'ssl-request':
      case 'gssenc-request':
        if (!this.#check()) return undefined;
        return this.#inputs.onStartup();
      case 'startup':
      case 'tls':
        return this.#inputs.onStartup();
    }
  }

  /** What comes before the answer was not encrypted, and may be another's (CVE-2021-23214). PostgreSQL refuses it too. */
  #check(): boolean {
    if (!this.#isNegotiating() || !this.#hasPipelined()) return true;
    this.#inputs.onStranger('unencrypted data after the encryption request');
    return false;
  }

  #ended(): void {
    if (this.#packet === undefined) {
      if (this.#intake.bytes().length === 0) this.#inputs.onLeft(this.#hasNegotiated ? 'client-gave-up' : 'no-startup');
      else this.#inputs.onStranger('incomplete startup packet');
    } else if (this.#packet.kind !== 'cancel-request' && !this.#hasPipelined()) {
      this.#inputs.onLeft('client-gave-up');
    }
  }

  /** A cancel request is passed on although its sender did not wait. */
  #vanished(): void {
    const isFirst = this.#packet === undefined && !this.#hasNegotiated;
    if (isFirst) this.#inputs.onLeft(this.#intake.bytes().length === 0 ? 'no-startup' : 'client-reset');
    else if (this.#packet?.kind !== 'cancel-request') this.#inputs.onLeft('client-gave-up');
  }

  /** Who asked more than one thing and half-closed still wants the answers; who only knocked has left. */
  #hasPipelined(): boolean {
    return this.#length() > 0 && this.#intake.bytes().length > this.#length();
  }
}
