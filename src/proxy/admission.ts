// Counts the accepted sockets, so that neither server.maxConnections nor EMFILE ever closes a client without a word. A session
// takes a slot. Beyond a bound a limited number of visitors is still let in, to be told why they are refused or to have their
// cancel request passed on; only what exceeds both is cut off unheard, with a parting word that it may or may not read.
import type { ClientPolicy } from '../core/policy.ts';
import { NO_TALLY } from '../core/tally.ts';
import type { Tally } from '../core/tally.ts';

export type SeatKind = 'session' | 'visitor' | 'none';

type Bounds = Pick<ClientPolicy, 'maxSessions' | 'maxSessionsPerAddress' | 'maxStarting'>;

/** Visitors at one time. */
const MOST_VISITORS = 256;

/** What one client connection occupies, until `leave`. */
export interface Seat {
  readonly kind: SeatKind;
  /** The bound that keeps it from a session, in words; undefined for a session. */
  readonly full: string | undefined;
  /** Whether it still has to say what it wants. True at first. */
  starts(isStarting: boolean): void;
  /** A cancel request gives its slot back at once, if there is room for one more visitor. */
  becomeVisitor(): void;
  /** Once; later calls do nothing. */
  leave(): void;
}

export class Admission {
  readonly #bounds: () => Bounds;
  readonly #taken = { session: 0, visitor: 0, none: 0 };
  readonly #byAddress = new Map<string, number>();
  readonly #others: () => Tally;
  /** Only where somebody asks. */
  readonly #changed = new Set<string>();
  readonly #hasOthers: boolean;
  #starting = 0;

  /** Bounds are read at each admission: who is in stays in. `others`: what other processes have let in under the same bounds. */
  constructor(bounds: () => Bounds, others?: () => Tally) {
    this.#bounds = bounds;
    this.#others = others ?? (() => NO_TALLY);
    this.#hasOthers = others !== undefined;
  }

  /** Of the addresses those whose number has changed since it was last asked. */
  tally(): Pick<Tally, 'sessions' | 'starting' | 'byAddress'> {
    const byAddress = new Map([...this.#changed].map((address) => [address, this.#byAddress.get(address) ?? 0]));
    this.#changed.clear();
    return { sessions: this.#taken.session, starting: this.#starting, byAddress };
  }

  /** `address`: the client's, without its port. */
  admit(address: string): Seat {
    const full = this.#fullFor(address);
    let kind: SeatKind = 'session';
    if (full !== undefined) kind = full.isStarting || !this.hasRoomForVisitor() ? 'none' : 'visitor';
    this.count(kind, address, 1);
    this.countStarting(1);
    return new TakenSeat(this, kind, address, full?.text);
  }

  /** Only seats call this, and the two below. */
  count(kind: SeatKind, address: string, change: 1 | -1): void {
    this.#taken[kind] += change;
    if (kind !== 'session') return;
    if (this.#hasOthers) this.#changed.add(address);
    const left = (this.#byAddress.get(address) ?? 0) + change;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
  }

  countStarting(change: 1 | -1): void {
    this.#starting += change;
  }

  hasRoomForVisitor(): boolean {
    return this.#taken.visitor < MOST_VISITORS;
  }

  #fullFor(address: string): { readonly text: string; readonly isStarting: boolean } | undefined {
    const { maxSessions, maxSessionsPerAddress = Infinity, maxStarting = Infinity } = this.#bounds();
    const others = this.#others();
    if (this.#starting + others.starting >= maxStarting) {
      const text = `the bound of ${maxStarting} clients that have not said yet what they want is reached`;
      return { text, isStarting: true };
    }
    if (this.#taken.session + others.sessions >= maxSessions) {
      return { text: `the bound of ${maxSessions} sessions is reached`, isStarting: false };
    }
    const fromThere = (this.#byAddress.get(address) ?? 0) + (others.byAddress.get(address) ?? 0);
    if (fromThere >= maxSessionsPerAddress) {
      return { text: `the bound of ${maxSessionsPerAddress} sessions from ${address} is reached`, isStarting: false };
    }
    return undefined;
  }
}

class TakenSeat implements Seat {
  readonly full: string | undefined;
  readonly #admission: Admission;
  readonly #address: string;
  #kind: SeatKind;
  #isStarting = true;
  #isIn = true;

  constructor(admission: Admission, kind: SeatKind, address: string, full: string | undefined) {
    this.full = full;
    this.#admission = admission;
    this.#address = address;
    this.#kind = kind;
  }

  get kind(): SeatKind {
    return this.#kind;
  }

  starts(isStarting: boolean): void {
    if (isStarting === this.#isStarting) return;
    this.#isStarting = isStarting;
    this.#admission.countStarting(isStarting ? 1 : -1);
  }

  becomeVisitor(): void {
    if (this.#kind !== 'session' || !this.#admission.hasRoomForVisitor()) return;
    this.#admission.count('session', this.#address, -1);
    this.#kind = 'visitor';
    this.#admission.count('visitor', this.#address, 1);
  }

  leave(): void {
    if (!this.#isIn) return;
    this.#isIn = false;
    this.starts(false);
    this.#admission.count(this.#kind, this.#address, -1);
  }
}
