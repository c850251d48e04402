// The commits of a primary that are not complete yet: each waits for the server's own disk, and with synchronous
// replication for the standby. Then it becomes visible, and its client hears of it.
import type { Transaction } from './session.ts';
import type { Work } from './wait.ts';
import type { WalRecord } from './wal.ts';

export interface CommitHost {
  /** When it is on the server's disk. */
  flushSoon(done: () => void): void;
  /** A synchronous standby has it, or none is needed. */
  isReplicated(record: WalRecord): boolean;
  /** Shows it to everybody. */
  complete(record: WalRecord, transaction: Transaction, isLocalOnly: boolean): void;
}

interface OpenCommit {
  readonly record: WalRecord;
  readonly transaction: Transaction;
  isFlushed: boolean;
  /** Its process waits no more. */
  isAbandoned: boolean;
  wake: () => void;
}

export class Commits {
  readonly #host: CommitHost;
  readonly #open = new Set<OpenCommit>();

  constructor(host: CommitHost) {
    this.#host = host;
  }

  /** With `isDurable` false the commit is complete at once. */
  *commit(record: WalRecord, transaction: Transaction, isDurable: boolean): Work {
    if (!isDurable) return this.#host.complete(record, transaction, false);
    const commit: OpenCommit = { record, transaction, isFlushed: false, isAbandoned: false, wake: () => {} };
    this.#open.add(commit);
    const abandon = (): void => {
      commit.isAbandoned = true;
      this.look();
    };
    yield {
      for: 'disk',
      begin: (resume) => {
        this.#host.flushSoon(() => {
          commit.isFlushed = true;
          this.look();
          if (!commit.isAbandoned) resume();
        });
        return abandon;
      },
    };
    if (!this.#open.has(commit)) return undefined;
    yield {
      for: 'standby',
      begin: (resume) => {
        commit.wake = resume;
        return abandon;
      },
    };
    return undefined;
  }

  /** A standby has more than before, or another one is needed, or none. */
  look(): void {
    for (const commit of this.#open) {
      const isReplicated = this.#host.isReplicated(commit.record);
      if (!commit.isFlushed || !(isReplicated || commit.isAbandoned)) continue;
      this.#open.delete(commit);
      this.#host.complete(commit.record, commit.transaction, !isReplicated);
      if (!commit.isAbandoned) commit.wake();
    }
  }

  /** After a crash the log alone tells what was committed. */
  forget(): void {
    this.#open.clear();
  }

  count(): number {
    return this.#open.size;
  }
}
