// A client until its backend is connected. Recognises its first packet and reports it, or that the client has left;
// after a request for encryption it does the same with the next packet. One deadline holds for all of it, and stands
// still while the client waits for us. If Pointsman answers TLS, the handshake happens here, and the client is the TLS
// socket from then on. Every byte is kept for the next owner: the relay, a cancel or a refusal. Knows no route and no
// state of the session.
import type { SecureContext } from 'node:tls';
import type { CloseReason } from '../../model/close-reason.ts';
import { scheduleAfterReads, type Clock } from '../../model/instant.ts';
import type { Address } from '../../model/member.ts';
import type { Recognition } from '../../wire/startup/startup.ts';
import { KEY_IS_HERE } from '../../wire/messages/cancel-key.ts';
import { NOT_SUPPORTED, SUPPORTED } from '../../wire/messages/error-response.ts';
import { nodeSocket } from '../plain/plain-socket.ts';
import type { ProxySocket } from '../socket.ts';
import type { UnansweredStartup } from '../stage.ts';
import type { StartupPackets, StartupParameters } from './startup-parameters.ts';
import { StartupReader, type PacketListener, type BufferedBytes } from './startup-reader.ts';
import { shakeHands, type ReadFew } from './tls-handshake.ts';
import type { StartupCounts } from './startup-counts.ts';
import type { OwnTls } from './tls-certificate.ts';

/** How a startup goes on, for the stage of its session. */
export interface StartupOutcome {
  /** The client wants a backend, or encryption with one. Called once, and again after each `declineEncryption`. */
  readonly onRequest: () => void;
  /** `isOffered`: a peer had offered it, and was told that its session is here. */
  readonly onCancel: (request: Uint8Array, isOffered: boolean) => void;
  /** Another Pointsman has a cancel request. `acceptOffer` or the end of the session follows. */
  readonly onOffer: (offer: Uint8Array) => void;
  /** The header of the PROXY protocol is there. Undefined: it names no client. Called before all others. */
  readonly onSource: (source: Address | undefined) => void;
  /** The client cannot be served, came too late, or left. */
  readonly onEnd: (reason: CloseReason, detail?: string) => void;
}

export interface ClientStartupOptions extends StartupOutcome {
  readonly clock: Clock;
  /** The deadline for everything up to the startup message. Milliseconds. */
  readonly timeoutMs: number;
  /** Undefined: TLS is between the client and its server. */
  readonly tls: OwnTls | undefined;
  /** A load balancer names its client first (PROXY protocol). */
  readonly awaitsHeader: boolean;
  readonly buffered: BufferedBytes;
  readonly packets: StartupPackets;
  readonly counts: StartupCounts;
  readonly readFew: ReadFew;
}

export interface StartupHandOver {
  /** The first packet as it is to be forwarded; undefined if it cannot be read. */
  readonly packet: Uint8Array | undefined;
  /** The bytes behind the packet. */
  readonly bytes: Uint8Array;
  /** The client has half-closed. */
  readonly hasEnded: boolean;
  /** The packet begins a plain-text stream of protocol 3. */
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
const TOO_MUCH = 'waiting clients have sent more than the proxy can buffer';

export class ClientStartup implements PacketListener {
  #client: ProxySocket;
  readonly #options: ClientStartupOptions;
  #reader: StartupReader;
  #leftMs: number;
  #packet: Recognition | undefined;
  /** Read when they are first needed. */
  #parameters: StartupParameters | undefined;
  #awaitsHeader: boolean;
  #hasNegotiated = false;
  /**
   * Requests for encryption that were answered. A second one of a kind is refused, or a client could go on forever.
   */
  #answered: ReadonlySet<Recognition['kind']> = NONE;
  #isEncrypted = false;
  #isOffered = false;
  #isShakingHands = false;

  constructor(client: ProxySocket, options: ClientStartupOptions) {
    this.#client = client;
    this.#options = options;
    this.#leftMs = options.timeoutMs;
    this.#awaitsHeader = options.awaitsHeader;
    this.#reader = new StartupReader(client, options.buffered, this);
  }

  /** The socket to use. It changes when the client encrypts: do not keep it. */
  client(): ProxySocket {
    return this.#client;
  }

  /** Returns the cancel of the deadline, to be called once when the packet has arrived or is not wanted any more. */
  start(): () => void {
    const stop = this.#await();
    this.#reader.start();
    return stop;
  }

