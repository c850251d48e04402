// Everything that one simulated client was told: what became of each of its writes, what it read, how each of its
// sessions began and ended, and where its session was not as it had left it.
import type { Transfer } from '../postgres/wal.ts';

/** `unknown`: the connection was lost after it was sent. `none`: certainly not committed. */
export type WriteOutcome = 'under_way' | 'acknowledged' | 'unknown' | 'none';

export interface ClientWrite {
  readonly number: number;
  readonly session: number;
  readonly sentAt: number;
  readonly transfer: Transfer | undefined;
  outcome: WriteOutcome;
  toldAt: number | undefined;
  /** The server warned that a synchronous standby may lack it. */
  isLocalOnly: boolean;
}

export interface ClientRead {
  readonly session: number;
  readonly at: number;
  readonly numbers: ReadonlySet<number>;
}

export interface ClientSession {
  readonly number: number;
  readonly startedAt: number;
  /** Ready for its first query. Undefined: it never was. */
  readyAt: number | undefined;
  endedAt: number | undefined;
  /** Undefined: the client itself ended it. */
  ending: string | undefined;
}

/** From a request, or the startup packet, to its end. */
export interface ClientWait {
  readonly session: number;
  readonly isLogin: boolean;
  readonly from: number;
  readonly to: number;
}

/**
 * Its transaction was rolled back for a move. The request that read so, and what it did in the failed transaction:
 * `more` statements, and a COMMIT.
 */
export interface ClientRollback {
  readonly request: 'a statement' | 'COMMIT' | 'more' | 'COMMIT behind it';
  readonly at: number;
}

/** Something that it did out of turn. */
export interface ClientMischief {
  readonly what: 'half-closes' | 'resets' | 'cancels';
  readonly at: number;
  readonly isInTransaction: boolean;
}

export class ClientAccount {
  readonly name: string;
  readonly writes: ClientWrite[] = [];
  readonly reads: ClientRead[] = [];
  readonly sessions: ClientSession[] = [];
  readonly waits: ClientWait[] = [];
  /** Sentences: the session was not as the client had left it, or showed less than before. */
  readonly differences: string[] = [];
  /** Requests that the client canceled, and how they ended. */
  readonly cancels: string[] = [];
  readonly mischief: ClientMischief[] = [];
  readonly rollbacks: ClientRollback[] = [];
  /** When a transaction had failed by itself, until its end. */
  readonly failures: { readonly from: number; to: number }[] = [];
  /** Writes that Pointsman answered itself. `isVoid`: with the end of their transaction. */
  readonly takenOut: { readonly number: number; readonly isVoid: boolean }[] = [];
  readonly #now: () => number;

  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
  }

  begins(): ClientSession {
    const number = this.sessions.length + 1;
    const session = { number, startedAt: this.#now(), readyAt: undefined, endedAt: undefined, ending: undefined };
    this.sessions.push(session);
    return session;
  }

  does(what: ClientMischief['what'], isInTransaction: boolean): void {
    this.mischief.push({ what, at: this.#now(), isInTransaction });
  }

  isRolledBack(request: ClientRollback['request']): void {
    this.rollbacks.push({ request, at: this.#now() });
  }

  /** Returns the end of that. */
  fails(): () => void {
    const failure = { from: this.#now(), to: Infinity };
    this.failures.push(failure);
    return () => {
      failure.to = this.#now();
    };
  }

  isTakenOut(write: ClientWrite | undefined, isVoid: boolean): void {
    if (write !== undefined) this.takenOut.push({ number: write.number, isVoid });
  }

  sends(session: number, transfer?: Transfer): ClientWrite {
    const write: ClientWrite = {
      number: this.writes.length + 1,
      session,
      sentAt: this.#now(),
      transfer,
      outcome: 'under_way',
      toldAt: undefined,
      isLocalOnly: false,
    };
    this.writes.push(write);
    return write;
  }

  told(writes: readonly ClientWrite[], outcome: WriteOutcome, isLocalOnly = false): void {
    for (const write of writes) {
      write.outcome = outcome;
      write.toldAt = this.#now();
      write.isLocalOnly = isLocalOnly;
    }
  }

  /** A session must be shown again all that it was shown before, by a read or by a confirmed write. */
  shows(session: number, numbers: ReadonlySet<number>): void {
    const before = this.reads.filter((read) => read.session === session).flatMap((read) => [...read.numbers]);
    const own = this.writes.filter((write) => write.session === session && write.outcome === 'acknowledged');
    const missing = [...new Set([...before, ...own.map(({ number }) => number)])].filter(
      (number) => !numbers.has(number),
    );
    if (missing.length > 0) {
      this.differences.push(`session ${session} at ${this.#now().toFixed(1)} no longer shows ${missing.join(', ')}`);
    }
    this.reads.push({ session, at: this.#now(), numbers });
  }

  acknowledged(): readonly ClientWrite[] {
    return this.writes.filter(({ outcome }) => outcome === 'acknowledged');
  }
}
