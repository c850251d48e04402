// The simulated network: hosts, the packets between them, and the directions that are cut. A packet that cannot arrive
// is kept back, as TCP would send it again; an attempt to connect is lost, and repeated as Linux does.
import type { Random } from './random.ts';
import { SimulatedHost } from './host.ts';
import type { Timeline } from './time.ts';
import { TcpEnd, type Lane, type TcpSizes } from './tcp-end.ts';
import type { TappedConnection } from './wiretap.ts';

export interface NetworkOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly note: (line: string) => void;
}

interface Packet {
  readonly lane: Lane;
  readonly deliver: () => void;
}

interface Direction {
  isCut: boolean;
  readonly latencyMs: number;
  kept: Packet[];
}

/** Linux sends a SYN again after these times. Milliseconds. */
const SYN_AGAIN_MS = [1_000, 3_000, 7_000, 15_000, 31_000];
/** Within one host. Milliseconds. */
const LOOPBACK_MS = 0.02;
/** Once in so many packets a queue on the way is full. */
const SLOW = { share: 0.02, factor: 10 };
/** TCP has waited longer and longer, so a healed network is noticed after up to this time. Milliseconds. */
const RETRANSMISSION_MS = 400;

export class SimulatedNetwork {
  readonly timeline: Timeline;
  readonly #random: Random;
  readonly #note: NetworkOptions['note'];
  readonly #sizes: TcpSizes;
  readonly #hosts = new Map<string, SimulatedHost>();
  readonly #directions = new Map<SimulatedHost, Map<SimulatedHost, Direction>>();

  constructor({ timeline, random, note }: NetworkOptions) {
    this.timeline = timeline;
    this.#random = random;
    this.#note = note;
    this.#sizes = {
      segment: random.pick([536, 1_460, 1_460, 16_384]),
      window: random.pick([4_096, 16_384, 65_536]),
      sendBuffer: random.pick([4_096, 16_384, 65_536]),
      cutShare: random.pick([0.02, 0.1, 0.4]),
    };
  }

  host(name: string, address: string): SimulatedHost {
    const host = new SimulatedHost({ name, address, network: this, random: this.#random.fork(`host ${name}`) });
    this.#hosts.set(address, host);
    return host;
  }

  hostAt(address: string): SimulatedHost | undefined {
    return this.#hosts.get(address);
  }

  /** To another address, for a host that is down. Nobody has the old one any more. */
  move(host: SimulatedHost, address: string): void {
    this.#note(`network: ${host.name} has the address ${address} instead of ${host.address}`);
    this.#hosts.delete(host.address);
    host.address = address;
    this.#hosts.set(address, host);
  }

  cut(from: SimulatedHost, to: SimulatedHost): void {
    const direction = this.#direction(from, to);
    if (direction.isCut) return;
    direction.isCut = true;
    this.#note(`network: nothing gets from ${from.name} to ${to.name}`);
  }

  heal(from: SimulatedHost, to: SimulatedHost): void {
    const direction = this.#direction(from, to);
    if (!direction.isCut) return;
    direction.isCut = false;
    this.#note(`network: packets get from ${from.name} to ${to.name} again`);
    this.#sendKept(direction, to);
  }

  /** For a host that is up again: what was sent to it meanwhile arrives, at connections that it does not have. */
  hostIsUp(to: SimulatedHost): void {
    for (const from of this.#hosts.values()) {
      const direction = this.#direction(from, to);
      if (!direction.isCut) this.#sendKept(direction, to);
    }
  }

  /** For a host that is down: what it had sent in vain is not sent again. */
  hostIsDown(from: SimulatedHost): void {
    for (const to of this.#hosts.values()) this.#direction(from, to).kept = [];
  }

  isOpen(from: SimulatedHost, to: SimulatedHost): boolean {
    return from.isUp && to.isUp && !this.#direction(from, to).isCut;
  }

  carry(from: SimulatedHost, to: SimulatedHost, packet: Packet): void {
    if (!from.isUp) return;
    const direction = this.#direction(from, to);
    if (direction.isCut || !to.isUp) direction.kept.push(packet);
    else this.#fly(direction, to, packet, 0);
  }

  newEnd(host: SimulatedHost, port: number, peer: TappedConnection['peer'], isAccepted: boolean): TcpEnd {
    const end = new TcpEnd(host, port, this.#sizes, this.#random);
    end.tap = host.wiretap?.connection(isAccepted, port, peer);
    return end;
  }

  /** `onResult`: the end that is connected, or an errno. Nothing comes back from a host that is down or cut off. */
  connect(end: TcpEnd, from: SimulatedHost, to: SimulatedHost, port: number, onResult: (errno: number) => void): void {
    const lanes: [Lane, Lane] = [{ lastArrival: 0 }, { lastArrival: 0 }];
    let isAnswered = false;
    const answer = (errno: number): void => {
      if (isAnswered || end.isDead) return;
      isAnswered = true;
      onResult(errno);
    };
    const accepted = (): void => {
      // A connection that was given up is reset by the kernel that did so.
      if (end.isClosed || end.isDead) end.peer?.fail(RESET);
      else answer(0);
    };
    const syn = (): void => {
      if (isAnswered || end.isClosed || !this.isOpen(from, to)) return;
      this.carry(from, to, {
        lane: lanes[0],
        deliver: () => {
          const isNew = end.peer === undefined;
          const taken = isNew && !end.isClosed ? to.accept(port, end) : !isNew;
          if (!this.isOpen(to, from)) return;
          this.carry(to, from, { lane: lanes[1], deliver: taken ? accepted : () => answer(REFUSED) });
        },
      });
    };
    for (const delayMs of [0, ...SYN_AGAIN_MS]) {
      if (delayMs === 0) syn();
      else this.timeline.schedule(delayMs, syn);
    }
  }

  #direction(from: SimulatedHost, to: SimulatedHost): Direction {
    const ways = this.#directions.get(from) ?? new Map<SimulatedHost, Direction>();
    let direction = ways.get(to);
    if (direction === undefined) {
      const latencyMs = from === to ? LOOPBACK_MS : this.#random.between(0.05, 0.8);
      direction = { isCut: false, latencyMs, kept: [] };
      this.#directions.set(from, ways.set(to, direction));
    }
    return direction;
  }

  #fly(direction: Direction, to: SimulatedHost, packet: Packet, extraMs: number): void {
    const { now, schedule } = this.timeline;
    const slow = this.#random.chance(SLOW.share) ? SLOW.factor : 1;
    const at = now() + direction.latencyMs * slow * this.#random.between(0.9, 1.2) + extraMs;
    packet.lane.lastArrival = Math.max(packet.lane.lastArrival, at);
    schedule(packet.lane.lastArrival - now(), () => {
      if (to.isUp) packet.deliver();
      else direction.kept.push(packet);
    });
  }

  #sendKept(direction: Direction, to: SimulatedHost): void {
    const waitMs = this.#random.between(0, RETRANSMISSION_MS);
    for (const packet of direction.kept.splice(0)) this.#fly(direction, to, packet, waitMs);
  }
}

const REFUSED = -111;
const RESET = -104;
