// Moves: a live session goes from one server to another between two of its transactions, and its client notices
// nothing. The vocabulary that configuration, decision, proxy and reports share. Durations are in milliseconds, sizes
// in bytes.

/**
 * `planned`: while the old server is alive and can be asked. `always`: also after its loss without warning, for
 * sessions that provably lost nothing.
 */
export type MovesMode = 'planned' | 'always';

/** Where the verifiers of roles are read, at each batch of moves. */
export type VerifierPolicy =
  | {
      readonly kind: 'query';
      readonly user: string;
      readonly passwordFile: string | undefined;
      readonly database: string;
      /** Has one parameter, the name of the role, and gives one row with its verifier. */
      readonly query: string;
    }
  /** Lines of `"role" "verifier"`, as PgBouncer's userlist.txt. */
  | { readonly kind: 'file'; readonly file: string };

export interface MovesPolicy {
  readonly mode: MovesMode;
  /** Names of roles; `*` stands for any characters. */
  readonly roles: readonly string[];
  /** Undefined: only sessions that log in without a secret (trust) can move. */
  readonly verifiers: VerifierPolicy | undefined;
  /** A stored md5 hash is as good as a password, so its use needs this consent. */
  readonly md5: boolean;
  /** How long running transactions may take before their sessions no longer move. */
  readonly waitMs: number;
  /** Logins of moved sessions at a time, and in a second. */
  readonly concurrent: number;
  readonly perSecond: number;
  /** Sessions whose server is asked at a time. All workers together have no more, because the server has other work. */
  readonly questions: number;
  /** How long a parked client may wait for its next server. */
  readonly parkTimeoutMs: number;
  /** A session with more state than this stays. */
  readonly maxStateBytes: number;
  /** Custom settings (`app.tenant`) besides those that are learned. */
  readonly settings: readonly string[];
  /** The end of a session that cannot move. `abort`: as `close`, but an open transaction is ended, and it moves. */
  readonly onStays: 'drain' | 'close' | 'abort';
}

/** The READING_SETTINGS whose changes the server tells by itself (GUC_REPORT), and the others. */
export const TOLD_READING_SETTINGS = ['DateStyle', 'IntervalStyle', 'TimeZone', 'standard_conforming_strings'] as const;
export const UNTOLD_READING_SETTINGS = [
  'array_nulls',
  'backslash_quote',
  'lc_monetary',
  'timezone_abbreviations',
  'transform_null_equals',
  'xmloption',
] as const;

/**
 * Settings of which the meaning of a statement depends when PostgreSQL prepares it: those of its scanner, its parser,
 * and the input functions of its types.
 */
export const READING_SETTINGS = [...TOLD_READING_SETTINGS, ...UNTOLD_READING_SETTINGS] as const;

/** Custom settings that functions, row policies, views and the like of a database name. */
export interface NamedSettings {
  /** Another text after each change of these. Empty: nothing is known. */
  readonly version: string;
  readonly names: readonly string[];
  /** Objects that may set others, for the server alone. */
  readonly unclear: readonly string[];
}

/** An object that may set a custom setting whose name is not known. */
export interface UnclearNames {
  /** `unread`: it is too long, or there are too many; `names`: the same of the names. */
  readonly why: 'computes' | 'unread' | 'names';
  /** `function app.f(text)` */
  readonly object: string;
}

/** A prepared statement of a session, as pg_prepared_statements has it. */
export interface PreparedStatement {
  readonly name: string;
  /** With `isFromSql` the whole PREPARE statement. */
  readonly statement: string;
  /** Object ids in pg_type. */
  readonly parameterTypes: readonly number[];
  /** Each with name, type and modifier of the type. Undefined: the statement returns no rows. */
  readonly resultColumns: readonly string[] | undefined;
  readonly isFromSql: boolean;
}

export type StatementDescription = Pick<PreparedStatement, 'parameterTypes' | 'resultColumns'>;

