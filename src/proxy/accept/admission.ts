// Counts the accepted sockets, so that neither server.maxConnections nor EMFILE ever closes a client without a word. A
// session takes a slot. Beyond a bound a limited number of visitors is still let in, to be told why they are refused or
// to have their cancel request passed on; only what exceeds both is cut off unheard, with a parting word that it may or
// may not read. Where room is needed, a client that was accepted and has been silent for longest is dropped before the
// newest is refused.
import type { Clock, Instant } from '../../model/instant.ts';
import type { ClientPolicy } from '../../model/policy.ts';
import { NO_TALLY } from '../../reports/tally.ts';
import type { Tally } from '../../reports/tally.ts';
import { MOST_VISITORS } from './descriptor-limit.ts';
import type { Room } from './descriptor-limit.ts';

export type SeatKind = 'session' | 'visitor' | 'none';

type Bounds = Pick<ClientPolicy, 'maxSessions' | 'maxSessionsPerAddress' | 'maxStarting'>;

/** A client that still has to say what it wants is silent when it sent nothing for so long. Milliseconds. */
const SILENT_MS = 1_000;

/** What admission needs of the connection that it lets in. */
export interface Admitted {
  /** All bytes so far, those of a TLS handshake too. */
  bytesRead(): number;
  /** Room is needed, and it has been silent: gives up its seat synchronously. */
  drop(): void;
}

export interface AdmissionInputs {
  /** Read at each admission: a client that is in stays in. */
  readonly bounds: () => Bounds;
  readonly clock: Clock;
  /** What other processes have let in under the same bounds. */
  readonly others?: (() => Tally) | undefined;
  /** What this process has file descriptors for. Absent: enough. */
  readonly room?: Room | undefined;
}

/** When a client that still has to say what it wants was last known to have sent something. */
interface Heard {
  readonly at: Instant;
  readonly bytes: number;
}

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
  readonly #clock: Clock;
  readonly #room: Room | undefined;
  /** Clients that still have to say what they want, the longest unheard first. */
  readonly #starting = new Map<TakenSeat, Heard>();

  constructor({ bounds, clock, others, room }: AdmissionInputs) {
    this.#room = room;
    this.#bounds = bounds;
    this.#clock = clock;
    this.#others = others ?? (() => NO_TALLY);
    this.#hasOthers = others !== undefined;
  }

  /** Of the addresses those whose number has changed since it was last asked. */
  tally(): Pick<Tally, 'sessions' | 'starting' | 'byAddress'> {
    const byAddress = new Map([...this.#changed].map((address) => [address, this.#byAddress.get(address) ?? 0]));
    this.#changed.clear();
    return { sessions: this.#taken.session, starting: this.#starting.size, byAddress };
  }

  /** `address`: the client's, without its port. */
  admit(address: string, client: Admitted): Seat {
    let full = this.#fullFor(address);
    while (full?.needs !== undefined && this.#dropSilent(full.needs)) full = this.#fullFor(address);
    let kind: SeatKind = 'session';
    if (full !== undefined) kind = full.needs === 'starting' || !this.hasRoomForVisitor() ? 'none' : 'visitor';
    this.count(kind, address, 1);
    const seat = new TakenSeat({ admission: this, client, kind, address, full: full?.text });
    this.countStarting(seat, true);
    return seat;
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

  countStarting(seat: TakenSeat, isStarting: boolean): void {
    if (isStarting) this.#starting.set(seat, { at: this.#clock.now(), bytes: seat.client.bytesRead() });
    else this.#starting.delete(seat);
  }

  hasRoomForVisitor(): boolean {
    return this.#taken.visitor < (this.#room?.visitors ?? MOST_VISITORS);
  }

  /** Drops one client that has been silent; false where there is none. `needs`: what it has to give back. */
  #dropSilent(needs: 'starting' | 'session'): boolean {
    const now = this.#clock.now();
    for (const [seat, heard] of this.#starting) {
      if (now - heard.at < SILENT_MS) return false;
      const bytes = seat.client.bytesRead();
      if (bytes !== heard.bytes) {
        // It spoke since the last look: behind the others, with as much time again.
        this.#starting.delete(seat);
        this.#starting.set(seat, { at: now, bytes });
      } else if (needs === 'starting' || seat.kind === 'session') {
        seat.client.drop();
        return true;
      }
    }
    return false;
  }

  /** `needs`: what somebody else could give back. */
  #fullFor(address: string): { readonly text: string; readonly needs?: 'starting' | 'session' } | undefined {
    const { maxSessions, maxSessionsPerAddress = Infinity, maxStarting = Infinity } = this.#bounds();
    const others = this.#others();
    if (this.#starting.size + others.starting >= maxStarting) {
      const text = `the bound of ${maxStarting} clients that have not said yet what they want is reached`;
      return { text, needs: 'starting' };
    }
    if (this.#taken.session + others.sessions >= maxSessions) {
      return { text: `the bound of ${maxSessions} sessions is reached`, needs: 'session' };
    }
    if (this.#room !== undefined && this.#taken.session >= this.#room.sessions) {
      const { limit, sessions } = this.#room;
      return { text: `the limit on open files (${limit}) has room for ${sessions} sessions`, needs: 'session' };
    }
    const fromThere = (this.#byAddress.get(address) ?? 0) + (others.byAddress.get(address) ?? 0);
    if (fromThere >= maxSessionsPerAddress) {
      return { text: `the bound of ${maxSessionsPerAddress} sessions from ${address} is reached` };
    }
    return undefined;
  }
}

interface SeatInputs {
  readonly admission: Admission;
  readonly client: Admitted;
  readonly kind: SeatKind;
  readonly address: string;
  readonly full: string | undefined;
}

class TakenSeat implements Seat {
  readonly full: string | undefined;
  readonly client: Admitted;
  readonly #admission: Admission;
  readonly #address: string;
  #kind: SeatKind;
  #isStarting = true;
  #isIn = true;

  constructor({ admission, client, kind, address, full }: SeatInputs) {
    this.full = full;
    this.client = client;
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
    this.#admission.countStarting(this, isStarting);
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
