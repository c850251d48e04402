// The clients' part of a run, the servers' part, and the database at its end. The judge sees nothing else.

export type Outcome =
  /** The client was told that the write is committed. */
  | 'acknowledged'
  /** It cannot have been committed: COMMIT was never sent, or the server's error says that nothing was done. */
  | 'refused'
  /** The connection or the server ended while COMMIT was on its way. */
  | 'unknown';

/** Where a server executed a write, by its own account, in its answer to the client. */
export interface Place {
  /** The client and its number, as the server says. */
  readonly client: number;
  readonly n: number;
  /** host:port */
  readonly server: string;
  readonly timeline: number;
  /** A position in the WAL before the commit record of the write. */
  readonly lsn: string;
  /** The transaction's id. */
  readonly transaction: string;
}

/** A number that a client inserted, or a transfer between two accounts that has a number. Nobody repeats a number. */
export interface Write {
  readonly client: number;
  readonly n: number;
  readonly kind: 'insert' | 'transfer';
  /** When the client sent the statement that writes the number. Milliseconds of the wall clock, as all times here. */
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: Outcome;
  /** Undefined: the client never learned it. */
  readonly place: Place | undefined;
  /** The error, in the words of the driver. */
  readonly words: string | undefined;
}

/** One look of a session at the database: the highest number of each client in `written`. */
export interface Sight {
  readonly session: string;
  readonly port: 'write' | 'read';
  readonly atMs: number;
  /** By client; a client that is missing was not looked at. */
  readonly seen: ReadonlyMap<number, number>;
  /** Over all accounts; undefined: not looked at. */
  readonly sum: number | undefined;
  /** The primary that answered, on its timeline, by its own account and clock. Undefined: a standby, or not asked. */
  readonly primary: { readonly server: string; readonly timeline: number; readonly atMs: number } | undefined;
}

export interface Client {
  readonly id: number;
  /** The driver and its use: `node-postgres, pool`. */
  readonly application: string;
}

/** A write in the log of a server. */
export interface Executed {
  readonly server: string;
  readonly atMs: number;
  readonly client: number;
  readonly n: number;
  readonly timeline: number;
}

/** A write whose COMMIT a server began, by its log: a deferred trigger is the last step before the commit's record. */
export interface Commit extends Executed {
  /** The commit's record is here, or behind it. */
  readonly lsn: string;
}

/** Patroni of a server logged that it holds the leader lock. */
export interface LockClaim {
  readonly server: string;
  readonly atMs: number;
}

/** A server left recovery and took writes, on a timeline of its own. */
export interface Promotion {
  readonly server: string;
  readonly timeline: number;
  /** From here on it follows nobody: what the old primary commits is lost. */
  readonly begunAtMs: number;
  /** It takes writes, and can be proven to be the primary. */
  readonly atMs: number;
}

/** The end of a timeline in the history of the last primary. */
export interface Fork {
  readonly timeline: number;
  /** The history has nothing that was written behind it. */
  readonly lsn: string;
}

export interface StoredWrite {
  readonly client: number;
  readonly n: number;
  readonly kind: Write['kind'];
  readonly copies: number;
}

/** The database after all faults have ended, read from the members themselves. */
export interface Ending {
  readonly stored: readonly StoredWrite[];
  readonly sum: number;
  /** Accounts whose balance is not what their stored transfers make it. */
  readonly wrongBalances: number;
  readonly timeline: number;
  /** By timeline: the servers that wrote the rows of it that are there, the last primary included. */
  readonly writers: ReadonlyMap<number, readonly string[]>;
  readonly forks: readonly Fork[];
  /** By member: the number of its rows, and a digest of them. */
  readonly copies: ReadonlyMap<string, string>;
  /** By transaction, as the last primary tells it: `committed`, `aborted`, or unknown. */
  readonly fates: ReadonlyMap<string, string>;
  /** When the last fault had ended and every member followed one primary. */
  readonly healedAtMs: number;
  /** When the clients were stopped. */
  readonly stoppedAtMs: number;
}

export interface FaultRecord {
  readonly kind: string;
  /** A member, or a part of the cluster. */
  readonly on: string;
  readonly fromMs: number;
  /** When it was taken back, or its effect was there. */
  readonly toMs: number;
  /** An error; undefined: all went as planned. */
  readonly note: string | undefined;
  /** Members whose management API Pointsman cannot have reached meanwhile. */
  readonly hidden: readonly string[];
  /** Pointsman itself did not run meanwhile: it was killed, or frozen. */
  readonly blind: { readonly fromMs: number; readonly toMs: number } | undefined;
}

export interface History {
  readonly clients: readonly Client[];
  readonly writes: readonly Write[];
  readonly sights: readonly Sight[];
  readonly executed: readonly Executed[];
  readonly commits: readonly Commit[];
  readonly claims: readonly LockClaim[];
  readonly promotions: readonly Promotion[];
  readonly faults: readonly FaultRecord[];
  readonly ending: Ending;
}

/** Clients from here on are connected to a server directly: what happens to a client that has no Pointsman. */
export const FIRST_DIRECT_CLIENT = 1000;

export function keyOf({ client, n }: { readonly client: number; readonly n: number }): string {
  return `${client}/${n}`;
}
