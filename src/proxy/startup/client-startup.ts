// What a client says and does before it has a backend: its first packet is recognised and told, and so is its leaving; after a
// request for encryption the same for the next packet, within one deadline that stands still while the client waits for us.
// Where TLS is ours such a request is answered here, and the client is the TLS socket from then on. Keeps every byte for who comes
// next: the relay, a cancel or a refusal. Knows no route and no state of the session.
import type { Socket } from 'node:net';
import type { CloseReason } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import type { Recognition } from '../../wire/startup.ts';
import { NOT_SUPPORTED, SUPPORTED } from '../../wire/error-response.ts';
import { refuse } from './refuse-startup.ts';
import { readStartupParameters } from './startup-parameters.ts';
import type { StartupParameters } from './startup-parameters.ts';
import { StartupReader } from './startup-reader.ts';
import type { StartupReaderListener, BufferedBytes } from './startup-reader.ts';
import { shakeHands } from './tls-handshake.ts';
import type { OwnTls } from './tls-certificate.ts';

export interface ClientStartupInputs {
  readonly clock: Clock;
  /** For everything up to the startup message. */
  readonly timeoutMs: number;
  /** Undefined: TLS is its server's. */
  readonly tls: OwnTls | undefined;
  readonly kept: BufferedBytes;
  readonly handler: StartupHandler;
}

/** Who has accepted the client, and hears what it wants. */
export interface StartupHandler {
  /** It wants a backend, or to agree on encryption with one; once, and again after each `next`. */
  begin(): void;
  cancel(request: Uint8Array): void;
  /** The client cannot be served, came too late, or left. */
  end(reason: CloseReason, detail?: string): void;
}

export interface StartupHandOver {
  /** The first packet as it is to be forwarded, where it can be read. */
  readonly packet: Uint8Array | undefined;
  /** What it said besides. */
  readonly bytes: Uint8Array;
  /** It half-closed. */
  readonly hasEnded: boolean;
  /** The packet begins a stream in plain text of the protocol that is spoken here. */
  readonly isReadable: boolean;
}

/** The client's first request, while it has sent nothing else. */
export interface FirstRequest {
  readonly kind: 'startup' | 'negotiation';
  readonly packet: Uint8Array;
}

type Packet = Exclude<Recognition, { kind: 'need_more' }>;

const NONE: ReadonlySet<Recognition['kind']> = new Set();
const NOTHING = new Uint8Array(0);

export class ClientStartup implements StartupReaderListener {
  #client: Socket;
  readonly #inputs: ClientStartupInputs;
  #reader: StartupReader;
  #leftMs: number;
  #packet: Recognition | undefined;
  /** Read of it when it is first asked for. */
  #parameters: StartupParameters | undefined;
  #hasNegotiated = false;
  /**
   * Requests that have their answer: none may come twice, or a client could ask for ever. Neither follows a handshake.
   */
  #answered: ReadonlySet<Recognition['kind']> = NONE;
  #isEncrypted = false;
  #abortHandshake: (() => void) | undefined;

  constructor(client: Socket, inputs: ClientStartupInputs) {
    this.#client = client;
    this.#inputs = inputs;
    this.#leftMs = inputs.timeoutMs;
    this.#reader = new StartupReader(client, inputs.kept, this);
  }

  /** What to speak with it through: another one after each step in which it may have encrypted. */
  client(): Socket {
    return this.#client;
  }

  /** Returns what ends the deadline, to be called once when the packet is there or not wanted any more. */
  start(): () => void {
    const stop = this.#await();
    this.#reader.start();
    return stop;
  }

