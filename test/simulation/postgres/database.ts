// The content of one server's database, as the records of its WAL make it: numbered rows, and accounts with balances.
import type { Change, WalRecord } from './wal.ts';

export const ACCOUNTS = [1, 2, 3, 4, 5] as const;
export const OPENING_BALANCE = 1_000;
/** Lower ones belong to initdb, and to the statements that made the tables. */
export const FIRST_XID = 740;

export class Database {
  /** How often each row is there: there is no unique key, so that a statement which ran twice shows. */
  readonly #rows = new Map<string, Map<number, number>>();
  readonly #balances = new Map<number, number>(ACCOUNTS.map((account) => [account, OPENING_BALANCE]));
  readonly #running = new Set<number>();
  #nextXid = FIRST_XID;

  /** An xid of a transaction that begins to write. */
  beginWriting(): number {
    const xid = this.#nextXid;
    this.#nextXid += 1;
    this.#running.add(xid);
    return xid;
  }

  /** Replays a record, or shows the effect of one that is complete. */
  apply({ body }: WalRecord): void {
    if (body.kind === 'change') this.#see(body.xid);
    if (body.kind !== 'commit' && body.kind !== 'abort') return;
    this.#see(body.xid);
    this.#running.delete(body.xid);
    if (body.kind === 'commit') for (const change of body.changes) this.#change(change);
  }

  /** A crash, or a promotion, ends transactions that have neither committed nor aborted. */
  endRunning(): void {
    this.#running.clear();
  }

  numbers(client: string): readonly number[] {
    const rows = this.#rows.get(client) ?? new Map<number, number>();
    return [...rows].flatMap(([number, times]) => Array.from({ length: times }, () => number));
  }

  balances(): ReadonlyMap<number, number> {
    return this.#balances;
  }

  /** Every transaction below has ended. */
  endedBelow(): number {
    return Math.min(this.#nextXid, ...this.#running);
  }

  /** Every visible transaction is below. */
  visibleBelow(): number {
    return this.#nextXid;
  }

  #see(xid: number): void {
    if (xid < this.#nextXid) return;
    for (let unseen = this.#nextXid; unseen <= xid; unseen += 1) this.#running.add(unseen);
    this.#nextXid = xid + 1;
  }

  #change({ client, number, transfer }: Change): void {
    const rows = this.#rows.get(client) ?? new Map<number, number>();
    this.#rows.set(client, rows.set(number, (rows.get(number) ?? 0) + 1));
    if (transfer === undefined) return;
    const { account, amount } = transfer;
    this.#balances.set(account, (this.#balances.get(account) ?? 0) + amount);
  }
}

/** The content behind these records. */
export function databaseOf(records: readonly WalRecord[]): Database {
  const database = new Database();
  for (const record of records) database.apply(record);
  return database;
}
