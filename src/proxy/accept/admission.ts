// The limits on client connections. Every accepted socket holds a slot, so the kernel and Node never drop a client
// without an answer (EMFILE, server.maxConnections). A connection over a limit still gets an over-limit slot, as long
// as there are any: it is told why it is refused, or its cancel request is passed on. Beyond that a connection is cut
// off with an error that it may not read. To make room, the client that has been silent for longest during startup is
// dropped first.
import type { Clock, Instant } from '../../model/instant.ts';
import type { ClientPolicy } from '../../model/policy.ts';
import { NO_TALLY, type Tally } from '../../reports/tally.ts';
import { LinkedList, type Link } from '../linked-list.ts';
import { MAX_OVER_LIMIT } from './descriptor-limit.ts';
import type { DescriptorBudget } from '../options.ts';

export type SlotKind = 'session' | 'over_limit' | 'none';

type AdmissionLimits = Pick<ClientPolicy, 'maxSessions' | 'maxSessionsPerAddress' | 'maxHandshakes'>;

/** A client in its startup that sends nothing for this long is silent. Milliseconds. */
const SILENT_MS = 1_000;

/** The connection that asks for a slot. */
export interface SlotHolder {
  /** All bytes so far, a TLS handshake included. */
  bytesRead(): number;
  /** It has been silent while others need room. It must release its slot synchronously. */
  drop(): void;
}

export interface AdmissionOptions {
  /** Read at each admission. A later, lower limit ends nobody. */
  readonly limits: () => AdmissionLimits;
  readonly clock: Clock;
  /** The connections of the other processes under the same limits. */
  readonly others?: (() => Tally) | undefined;
  /** Absent: no limit on file descriptors is known. */
  readonly descriptors?: DescriptorBudget | undefined;
}

/** The last look at a client in its startup: when it was known to have sent something, and how much in all. */
interface LastHeard {
  readonly place: Link<Slot>;
  readonly at: Instant;
  readonly bytes: number;
}

export class Admission {
  readonly #limits: () => AdmissionLimits;
  readonly #taken = { session: 0, over_limit: 0, none: 0 };
  readonly #byAddress = new Map<string, number>();
  readonly #others: () => Tally;
  /** Addresses whose number changed since the last tally(). Kept only if other processes read it. */
  readonly #changed = new Set<string>();
  readonly #hasOthers: boolean;
  readonly #clock: Clock;
  readonly #descriptors: DescriptorBudget | undefined;
  /** Clients in their startup, the longest unheard first. */
  readonly #starting = new LinkedList<Slot>();

  constructor({ limits, clock, others, descriptors }: AdmissionOptions) {
    this.#descriptors = descriptors;
    this.#limits = limits;
    this.#clock = clock;
    this.#others = others ?? (() => NO_TALLY);
    this.#hasOthers = others !== undefined;
  }