  /** The request for encryption was answered no: waits for what the client says to that. Returns as `start` does. */
  next(): () => void {
    const length = this.#length();
    if (this.#packet !== undefined) this.#answered = new Set([...this.#answered, this.#packet.kind]);
    this.#forget();
    const stop = this.#await();
    this.#reader.skip(length);
    return stop;
  }

  /** What its startup packet says; nothing where encryption or another protocol hides it. */
  parameters(): StartupParameters | undefined {
    const packet = this.#packet;
    if (packet?.kind === 'startup' && packet.major === 3) this.#parameters ??= readStartupParameters(this.#first());
    return this.#parameters;
  }

  /** What it waits to be answered, as it is to be forwarded, if that is all it has said. */
  firstRequest(): FirstRequest | undefined {
    const packet = this.#forwarded();
    if (packet === undefined || this.#hasPipelined() || this.#reader.hasEnded()) return undefined;
    return { kind: this.#isNegotiating() ? 'negotiation' : 'startup', packet };
  }

  /** Everything it said; the socket is the caller's, who listens to it in the same step. */
  handOver(): StartupHandOver {
    const packet = this.#forwarded();
    const from = packet === undefined ? 0 : this.#length();
    // An empty view would keep a whole read alive.
    const bytes = this.#reader.length() === from ? NOTHING : this.#reader.bytes().subarray(from);
    this.#reader.release();
    const isReadable = packet !== undefined && !this.#isNegotiating();
    return { packet, bytes, hasEnded: this.#reader.hasEnded(), isReadable };
  }

  /** Says no in the client's own terms and parts from it; nothing else is told from here on. Returns the end without courtesy. */
  refuse(error: Uint8Array, clock: Clock, onClosed: () => void): () => void {
    if (this.#abortHandshake !== undefined) return this.#cutOff(this.#abortHandshake, onClosed);
    // The error itself is the answer to a request with something behind it.
    const packet = this.#isNegotiating() && this.#hasPipelined() ? undefined : this.#packet;
    return refuse(
      { client: this.#client, reader: this.#reader, packet, answered: this.#answered },
      error,
      clock,
      onClosed,
    );
  }

  onPacket(packet: Packet): void {
    this.#packet = packet;
    const { tls, handler } = this.#inputs;
    if (this.#reader.isTooMuch()) return this.#tooMuch();
    switch (packet.kind) {
      case 'cancel_request':
        return handler.cancel(this.#first());
      case 'invalid':
        return handler.end('not_postgres', packet.why);
      case 'http':
        return handler.end('not_postgres', 'HTTP');
      case 'ssl_request':
      case 'gssenc_request':
        if (!this.#check()) return undefined;
        if (this.#answered.has(packet.kind)) return handler.end('unsupported_protocol', answeredText(packet.kind));
        return tls === undefined ? handler.begin() : this.#answer(packet.kind, tls);
      case 'startup':
        if (tls?.isRequired !== true || this.#isEncrypted) return handler.begin();
        return handler.end('tls_required', 'the startup message arrived without TLS');
      case 'tls':
        if (tls === undefined) return handler.begin();
        return this.#isEncrypted ? this.#nested() : this.#encrypt(tls, this.#reader.bytes());
    }
  }

  onMore(): void {
    if (this.#reader.isTooMuch()) this.#tooMuch();
    else this.#check();
  }

  onEnd(): void {
    if (this.#packet === undefined) {
      if (this.#reader.length() === 0) this.#inputs.handler.end(this.#hasNegotiated ? 'client_gave_up' : 'no_startup');
      else this.#inputs.handler.end('not_postgres', 'incomplete startup packet');
    } else if (this.#packet.kind !== 'cancel_request' && !this.#hasPipelined()) {
      this.#inputs.handler.end('client_gave_up');
    }
  }

  /** A cancel request is passed on although its sender did not wait. */
  onClosed(): void {
    const isFirst = this.#packet === undefined && !this.#hasNegotiated;
    if (isFirst) this.#inputs.handler.end(this.#reader.length() === 0 ? 'no_startup' : 'client_reset');
    else if (this.#packet?.kind !== 'cancel_request') this.#inputs.handler.end('client_gave_up');
  }

  #await(): () => void {
    const { clock, timeoutMs, handler } = this.#inputs;
    const since = clock.now();
    const expired = (): void => handler.end('startup_timeout', `no startup message within ${timeoutMs} ms`);
    // After a stall timers run first: what the client said meanwhile is read before the verdict.
    let cancel = clock.schedule(Math.max(0, this.#leftMs), () => {
      cancel = clock.schedule(0, expired);
    });
    return () => {
      cancel();
      this.#leftMs -= clock.now() - since;
    };
  }

  #forwarded(): Uint8Array | undefined {
    if (this.#isNegotiating()) return this.#first();
    return this.parameters()?.forwarded;
  }

  /** A copy: the reader's own buffer is filled further. */
  #first(): Uint8Array {
    return new Uint8Array(this.#reader.bytes().subarray(0, this.#length()));
  }

  #length(): number {
    return this.#packet !== undefined && 'length' in this.#packet ? this.#packet.length : 0;
  }

  #isNegotiating(): boolean {
    return this.#packet?.kind === 'ssl_request' || this.#packet?.kind === 'gssenc_request';
  }

  #answer(kind: 'ssl_request' | 'gssenc_request', tls: OwnTls): void {
    this.#answered = new Set([...this.#answered, kind]);
    if (kind === 'gssenc_request' || this.#isEncrypted) {
      this.#client.write(NOT_SUPPORTED);
      const length = this.#length();
      this.#forget();
      return this.#reader.skip(length);
    }
    this.#answered = new Set([...this.#answered, 'gssenc_request']);
    this.#client.write(SUPPORTED);
    this.#encrypt(tls, undefined);
  }

  /** `begun`: what it said already, which is the beginning of the handshake. */
  #encrypt({ context }: OwnTls, begun: Uint8Array | undefined): void {
    const client = this.#client;
    client.pause();
    this.#reader.release();
    this.#forget();
    const { socket, abort } = shakeHands({
      client,
      context,
      begun,
      onSecure: () => {
        this.#abortHandshake = undefined;
        this.#isEncrypted = true;
        this.#reader = new StartupReader(socket, this.#inputs.kept, this);
        this.#reader.start();
      },
      onFailed: (why) => this.#inputs.handler.end('tls_failed', why),
    });
    this.#client = socket;
    this.#abortHandshake = abort;
  }

  #nested(): void {
    // To be refused inside the encryption that there is, not as one who has just begun it.
    this.#packet = undefined;
    this.#inputs.handler.end('not_postgres', 'TLS inside TLS');
  }

  /** Who is in the middle of a handshake cannot be told anything. */
  #cutOff(abort: () => void, onClosed: () => void): () => void {
    abort();
    this.#client.on('close', onClosed);
    this.#client.destroy();
    return () => {};
  }

  #forget(): void {
    this.#packet = undefined;
    this.#parameters = undefined;
    this.#hasNegotiated = true;
  }

  #tooMuch(): void {
    this.#inputs.handler.end('hold_full', 'waiting clients have sent more than the proxy can buffer');
  }

  /** What comes before the answer was not encrypted, and may be another's (CVE-2021-23214). PostgreSQL refuses it too. */
  #check(): boolean {
    if (!this.#isNegotiating() || !this.#hasPipelined()) return true;
    this.#inputs.handler.end('not_postgres', 'unencrypted data after the encryption request');
    return false;
  }

  /** Who asked more than one thing and half-closed still wants the answers; who only knocked has left. */
  #hasPipelined(): boolean {
    return this.#length() > 0 && this.#reader.length() > this.#length();
  }
}

function answeredText(kind: 'ssl_request' | 'gssenc_request'): string {
  return `${kind === 'ssl_request' ? 'SSLRequest' : 'GSSENCRequest'} had its answer already`;
}