/** The state of a session, as its server tells it between two transactions. */
export interface CarriedState {
  /** The rows of pg_settings that the session has set; as `SHOW` writes them. */
  readonly settings: ReadonlyMap<string, string>;
  /** The `settings` that the session may not set itself: a function set them with rights of its owner. */
  readonly privilegedSettings: readonly string[];
  /** Custom settings with a value: pg_settings never lists them. */
  readonly custom: ReadonlyMap<string, string>;
  /** Undefined: as the question had it. */
  readonly namedSettings: NamedSettings | undefined;
  /** One that the session may have used. Undefined: there is none. */
  readonly unclearNames: UnclearNames | undefined;
  readonly prepared: readonly PreparedStatement[];
  /** Settings that say how literals are read, as `SHOW` writes them. */
  readonly reading: ReadonlyMap<string, string>;
  /** `refused`: by the session's own server, as it would refuse a Bind. Absent: there is none, or it was not asked. */
  readonly unnamed?: StatementDescription | 'refused' | undefined;
  /** `none`: no SET ROLE. */
  readonly role: string;
  readonly sessionUser: string;
  /** The object ids of the database and of both: their names may have gone to others. */
  readonly identity: string;
  /** Also when the session has not set it. */
  readonly searchPath: string;
  /** Each of these keeps the session where it is. */
  readonly listening: readonly string[];
  readonly holdableCursors: readonly string[];
  readonly advisoryLocks: number;
  readonly temporaryObjects: number;
  readonly temporarySlots: number;
  /** The server's `wal_writer_delay`. Absent: it is not known. */
  readonly walWriterDelayMs?: number | undefined;
  /** Absent: it was not asked, or is not understood. */
  readonly wal?: WalReport | undefined;
}

/** Why a session cannot move. */
export const PIN_REASONS = [
  /** The stream cannot be read: encryption is between client and server. */
  'unreadable',
  'replication',
  /** No pattern of `moves.roles` names the role. */
  'role_not_configured',
  /** The login used a method that cannot be repeated without the client. */
  'authentication',
  'listening',
  'holdable_cursors',
  'advisory_locks',
  'temporary_objects',
  'temporary_slots',
  /** An unnamed statement that is too long to be kept may still be bound. */
  'unnamed_statement',
  'too_many_statements',
  'too_much_state',
  /** SET SESSION AUTHORIZATION. */
  'session_authorization',
  /** A function of another owner has set what the session itself may not set. */
  'privileged_settings',
  /** An SQL PREPARE came with other statements in one text, or its text may mean something else by now. */
  'unclear_statement',
  /** A statement left state in the server that no catalog shows: LOAD. */
  'hidden_state',
  /** A read session whose server cannot be compared with others: the session might go back in time. */
  'unknown_position',
  /** A transaction or a statement ran until the time for them was over. */
  'busy',
  /** The server did not answer the question, or not as it must. */
  'question_failed',
] as const;
export type PinReason = (typeof PIN_REASONS)[number];

export type Movability =
  | { readonly kind: 'movable' }
  | { readonly kind: 'pinned'; readonly reason: PinReason; readonly detail?: string };

/** The secret that a server keeps for a role, as pg_authid has it. Never logged. */
export type VerifierLookup =
  | { readonly kind: 'found'; readonly verifier: Uint8Array }
  /** The role has no verifier, or is not given out. `why` holds no secret. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The source did not answer. `why` holds no secret. */
  | { readonly kind: 'failed'; readonly why: string };

/** The verifiers for one batch of moves to one server. */
export interface VerifierBatch {
  /** Never rejects. */
  find(role: string): Promise<VerifierLookup>;
  /** Overwrites what it has of the role: the next question goes to the source. */
  forget(role: string): void;
  /** Overwrites what it has, and closes its connection. */
  end(): void;
}

/**
 * A server's own words about its WAL, on a session's connection and between two of its transactions. Positions in
 * bytes. Transaction ids with their epoch.
 */
export type WalReport =
  | {
      readonly kind: 'standby';
      /** Every record before it is replayed. The effect of the next record may be visible already. */
      readonly replayed: number;
      readonly transactions: TransactionIds;
    }
  | {
      readonly kind: 'primary';
      readonly timeline: number;
      /** Every record of a visible transaction is before it. */
      readonly written: number;
      /** Its start replayed every record before it: for a promotion, or after a crash. Absent: it stopped in order. */
      readonly recovered?: number | undefined;
      readonly transactions: TransactionIds;
    };

export interface TransactionIds {
  /** Every transaction below has ended, and its end is visible. */
  readonly allEndedBelow: number;
  /** Every visible transaction is below. */
  readonly allVisibleBelow: number;
}

/** Facts from the statements of a session that no server can tell later. */
export interface RememberedFacts {
  /** The last unnamed statement is too long to be kept. */
  readonly isUnnamedTooLong: boolean;
  /** After an error nobody knows which unnamed statement the server has. */
  readonly isUnnamedInDoubt: boolean;
  /** A statement left state that no catalog shows: its text or tag, for people. */
  readonly hiddenState: string | undefined;
  /** Settings that say how literals are read, and that changed when statements may have been prepared already. */
  readonly changedReading: readonly string[];
  /** The statements that the client has prepared in SQL: a function has prepared the others. */
  readonly preparedNames: readonly string[];
  /** The text of the unnamed statement, and the settings that say how it is read and have changed since. */
  readonly unsureUnnamed: { readonly text: string; readonly changedReading: readonly string[] } | undefined;
}
