// The client's messages that its server has not answered, in order, and what the server does with the next ones. It
// follows PostgreSQL's own loop (PostgresMain in postgres.c, CopyGetData in copyfromparse.c), because a server does not
// answer every message: after an error it discards all up to Sync, and a COPY takes Sync and Flush as data.

// The kinds of messages. Data of a COPY and Flush are never answered, and need not be kept.
const NONE = 0;
/** Query, FunctionCall, the startup: answered up to ReadyForQuery. */
const QUERY = 1;
const SYNC = 2;
/** Answered by CommandComplete, EmptyQueryResponse or PortalSuspended. */
const EXECUTE = 3;
const PARSE = 4;
const BIND = 5;
const DESCRIBE = 6;
const CLOSE = 7;
/** CopyDone, CopyFail: they end a COPY, and are ignored where there is none. */
const COPY_END = 8;

const KINDS = new Uint8Array(256);
for (const [types, kind] of [
  ['QF', QUERY],
  ['S', SYNC],
  ['E', EXECUTE],
  ['P', PARSE],
  ['B', BIND],
  ['D', DESCRIBE],
  ['C', CLOSE],
  ['cf', COPY_END],
] as const) {
  for (const type of types) KINDS[type.charCodeAt(0)] = kind;
}

const PARSE_COMPLETE = 0x31;
const BIND_COMPLETE = 0x32;
const CLOSE_COMPLETE = 0x33;
const ROW_DESCRIPTION = 0x54;
const NO_DATA = 0x6e;
const READY_FOR_QUERY = 0x5a;
const ERROR_RESPONSE = 0x45;
const COPY_IN_RESPONSE = 0x47;

const FEW = 16;
/** As many fit into the buffers of the kernels on the way, and no client sends more ahead. Each takes a byte. */
const MOST = 1 << 20;

export class UnansweredMessages {
  /** Kinds, from `#first` to before `#end`. */
  #kinds = new Uint8Array(FEW).fill(QUERY, 0, 1);
  #first = 0;
  #end = 1;
  /** How many of them end with a ReadyForQuery. */
  #readyDue = 1;
  /** The first is a QUERY, and its answer has begun. */
  #hasBegun = true;
  /** The first has a COPY that takes the client's data. */
  #isCopyingIn = false;
  /** How many Sync the COPYs of the first have taken. */
  #taken = 0;
  /** After an error, with no Sync yet: the server discards what comes. */
  #isDiscarding = false;
  /** Messages of the extended protocol were sent, and no Sync that ends them. */
  #isOpen = false;
  /** One of these was a Bind or an Execute. */
  #hasPortal = false;
  /** An answer has begun that belongs to no message. */
  #isStrange = false;
  /** How many ReadyForQuery may come that belong to no message. */
  #strays = 0;
  /** The state that holds instead, if the server says something that cannot be in this one. */
  #otherwise: UnansweredMessages | undefined;

  /**
   * A transaction may begin with a message of this type, where the session is in none. Behind messages that wait for
   * their Sync it belongs to the transaction of the first of them, but for those that have run nothing.
   */
  mayBegin(type: number): boolean {
    const kind = KINDS[type] ?? NONE;
    if (kind === NONE || kind === SYNC || kind === COPY_END) return false;
    const isOfAnother = this.#isCopyingIn || this.#isDiscarding || (this.#isOpen && !this.mayBeSynced());
    return !isOfAnother || this.#otherwise?.mayBegin(type) === true;
  }

