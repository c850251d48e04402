// One end of a simulated TCP connection, as the kernel of its host has it: two buffers, a window, an end and a reset.
// The kernel works on while the processes of its host are frozen. The errors are those of Linux.
import type { Random } from './random.ts';
import type { EndTap } from './wiretap.ts';

interface HostAddress {
  readonly address: string;
}

/** The host of an end. */
export interface TcpHost extends HostAddress {
  /** Packets of one lane keep their order. */
  carry(to: HostAddress, lane: Lane, deliver: () => void): void;
  /** Packets get there, and their answers back. */
  reaches(to: HostAddress): boolean;
  schedule(delayMs: number, run: () => void): () => void;
  now(): number;
}

/** The way of one end's packets to its peer. */
export interface Lane {
  lastArrival: number;
}

/** Sizes that a seed chooses. Bytes. */
export interface TcpSizes {
  readonly segment: number;
  readonly window: number;
  readonly sendBuffer: number;
  /** The share of segments that end at a random place. */
  readonly cutShare: number;
}

/** As uv has them. */
export const ERRNO = {
  EPIPE: -32,
  EADDRINUSE: -98,
  ECONNRESET: -104,
  ENOTCONN: -107,
  ETIMEDOUT: -110,
  ECONNREFUSED: -111,
};

/** As Node sets it: so many probes, one each second. */
const KEEPALIVE_PROBES_MS = 10_000;

export class TcpEnd {
  readonly host: TcpHost;
  /** The one that its host had when it began. */
  readonly address: string;
  readonly port: number;
  readonly #sizes: TcpSizes;
  readonly #random: Random;
  readonly #lane: Lane = { lastArrival: 0 };
  /** The other end; undefined before the handshake. */
  peer: TcpEnd | undefined;
  /** Told when a read or a write may do more than before. */
  onChange: () => void = () => {};
  tap: EndTap | undefined;

  #received: Uint8Array[] = [];
  #receivedBytes = 0;
  #hasEnd = false;
  #errno = 0;
  #isDead = false;
  /** The process has closed it; the kernel sends what is left. */
  #isClosed = false;

  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  /** Sent, and not read by the other process yet. */
  #inWindow = 0;
  /** Sent, and not arrived yet. */
  #onTheWay = 0;
  #silentSince = 0;
  #isEnding = false;
  #isEndSent = false;
  #lastHeard = 0;
  #cancelKeepalive = (): void => {};

