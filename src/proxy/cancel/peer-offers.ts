// Offers a cancel request to the Pointsmen that the setting `peers` names: only the one that serves a session that has
// moved knows where the session is. A peer answers an offer and never passes it on, so there is no loop, and a process
// that offers to itself hears no. Only a peer that has the session gets the request, on the same connection: an answer
// that comes too late cancels nothing, so no statement is cancelled twice.
import { scheduleAfterReads } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import { addressText, type Address } from '../../model/member.ts';
import {
  KEY_IS_HERE,
  cancelOffer,
  cancelRequest,
  requestedKey,
  type CancelKey,
} from '../../wire/messages/cancel-key.ts';
import type { ProxyDependencies } from '../options.ts';
import type { Dial } from '../server.ts';
import type { ProxySocket } from '../socket.ts';

/** For the addresses of all peers. Milliseconds. */
const LOOKUP_MS = 1_000;
/** For the connect to one peer: a peer that is down is not waited for. Milliseconds. */
const CONNECT_MS = 1_000;
/**
 * From the connect to the answer of the last peer. Then nobody has the session. A peer that takes the connection may
 * have a busy host, and nobody else knows a session that has moved. Milliseconds.
 */
const OFFER_MS = 3_000;
/** From the answer until the peer has passed the request on. Milliseconds. */
const TAKEN_MS = 5_000;
/** Peers that get one offer. */
const MOST_PEERS = 16;
/** Connections for offers at one time. More requests are offered to nobody. */
const MOST_CONNECTIONS = 512;

export interface OfferOutcome {
  /** The peer has the session, and has got the request. `onDone` follows. */
  readonly onTaken: (peer: Address) => void;
  readonly onDone: () => void;
  /** No peer has the session, or none has said so in time. */
  readonly onNobody: () => void;
}

export interface PeerOffersOptions extends Pick<ProxyDependencies, 'clock' | 'locatePeer'> {
  /** The setting `peers`, as it is now. */
  readonly peers: () => readonly Address[];
  readonly dial: Dial;
}

export class PeerOffers {
  readonly #options: PeerOffersOptions;
  readonly #connections = { open: 0 };

  constructor(options: PeerOffersOptions) {
    this.#options = options;
  }

  hasPeers(): boolean {
    return this.#options.peers().length > 0;
  }

  /** Returns the function that ends it at once; nothing is reported after that. */
  offer(packet: Uint8Array, outcome: OfferOutcome): () => void {
    const key = requestedKey(packet);
    if (key === undefined) {
      outcome.onNobody();
      return nothing;
    }
    const offer = new Offer(this.#options, this.#connections, key, outcome);
    void offer.start();
    return () => offer.stop();
  }
}

class Offer {
  readonly #options: PeerOffersOptions;
  /** The number of all offers together. */
  readonly #connections: { open: number };
  readonly #key: CancelKey;
  readonly #outcome: OfferOutcome;
  readonly #sockets = new Set<ProxySocket>();
  readonly #aborts: (() => void)[] = [];
  #cancelDeadline = nothing;
  #asked = 0;
  #declined = 0;
  #taker: ProxySocket | undefined;
  #isOver = false;

  constructor(options: PeerOffersOptions, connections: { open: number }, key: CancelKey, outcome: OfferOutcome) {
    this.#options = options;
    this.#connections = connections;
    this.#key = key;
    this.#outcome = outcome;
  }

  async start(): Promise<void> {
    const { clock } = this.#options;
    const nobody = (): void => this.#end(this.#outcome.onNobody);
    this.#cancelDeadline = scheduleAfterReads(clock, LOOKUP_MS, nobody);
    const peers = await this.#find();
    if (this.#isOver) return;
    if (peers.length === 0 || this.#connections.open + peers.length > MOST_CONNECTIONS) {
      return nobody();
    }
    this.#cancelDeadline();
    this.#cancelDeadline = scheduleAfterReads(clock, OFFER_MS, nobody);
    this.#asked = peers.length;
    this.#connections.open += peers.length;
    for (const peer of peers) this.#ask(peer);
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelDeadline();
    this.#connections.open -= this.#asked;
    this.#leaveOthers();
    this.#taker?.destroy();
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.stop();
    tell();
  }

  /** One for each address, whatever names lead there. */
  async #find(): Promise<readonly Address[]> {
    const { peers, locatePeer } = this.#options;
    if (locatePeer === undefined) return [];
    const found = await Promise.all(peers().map(locatePeer));
    return [...new Map(found.flat().map((peer) => [addressText(peer), peer])).values()].slice(0, MOST_PEERS);
  }

  #ask(peer: Address): void {
    const { clock, dial } = this.#options;
    const abort = dial(peer, { clock, timeoutMs: CONNECT_MS }, (result) => {
      if (result.kind === 'failed') return this.#decline();
      const { socket } = result;
      this.#sockets.add(socket);
      socket
        .on('end', () => socket.end())
        .on('close', () => (socket === this.#taker ? this.#end(this.#outcome.onDone) : this.#decline()))
        .on('data', (bytes: Uint8Array) => this.#answered(peer, socket, bytes));
      socket.write(cancelOffer(this.#key));
      return undefined;
    });
    this.#aborts.push(abort);
  }

  #answered(peer: Address, socket: ProxySocket, bytes: Uint8Array): void {
    if (this.#isOver || this.#taker !== undefined) return;
    if (bytes[0] !== KEY_IS_HERE[0]) return void socket.destroy();
    this.#taker = socket;
    this.#cancelDeadline();
    this.#cancelDeadline = scheduleAfterReads(this.#options.clock, TAKEN_MS, () => this.#end(this.#outcome.onDone));
    this.#leaveOthers();
    socket.write(cancelRequest(this.#key));
    return this.#outcome.onTaken(peer);
  }

  #leaveOthers(): void {
    for (const abort of this.#aborts) abort();
    for (const socket of this.#sockets) if (socket !== this.#taker) socket.destroy();
  }

  #decline(): void {
    this.#declined += 1;
    if (this.#declined === this.#asked && this.#taker === undefined) this.#end(this.#outcome.onNobody);
  }
}