  /** A message of the client goes to the server. False: too many are unanswered. */
  sends(type: number): boolean {
    const kind = KINDS[type] ?? NONE;
    if (kind === NONE) return true;
    if (this.#otherwise?.sends(type) === false) return false;
    if (this.#isCopyingIn && (kind === SYNC || kind === COPY_END)) {
      if (kind === SYNC) this.#taken += 1;
      else this.#isCopyingIn = false;
      return true;
    }
    if (this.#isDiscarding && kind !== SYNC) return true;
    if (kind === COPY_END) return this.#end === 0 || this.#add(kind);
    if (!this.#add(kind)) return false;
    this.#isDiscarding = false;
    this.#hasPortal = (this.#isOpen && this.#hasPortal) || kind === BIND || kind === EXECUTE;
    this.#isOpen = kind !== QUERY && kind !== SYNC;
    if (!this.#isOpen) this.#readyDue += 1;
    return true;
  }

  /** A message of the server arrived: ReadyForQuery, ErrorResponse, CopyInResponse, or the end of one answer. */
  answers(type: number): void {
    const otherwise = this.#otherwise;
    this.#reads(type);
    if (otherwise === undefined || otherwise !== this.#otherwise) return;
    otherwise.#reads(type);
    if (otherwise.#isStrange) this.#otherwise = undefined;
    else if (this.#isStrange) this.#becomes(otherwise);
    else if (this.isSettled() && otherwise.isSettled()) this.#otherwise = undefined;
  }

  #reads(type: number): void {
    switch (type) {
      case READY_FOR_QUERY:
        return this.#isReady();
      case ERROR_RESPONSE:
        return this.#fails();
      case COPY_IN_RESPONSE:
        return this.#copiesIn();
      case PARSE_COMPLETE:
        return this.#answersOne(PARSE, false);
      case BIND_COMPLETE:
        return this.#answersOne(BIND, false);
      case CLOSE_COMPLETE:
        return this.#answersOne(CLOSE, false);
      case NO_DATA:
        return this.#answersOne(DESCRIBE, false);
      case ROW_DESCRIPTION:
        return this.#answersOne(DESCRIBE, true);
      default:
        this.#isCopyingIn = false;
        return this.#answersOne(EXECUTE, true);
    }
  }

  /** Everything is answered, and no messages of the extended protocol wait for their Sync. */
  isSettled(): boolean {
    return this.#readyDue === 0 && !this.#isOpen && !this.#isDiscarding && !this.#isStrange;
  }

  /**
   * Everything is answered. Messages of the extended protocol wait for their Sync, but nothing has run, and no portal
   * was made that a Sync would end: another Sync changes nothing for the client.
   */
  mayBeSynced(): boolean {
    const isAnswered = this.#next() === NONE && !this.#isDiscarding && !this.#isStrange;
    return isAnswered && this.#isOpen && !this.#hasPortal && this.#otherwise === undefined;
  }

  /** A Sync that is not the client's ends these messages. */
  endBatch(): void {
    this.#isOpen = false;
  }

  /** The server will say something without another message of its client. */
  isDue(): boolean {
    const isDue = this.#readyDue > 0 && !this.#isOpen && !this.#isCopyingIn;
    return isDue && this.#otherwise?.isDue() !== false;
  }

  /** One ReadyForQuery is due, for a statement that has not failed so far. */
  isOneDue(): boolean {
    const isOne = this.#readyDue === 1 && !this.#isOpen && !this.#isStrange && this.#strays === 0;
    return isOne && !this.#isCopyingIn && this.#otherwise === undefined && this.#next() !== SYNC;
  }

  #fails(): void {
    this.#isCopyingIn = false;
    const next = this.#next();
    // An error without a request, or of a commit, is rarer than the other way.
    if (this.#otherwise !== undefined && (next === NONE || next === SYNC)) this.#isStrange = true;
    const taken = this.#taken;
    this.#taken = 0;
    switch (next) {
      case QUERY:
        this.#hasBegun = true;
        this.#strays += taken;
        break;
      case NONE:
        // An error without a request. The server discards if it has read a part of a batch, and else is ready again.
        if (this.#isOpen) this.#isDiscarding = true;
        else this.#strays += 1;
        break;
      default:
        if (taken > 0) this.#otherwise = this.#failedBefore(taken);
        this.#discard();
    }
  }

  /**
   * A server does not tell how much a COPY has read that fails. All that was sent counts as read, as by the clients
   * that send a Sync with the Execute. This is the other way: the first Sync came behind the failure.
   */
  #failedBefore(taken: number): UnansweredMessages {
    const other = new UnansweredMessages();
    other.#becomes(this);
    other.#kinds[other.#first] = SYNC;
    other.#readyDue += 1;
    other.#isOpen &&= other.#kinds.subarray(other.#first + 1, other.#end).some((kind) => kind !== COPY_END);
    other.#strays = taken - 1;
    other.#otherwise = undefined;
    return other;
  }

  #becomes(other: UnansweredMessages): void {
    this.#kinds = other.#kinds.slice();
    this.#first = other.#first;
    this.#end = other.#end;
    this.#readyDue = other.#readyDue;
    this.#hasBegun = other.#hasBegun;
    this.#isCopyingIn = other.#isCopyingIn;
    this.#taken = other.#taken;
    this.#isDiscarding = other.#isDiscarding;
    this.#isOpen = other.#isOpen;
    this.#hasPortal = other.#hasPortal;
    this.#isStrange = other.#isStrange;
    this.#strays = other.#strays;
    this.#otherwise = other.#otherwise;
  }

  /** The server discards all up to Sync. */
  #discard(): void {
    while (this.#first < this.#end && this.#kinds[this.#first] !== SYNC) this.#drop();
    this.#isDiscarding = this.#first === this.#end;
  }

  #isReady(): void {
    this.#isCopyingIn = false;
    const next = this.#next();
    const isStray = next !== SYNC && !this.#hasBegun;
    this.#isStrange = isStray && this.#strays === 0 && this.#otherwise !== undefined;
    if (isStray && (this.#strays > 0 || this.#readyDue === 0)) {
      this.#strays = Math.max(0, this.#strays - 1);
      if (this.#isDiscarding) this.#isOpen = false;
      this.#isDiscarding = false;
      return;
    }
    while (!this.#endsWithReady()) this.#drop();
    this.#drop();
  }

  #endsWithReady(): boolean {
    const kind = this.#kinds[this.#first];
    return kind === SYNC || kind === QUERY;
  }

  /** `isOfQuery`: the answer to a QUERY has it, too. */
  #answersOne(kind: number, isOfQuery: boolean): void {
    this.#strays = 0;
    const next = this.#next();
    if (next === kind) this.#drop();
    else if (next === QUERY && isOfQuery) this.#hasBegun = true;
    else this.#isStrange = true;
  }

  /** The COPY takes what was sent ahead. */
  #copiesIn(): void {
    this.#strays = 0;
    const kind = this.#next();
    if (kind === QUERY) this.#hasBegun = true;
    else if (kind !== EXECUTE) return void (this.#isStrange = true);
    this.#isCopyingIn = true;
    while (this.#isCopyingIn && this.#first + 1 < this.#end) {
      const behind = this.#kinds[this.#first + 1];
      // Nothing else is legal here: the server ends the session.
      if (behind !== SYNC && behind !== COPY_END) break;
      this.#first += 1;
      this.#kinds[this.#first] = kind;
      if (behind === COPY_END) {
        this.#isCopyingIn = false;
      } else {
        this.#readyDue -= 1;
        this.#taken += 1;
      }
    }
    // The Sync that ended the batch was none.
    if (this.#readyDue === 0) {
      this.#isOpen = true;
      this.#hasPortal = true;
    }
    return undefined;
  }

  /** The kind of the message that the server is at. Ends of COPYs before it are ignored. */
  #next(): number {
    while (this.#first < this.#end && this.#kinds[this.#first] === COPY_END) this.#drop();
    return this.#first < this.#end ? (this.#kinds[this.#first] ?? NONE) : NONE;
  }

  #drop(): void {
    if (this.#endsWithReady()) this.#readyDue -= 1;
    this.#first += 1;
    this.#hasBegun = false;
    this.#taken = 0;
    if (this.#first < this.#end) return;
    this.#first = 0;
    this.#end = 0;
    if (this.#kinds.length > MOST / 256) this.#kinds = new Uint8Array(FEW);
  }

  #add(kind: number): boolean {
    if (this.#end === this.#kinds.length) {
      const kinds = this.#kinds.subarray(this.#first, this.#end);
      if (kinds.length >= MOST) return false;
      this.#kinds = new Uint8Array(Math.max(FEW, kinds.length * 2));
      this.#kinds.set(kinds);
      this.#first = 0;
      this.#end = kinds.length;
    }
    this.#kinds[this.#end] = kind;
    this.#end += 1;
    return true;
  }
}
