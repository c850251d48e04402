// The write-ahead log of one server: a list of records that it shares with the servers that it streams from or to. Two
// servers have the same history up to some record, and other records, perhaps at the same positions, behind it.

/** One half of a transfer: the other half is in the same transaction. */
export interface Transfer {
  readonly account: number;
  readonly amount: number;
}

/** A row with a number that its client uses once, perhaps together with half of a transfer. */
export interface Change {
  readonly client: string;
  readonly number: number;
  readonly transfer?: Transfer;
}

export type RecordBody =
  | { readonly kind: 'change'; readonly xid: number; readonly change: Change }
  | { readonly kind: 'commit'; readonly xid: number; readonly changes: readonly Change[] }
  | { readonly kind: 'abort'; readonly xid: number }
  | { readonly kind: 'checkpoint'; readonly isShutdown: boolean }
  | { readonly kind: 'end_of_recovery' };

/** Identity counts: the same object is the same record at every server. Positions in bytes. */
export interface WalRecord {
  /** Its place in the pool. */
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly timeline: number;
  readonly body: RecordBody;
}

/** A timeline that is over: where it ended, and why. */
export interface TimelineFork {
  readonly timeline: number;
  readonly end: number;
  readonly at: number;
  readonly newLeader: string;
}

/** The first byte behind initdb. */
export const FIRST_POSITION = 3 * 16 * 1024 * 1024;
const PAGE = 8192;
const SEGMENT = 16 * 1024 * 1024;
const SIZES: Readonly<Record<RecordBody['kind'], number>> = {
  change: 64,
  commit: 48,
  abort: 40,
  checkpoint: 120,
  end_of_recovery: 48,
};

/** All records of a simulation: servers send each other their numbers. */
export class WalPool {
  readonly #records: WalRecord[] = [];

  add(record: Omit<WalRecord, 'id'>): WalRecord {
    const numbered = { id: this.#records.length, ...record };
    this.#records.push(numbered);
    return numbered;
  }

  get(id: number): WalRecord {
    const record = this.#records[id];
    if (record === undefined) throw new Error(`there is no record ${id}`);
    return record;
  }
}

/** The end of a server's WAL, as a standby names it to the server that it wants to stream from. */
export interface WalEnd {
  readonly timeline: number;
  readonly position: number;
  /** The last record. Undefined: there is none. */
  readonly last: number | undefined;
}

export class Wal {
  readonly #pool: WalPool;
  readonly #records: WalRecord[] = [];
  #forks: readonly TimelineFork[] = [];
  #timeline = 1;
  #flushed = FIRST_POSITION;

  constructor(pool: WalPool) {
    this.#pool = pool;
  }

  /** The timeline that the next record is on. */
  timeline(): number {
    return this.#timeline;
  }

  forks(): readonly TimelineFork[] {
    return this.#forks;
  }

  records(): readonly WalRecord[] {
    return this.#records;
  }

  /** The end of the last record. */
  end(): number {
    return this.#records.at(-1)?.end ?? FIRST_POSITION;
  }

  /** Up to here it is on disk. */
  flushed(): number {
    return this.#flushed;
  }

  append(body: RecordBody): WalRecord {
    const start = this.end();
    const record = this.#pool.add({ start, end: start + SIZES[body.kind], timeline: this.#timeline, body });
    this.#records.push(record);
    return record;
  }

  flush(): void {
    this.#flushed = this.end();
  }

  /** All that was not on disk is gone. */
  crash(): void {
    this.truncate(this.#flushed);
  }

  /** A record that another server has sent: it follows the last one. */
  receive(record: WalRecord): void {
    if (record.start !== this.end()) throw new Error(`a gap in the WAL: ${this.end()} to ${record.start}`);
    this.#records.push(record);
    this.flush();
  }

  /** The history of the server that is streamed from. Only after `canFollow`. */
  learnHistory(timeline: number, forks: readonly TimelineFork[]): void {
    this.#timeline = timeline;
    this.#forks = forks;
  }

  /** A new timeline begins at the end. `highest`: the highest number that any server is known to have used. */
  promote(at: number, newLeader: string, highest: number): void {
    this.#forks = [...this.#forks, { timeline: this.#timeline, end: this.end(), at, newLeader }];
    this.#timeline = Math.max(this.#timeline, highest) + 1;
    this.append({ kind: 'end_of_recovery' });
    this.flush();
  }

  reached(): WalEnd {
    const last = this.#records.at(-1);
    return { timeline: last?.timeline ?? 1, position: this.end(), last: last?.id };
  }

  /**
   * Why a standby with this end cannot stream from here. PostgreSQL compares timelines and positions; where two servers
   * have used the same numbers for different records, it finds a record that does not fit.
   */
  refusal({ timeline, position, last }: WalEnd): string | undefined {
    const fork = this.#forks.find((one) => one.timeline === timeline);
    if (timeline !== this.#timeline && fork === undefined)
      return `timeline ${timeline} is not in this server's history`;
    const end = fork?.end ?? this.#flushed;
    if (position > end) return `requested starting point is ahead of position ${end} of timeline ${timeline}`;
    if (last !== undefined && !this.has(this.#pool.get(last))) return 'record with incorrect prev-link';
    return undefined;
  }

  /** The records from this position on. */
  from(position: number): readonly WalRecord[] {
    return this.#records.slice(this.#indexAfter(position));
  }

  has(record: WalRecord): boolean {
    return this.#records[this.#indexAfter(record.start)] === record;
  }

  /** The number of records that both servers have: the histories differ behind them. */
  common(other: Wal): number {
    let [low, high] = [0, Math.min(this.#records.length, other.#records.length)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#records[middle - 1] === other.#records[middle - 1]) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** As pg_rewind, or a base backup, leaves it: the records of the other server that are on its disk. */
  copy(other: Wal): void {
    this.#records.splice(0, Infinity, ...other.#records.slice(0, other.#indexAfter(other.#flushed)));
    this.#timeline = other.#timeline;
    this.#forks = other.#forks;
    this.flush();
  }

  /** Drops the records behind this position. */
  truncate(position: number): void {
    this.#records.length = this.#indexAfter(position);
    this.#flushed = Math.min(this.#flushed, this.end());
  }

  /** The index of the first record that begins at this position or behind it. */
  #indexAfter(position: number): number {
    let [low, high] = [0, this.#records.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#records[middle]?.start ?? Infinity) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** As pg_current_wal_insert_lsn() names the place of the next record: behind the header of an empty page. */
export function insertPosition(end: number): number {
  if (end % SEGMENT === 0) return end + 40;
  return end % PAGE === 0 ? end + 24 : end;
}

/** As pg_walfile_name() names it. */
export function walFile(timeline: number, position: number): string {
  const segment = Math.floor(position / SEGMENT);
  return `${hex(timeline)}${hex(Math.floor(segment / 256))}${hex(segment % 256)}`;
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, '0');
}