  /** `byAddress` has only the addresses whose number changed since the last call. */
  tally(): Pick<Tally, 'sessions' | 'starting' | 'byAddress'> {
    const byAddress = new Map([...this.#changed].map((address) => [address, this.#byAddress.get(address) ?? 0]));
    this.#changed.clear();
    return { sessions: this.#taken.session, starting: this.#starting.size, byAddress };
  }

  /** Clients without a complete startup message. */
  handshakes(): number {
    return this.#starting.size;
  }

  /** `address`: of the client, without its port. Undefined: `identify` follows, as a load balancer must name it. */
  admit(address: string | undefined, client: SlotHolder): Slot {
    let exceeded = this.#exceededFor(address);
    while (exceeded?.needs !== undefined && this.#dropSilent(exceeded.needs)) exceeded = this.#exceededFor(address);
    let kind: SlotKind = 'session';
    if (exceeded !== undefined)
      kind = exceeded.needs === 'starting' || !this.hasRoomForOverLimit() ? 'none' : 'over_limit';
    this.count(kind, address, 1);
    const slot = new Slot(this, client, kind, address, exceeded?.text);
    slot.heard = this.starting(slot);
    return slot;
  }

  /** Called by slots only, as are the next three. */
  count(kind: SlotKind, address: string | undefined, change: 1 | -1): void {
    this.#taken[kind] += change;
    if (kind !== 'session' || address === undefined) return;
    if (this.#hasOthers) this.#changed.add(address);
    const left = (this.#byAddress.get(address) ?? 0) + change;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
  }

  starting(slot: Slot): LastHeard {
    return { place: this.#starting.add(slot), at: this.#clock.now(), bytes: slot.client.bytesRead() };
  }

  started({ place }: LastHeard): void {
    this.#starting.remove(place);
  }

  hasRoomForOverLimit(): boolean {
    return this.#taken.over_limit < (this.#descriptors?.overLimit ?? MAX_OVER_LIMIT);
  }

  /** Drops one silent client; false if there is none. `needs`: what the client must give back. */
  #dropSilent(needs: 'starting' | 'session'): boolean {
    const now = this.#clock.now();
    for (const slot of this.#starting) {
      const { heard } = slot;
      if (heard === undefined || now - heard.at < SILENT_MS) return false;
      if (slot.client.bytesRead() !== heard.bytes) {
        // It sent something since the last look: it gets as much time again, behind the others.
        this.started(heard);
        slot.heard = this.starting(slot);
      } else if (needs === 'starting' || slot.kind === 'session') {
        slot.client.drop();
        return true;
      }
    }
    return false;
  }

  /** The first limit that is reached. `needs`: what a silent client could give back for it. */
  #exceededFor(
    address: string | undefined,
  ): { readonly text: string; readonly needs?: 'starting' | 'session' } | undefined {
    const { maxSessions, maxHandshakes = Infinity } = this.#limits();
    const others = this.#others();
    if (this.#starting.size + others.starting >= maxHandshakes) {
      const text = `the limit of ${maxHandshakes} clients in their handshake is reached`;
      return { text, needs: 'starting' };
    }
    if (this.#taken.session + others.sessions >= maxSessions) {
      return { text: `the limit of ${maxSessions} sessions is reached`, needs: 'session' };
    }
    if (this.#descriptors !== undefined && this.#taken.session >= this.#descriptors.sessions) {
      const { limit, sessions } = this.#descriptors;
      return { text: `the limit on open files (${limit}) allows ${sessions} sessions`, needs: 'session' };
    }
    const text = address === undefined ? undefined : this.exceededFrom(address);
    return text === undefined ? undefined : { text };
  }

  /** Undefined: one more client may come from there. */
  exceededFrom(address: string): string | undefined {
    const { maxSessionsPerAddress = Infinity } = this.#limits();
    const fromThere = (this.#byAddress.get(address) ?? 0) + (this.#others().byAddress.get(address) ?? 0);
    if (fromThere < maxSessionsPerAddress) return undefined;
    return `the limit of ${maxSessionsPerAddress} sessions from ${address} is reached`;
  }
}

/** One accepted connection's share of the limits, until `release`. */
export class Slot {
  /** The limit that it exceeds, as a sentence for DETAIL; undefined for a session. */
  exceededLimit: string | undefined;
  readonly client: SlotHolder;
  readonly #admission: Admission;
  #address: string | undefined;
  #kind: SlotKind;
  #isIn = true;
  /** The admission's. Defined while the client is in its startup. */
  heard: LastHeard | undefined;

  /** Made by an admission only. */
  constructor(
    admission: Admission,
    client: SlotHolder,
    kind: SlotKind,
    address: string | undefined,
    exceededLimit?: string,
  ) {
    this.exceededLimit = exceededLimit;
    this.client = client;
    this.#admission = admission;
    this.#address = address;
    this.#kind = kind;
  }

  get kind(): SlotKind {
    return this.#kind;
  }

  /** The address of the client is known now, and the limit on sessions from there applies as at its accept. */
  identify(address: string): void {
    if (this.#kind !== 'session') return;
    this.exceededLimit = this.#admission.exceededFrom(address);
    const over = this.#admission.hasRoomForOverLimit() ? 'over_limit' : 'none';
    this.#become(this.exceededLimit === undefined ? 'session' : over, address);
  }

  /** Whether the client is in its startup. True at first. */
  setStarting(isStarting: boolean): void {
    if (isStarting === (this.heard !== undefined)) return;
    if (this.heard !== undefined) this.#admission.started(this.heard);
    this.heard = isStarting ? this.#admission.starting(this) : undefined;
  }

  /** Gives the session back and keeps an over-limit slot, if one is free. */
  becomeOverLimit(): void {
    if (this.#kind === 'session' && this.#admission.hasRoomForOverLimit()) this.#become('over_limit', this.#address);
  }

  /** Idempotent. */
  release(): void {
    if (!this.#isIn) return;
    this.#isIn = false;
    this.setStarting(false);
    this.#admission.count(this.#kind, this.#address, -1);
  }

  #become(kind: SlotKind, address: string | undefined): void {
    this.#admission.count(this.#kind, this.#address, -1);
    this.#kind = kind;
    this.#address = address;
    this.#admission.count(kind, address, 1);
  }
}