  constructor(host: TcpHost, port: number, sizes: TcpSizes, random: Random) {
    this.host = host;
    this.address = host.address;
    this.port = port;
    this.#sizes = sizes;
    this.#random = random;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The process has let go of it. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A read gives bytes, the end or an error. */
  get isReadable(): boolean {
    return this.#receivedBytes > 0 || this.#hasEnd || this.#errno !== 0 || this.#isDead;
  }

  /** Bytes; `end`; an errno; undefined: nothing has come. */
  read(atMost: number): Uint8Array | 'end' | number | undefined {
    if (this.#receivedBytes > 0) return this.#takeReceived(atMost);
    if (this.#errno !== 0 && !this.#hasEnd) return this.#takeErrno();
    if (this.#hasEnd || this.#isDead) return 'end';
    return undefined;
  }

  /** How many bytes the kernel takes now; or an errno. */
  write(bytes: Uint8Array): number {
    if (this.#errno !== 0) return this.#takeErrno();
    if (this.#isDead || this.#isEnding) return ERRNO.EPIPE;
    const space = this.#sizes.sendBuffer - this.#unsentBytes;
    const taken = Math.max(0, Math.min(space, bytes.length));
    if (taken > 0) {
      const copy = new Uint8Array(bytes.subarray(0, taken));
      this.tap?.sent(copy);
      this.#unsent.push(copy);
      this.#unsentBytes += taken;
      this.#pump();
    }
    if (taken < bytes.length && this.#unsentBytes < this.#sizes.sendBuffer) this.onChange();
    return taken;
  }

  /** Half-close: the end follows the bytes that were taken. */
  end(): number {
    if (this.#isDead) return ERRNO.ENOTCONN;
    this.#isEnding = true;
    this.#pump();
    return 0;
  }

  /** The process closes it. Bytes that it has not read make a reset of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.tap?.ended();
    this.#cancelKeepalive();
    this.onChange = () => {};
    if (this.#isDead) return;
    if (this.peer === undefined) return this.vanish();
    if (this.#receivedBytes > 0) return this.reset();
    this.#isEnding = true;
    this.#pump();
    this.#endIfDone();
  }

  /** Drops what the kernel has not sent yet. */
  reset(): void {
    if (!this.#isDead) this.#send((peer) => peer.#takeReset());
    this.#isClosed = true;
    this.vanish();
  }

  /** Its host is gone: nobody is told. */
  vanish(): void {
    this.#isDead = true;
    this.tap?.ended();
    this.#cancelKeepalive();
    this.onChange = () => {};
    this.#unsent = [];
    this.#unsentBytes = 0;
  }

  /** Milliseconds of silence until the first probe. Undefined: none. */
  keepAlive(idleMs: number | undefined): void {
    this.#cancelKeepalive();
    if (idleMs !== undefined && !this.#isDead) this.#awaitSilence(idleMs, idleMs);
  }

  /** The bytes that the other kernel has not acknowledged, and for how long. */
  silence(): { readonly bytes: number; readonly forMs: number } {
    return { bytes: this.#onTheWay, forMs: this.#onTheWay === 0 ? 0 : this.host.now() - this.#silentSince };
  }

  /** Fails as when the kernel gives up. */
  fail(errno: number): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#errno = errno;
    this.#cancelKeepalive();
    this.onChange();
  }

  #takeReceived(atMost: number): Uint8Array {
    const bytes = wholeOf(this.#received);
    const taken = bytes.subarray(0, atMost);
    this.#received = taken.length === bytes.length ? [] : [bytes.subarray(taken.length)];
    this.#receivedBytes -= taken.length;
    this.tap?.read(taken);
    const { peer } = this;
    if (peer !== undefined) {
      // A window that opens says so; only a sender that waits for it gets a packet.
      if (peer.#unsentBytes === 0) peer.#inWindow -= taken.length;
      else this.#send((sender) => sender.#windowOpens(taken.length));
    }
    return taken;
  }

  #takeErrno(): number {
    const errno = this.#errno;
    this.#errno = 0;
    return errno;
  }

  #windowOpens(bytes: number): void {
    this.#inWindow -= bytes;
    const before = this.#unsentBytes;
    this.#pump();
    if (this.#unsentBytes < before) this.onChange();
  }

  /** Sends what the window allows, then the end. */
  #pump(): void {
    if (this.peer === undefined || this.#isDead) return;
    while (this.#unsentBytes > 0 && this.#inWindow < this.#sizes.window) {
      const bytes = this.#nextSegment(Math.min(this.#sizes.segment, this.#sizes.window - this.#inWindow));
      this.#inWindow += bytes.length;
      if (this.#onTheWay === 0) this.#silentSince = this.host.now();
      this.#onTheWay += bytes.length;
      this.#send((peer) => {
        this.#onTheWay -= bytes.length;
        this.#silentSince = this.host.now();
        peer.#takeBytes(bytes);
      });
    }
    if (this.#isEnding && !this.#isEndSent && this.#unsentBytes === 0) {
      this.#isEndSent = true;
      this.#send((peer) => peer.#takeEnd());
    }
  }

  #nextSegment(atMost: number): Uint8Array {
    const all = wholeOf(this.#unsent);
    const whole = Math.min(atMost, all.length);
    const length = whole > 1 && this.#random.chance(this.#sizes.cutShare) ? 1 + this.#random.int(whole - 1) : whole;
    this.#unsent = length === all.length ? [] : [all.subarray(length)];
    this.#unsentBytes -= length;
    return all.subarray(0, length);
  }

  #send(deliver: (peer: TcpEnd) => void): void {
    const { peer } = this;
    if (peer === undefined) return;
    this.host.carry(peer, this.#lane, () => {
      peer.#lastHeard = this.host.now();
      deliver(peer);
    });
  }

  #takeBytes(bytes: Uint8Array): void {
    if (this.#isDead || this.#isClosed) return this.#refuse();
    this.#received.push(bytes);
    this.#receivedBytes += bytes.length;
    this.onChange();
  }

  #takeEnd(): void {
    if (this.#isDead) return this.#refuse();
    this.#hasEnd = true;
    if (this.#isClosed) this.#endIfDone();
    else this.onChange();
  }

  #takeReset(): void {
    if (this.#isDead) return;
    const errno = this.#hasEnd ? ERRNO.EPIPE : ERRNO.ECONNRESET;
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.fail(errno);
  }

  /** Packets for a connection that is not here any more. */
  #refuse(): void {
    this.#send((peer) => peer.#takeReset());
    this.#isDead = true;
  }

  #endIfDone(): void {
    if (this.#hasEnd && this.#isEndSent) this.vanish();
  }

  #awaitSilence(idleMs: number, waitMs: number): void {
    this.#cancelKeepalive = this.host.schedule(waitMs, () => {
      const { peer } = this;
      const silentMs = this.host.now() - this.#lastHeard;
      if (this.#isDead || peer === undefined) return;
      if (this.host.reaches(peer)) {
        this.#lastHeard = this.host.now();
        if (peer.#isDead) this.#takeReset();
        else this.#awaitSilence(idleMs, idleMs);
      } else if (silentMs >= idleMs + KEEPALIVE_PROBES_MS) this.fail(ERRNO.ETIMEDOUT);
      else this.#awaitSilence(idleMs, Math.max(1_000, idleMs - silentMs));
    });
  }
}

function wholeOf(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
}