  /** Answers the request for encryption with N and waits for the next packet. Returns the same as `start`. */
  declineEncryption(): () => void {
    this.#client.write(NOT_SUPPORTED);
    const length = this.#length();
    if (this.#packet !== undefined) this.#answered = new Set([...this.#answered, this.#packet.kind]);
    this.#forget();
    const stop = this.#await();
    this.#reader.skip(length);
    return stop;
  }

  /** The cancel request may come, within the deadline that runs. */
  acceptOffer(): void {
    this.#isOffered = true;
    this.#client.write(KEY_IS_HERE);
    const length = this.#length();
    this.#forget();
    this.#reader.skip(length);
  }

  /** The parameters of the startup packet; undefined if encryption or another protocol hides them. */
  parameters(): StartupParameters | undefined {
    const packet = this.#packet;
    if (packet?.kind === 'startup' && packet.major === 3) {
      this.#parameters ??= this.#options.packets.read(this.#reader.bytes().subarray(0, this.#length()));
    }
    return this.#parameters;
  }

  /** The request that waits for a reply, as it is to be forwarded; undefined if the client has sent more than that. */
  firstRequest(): FirstRequest | undefined {
    const packet = this.#forwarded();
    if (packet === undefined || this.#hasPipelined() || this.#reader.hasEnded()) return undefined;
    return { kind: this.#isNegotiating() ? 'negotiation' : 'startup', packet };
  }

  /** The client has, or requests, encryption with its server. */
  isEncrypting(): boolean {
    return this.#packet?.kind === 'tls' || this.#isNegotiating();
  }

  /** The startup packet, whatever follows it. */
  startupRequest(): FirstRequest {
    const packet = this.parameters()?.forwarded;
    if (packet === undefined) throw new Error('the startup packet cannot be read');
    return { kind: 'startup', packet };
  }

  /** Everything the client has sent. The socket is the caller's, who must listen to it synchronously. */
  handOver(): StartupHandOver {
    const packet = this.#forwarded();
    if (this.isEncrypting()) this.#options.counts.passedThrough();
    const from = packet === undefined ? 0 : this.#length();
    // An empty view would keep a whole read alive.
    const bytes = this.#reader.length() === from ? NOTHING : this.#reader.bytes().subarray(from);
    this.#reader.release();
    const isReadable = packet !== undefined && !this.#isNegotiating();
    return { packet, bytes, hasEnded: this.#reader.hasEnded(), isReadable };
  }

  /** For a client that is refused. Undefined: in the middle of a handshake no error can be sent. */
  unanswered(): UnansweredStartup | undefined {
    if (this.#isShakingHands) return undefined;
    // A request with bytes behind it gets the error as its answer.
    const packet = this.#isNegotiating() && this.#hasPipelined() ? undefined : this.#packet;
    return { reader: this.#reader, packet, answered: this.#answered };
  }

  onPacket(packet: Packet): void {
    if (packet.kind === 'proxy_header') return this.#source(packet);
    this.#packet = packet;
    if (this.#awaitsHeader) {
      const why =
        packet.kind === 'invalid' ? packet.why : 'no header of the PROXY protocol, which its address must send';
      return this.#options.onEnd('not_postgres', why);
    }
    const { tls, onRequest, onCancel, onOffer, onEnd, counts } = this.#options;
    if (!this.#hasNegotiated) counts.firstPacket(packet.kind);
    if (packet.kind === 'startup') counts.startup(packet, this.#client);
    if (this.#reader.isTooMuch()) return onEnd('hold_full', TOO_MUCH);
    if (this.#isOffered && packet.kind !== 'cancel_request')
      return onEnd('not_postgres', 'another packet than the cancel request that was offered');
    switch (packet.kind) {
      case 'cancel_request':
        return onCancel(this.#first(), this.#isOffered);
      case 'cancel_offer':
        return onOffer(this.#first());
      case 'invalid':
        return onEnd('not_postgres', packet.why);
      case 'http':
        return onEnd('not_postgres', 'HTTP');
      case 'ssl_request':
      case 'gssenc_request':
        if (!this.#check()) return undefined;
        if (this.#answered.has(packet.kind)) return onEnd('unsupported_protocol', answeredText(packet.kind));
        return tls === undefined ? onRequest() : this.#answer(packet.kind, tls);
      case 'startup':
        if (tls?.isRequired !== true || this.#isEncrypted) return onRequest();
        return onEnd('tls_required', 'the startup message arrived without TLS');
      case 'tls':
        if (tls === undefined) return onRequest();
        if (tls.context === undefined) return onEnd('not_postgres', 'TLS on a Unix socket');
        if (!this.#isEncrypted) return this.#encrypt(tls.context, this.#reader.bytes());
        // The refusal must go through the encryption that exists, and not as an alert to a new handshake.
        this.#packet = undefined;
        return onEnd('not_postgres', 'TLS inside TLS');
    }
  }

  #source({ length, source }: Extract<Packet, { kind: 'proxy_header' }>): void {
    const { onSource, onEnd } = this.#options;
    if (!this.#awaitsHeader)
      return onEnd('not_postgres', 'a header of the PROXY protocol, which its address may not send');
    this.#awaitsHeader = false;
    onSource(source);
    // A client over the limit of its address may have been cut off.
    if (!this.#client.destroyed) this.#reader.skip(length);
  }

  onMore(): void {
    if (this.#reader.isTooMuch()) this.#options.onEnd('hold_full', TOO_MUCH);
    else this.#check();
  }

  onEnd(): void {
    if (this.#packet === undefined) {
      if (this.#reader.length() === 0) this.#options.onEnd(this.#hasNegotiated ? 'client_gave_up' : 'no_startup');
      else this.#options.onEnd('not_postgres', 'incomplete startup packet');
    } else if (this.#packet.kind !== 'cancel_request' && !this.#hasPipelined()) {
      this.#options.onEnd('client_gave_up');
    }
  }

  /** A cancel request is passed on even if its sender did not wait. */
  onClosed(): void {
    const isFirst = this.#packet === undefined && !this.#hasNegotiated;
    if (isFirst) this.#options.onEnd(this.#reader.length() === 0 ? 'no_startup' : 'client_reset');
    else if (this.#packet?.kind !== 'cancel_request') this.#options.onEnd('client_gave_up');
  }

  #await(): () => void {
    const { clock, timeoutMs, onEnd } = this.#options;
    const since = clock.now();
    const expired = (): void => onEnd('startup_timeout', `no startup message within ${timeoutMs} ms`);
    const cancel = scheduleAfterReads(clock, Math.max(0, this.#leftMs), expired);
    return () => {
      cancel();
      this.#leftMs -= clock.now() - since;
    };
  }

  #forwarded(): Uint8Array | undefined {
    if (this.#isNegotiating()) return this.#first();
    return this.parameters()?.forwarded;
  }

  /** A copy: the reader goes on filling its buffer. */
  #first(): Uint8Array {
    return new Uint8Array(this.#reader.bytes().subarray(0, this.#length()));
  }

  #length(): number {
    return this.#packet !== undefined && 'length' in this.#packet ? this.#packet.length : 0;
  }

  #isNegotiating(): boolean {
    return this.#packet?.kind === 'ssl_request' || this.#packet?.kind === 'gssenc_request';
  }

  #answer(kind: 'ssl_request' | 'gssenc_request', { context }: OwnTls): void {
    this.#answered = new Set([...this.#answered, kind]);
    if (kind === 'gssenc_request' || this.#isEncrypted || context === undefined) {
      this.#client.write(NOT_SUPPORTED);
      const length = this.#length();
      this.#forget();
      return this.#reader.skip(length);
    }
    this.#answered = new Set([...this.#answered, 'gssenc_request']);
    this.#client.write(SUPPORTED);
    this.#encrypt(context, undefined);
  }

  /** `begun`: the first bytes of the handshake, if they were read already. */
  #encrypt(context: SecureContext, begun: Uint8Array | undefined): void {
    // The answer to the request has failed, and the close is still to come.
    if (this.#client.destroyed) return;
    this.#client.pause();
    this.#reader.release();
    this.#forget();
    const client = nodeSocket(this.#client);
    this.#client = client;
    this.#isShakingHands = true;
    shakeHands({
      client,
      context,
      begun,
      readFew: this.#options.readFew,
      onBegun: (socket) => (this.#client = socket),
      onSecure: () => {
        this.#isShakingHands = false;
        this.#isEncrypted = true;
        this.#reader = new StartupReader(this.#client, this.#options.buffered, this);
        this.#reader.start();
      },
      onFailed: (why) => this.#options.onEnd('tls_failed', why),
    });
  }

  #forget(): void {
    this.#packet = undefined;
    this.#parameters = undefined;
    this.#hasNegotiated = true;
  }

  /**
   * Bytes before the answer are not encrypted and may come from an attacker (CVE-2021-23214). PostgreSQL refuses them
   * too.
   */
  #check(): boolean {
    if (!this.#isNegotiating() || !this.#hasPipelined()) return true;
    this.#options.onEnd('not_postgres', 'unencrypted data after the encryption request');
    return false;
  }

  /** A client that sent more than its first packet and then half-closed still wants the answers. */
  #hasPipelined(): boolean {
    return this.#length() > 0 && this.#reader.length() > this.#length();
  }
}

function answeredText(kind: 'ssl_request' | 'gssenc_request'): string {
  return `${kind === 'ssl_request' ? 'SSLRequest' : 'GSSENCRequest'} had its answer already`;
}
