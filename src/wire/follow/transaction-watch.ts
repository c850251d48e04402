// Tells whether an open transaction is void once its server is lost: a rollback undoes all that has run since the
// session was between two transactions last, and no statement may have ended the transaction. Pure. Most texts are
// never judged: only those of a session that loses its server.

/** Texts are judged by then, so that a long transaction does not keep them all. */
const MOST_TEXTS = 32;
/** A transaction with that many prepared statements counts as lasting. */
const MOST_NAMES = 64;

/**
 * Commands whose effect a rollback undoes, or that have none. As CommandComplete has them, without numbers. Not those
 * that may have CONCURRENTLY in their text, which commits by itself.
 */
const UNDONE = new Set(
  `SELECT|INSERT|UPDATE|DELETE|MERGE|COPY|FETCH|MOVE|EXPLAIN|SHOW|SET|RESET|SET CONSTRAINTS|LOCK TABLE|NOTIFY|LISTEN
  |UNLISTEN|TRUNCATE TABLE|DECLARE CURSOR|CLOSE CURSOR|BEGIN|START TRANSACTION|SAVEPOINT|RELEASE|ROLLBACK
  |CREATE TABLE|CREATE TABLE AS|DROP TABLE`.split(/\s*\|/),
);
/**
 * Words of statements that have such a command as well, or that a function may run: literals count. Any word may be in
 * a name with escapes.
 */
const LASTING_WORDS = [
  'prepare|execute|deallocate|discard|load|setseed|pg_backup_start|pg_start_backup',
  String.raw`pg_\w*advisory\w*|pg_\w*slot\w*|pg_replication_\w+|dblink\w*`,
];
const LASTING = new RegExp(String.raw`\b(?:${LASTING_WORDS.join('|')})\b|u&"`, 'i');
const ENDS = String.raw`commit|end|abort|prepare|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)`;
/** A text without one of these need not be judged. */
export const JUDGED_WORDS: readonly string[] = `prepare execute deallocate discard load setseed backup advisory slot
  pg_replication dblink u&" commit end abort rollback`.split(/\s+/);
const ENDS_FIRST = new RegExp(String.raw`(?:^|;)\s*(?:${ENDS})\b`, 'i');
/** A comment may stand before the word. */
const COMMENT = /--|\/\*/;
const ENDS_ANYWHERE = new RegExp(String.raw`\b(?:${ENDS})\b`, 'i');

export class TransactionWatch {
  readonly #texts: string[] = [];
  /** Prepared statements with a name that were run. None for most sessions. */
  #names: Set<string> | undefined;
  #isLasting = false;
  #hasUnnamed = false;

  /** The session is between two transactions. */
  settles(): void {
    this.#texts.length = 0;
    this.#names = undefined;
    this.#isLasting = false;
    this.#hasUnnamed = false;
  }

  /** The text of a Query, or of a Parse without a name. Undefined: it is too long. */
  reads(text: string | undefined, isUnnamed = false): void {
    this.#hasUnnamed ||= isUnnamed;
    if (text === undefined) return this.lasts();
    if (this.#texts.length === MOST_TEXTS) this.#judge();
    this.#texts.push(text);
    return undefined;
  }

  /** A text that has none of the words. */
  readsHarmless(isUnnamed: boolean): void {
    this.#hasUnnamed ||= isUnnamed;
  }

  /** Bind of a prepared statement. Undefined: its name is not known. */
  binds(name: string | undefined): void {
    // The text of one without a name is known here only if it came in this transaction.
    if (name === '' && this.#hasUnnamed) return;
    const names = (this.#names ??= new Set());
    if (names.size === MOST_NAMES) this.reads(undefined);
    // No statement of before has the empty name.
    else names.add(name ?? '');
  }

  /** Something has run that a rollback does not undo, or that may have ended the transaction. */
  lasts(): void {
    this.#isLasting = true;
  }

  /** `command`: of a CommandComplete. */
  completes(command: string): void {
    if (!UNDONE.has(command)) this.#isLasting = true;
  }

  /** `textOf`: of a statement that was prepared before the transaction. */
  isVoid(textOf: (name: string) => string | undefined): boolean {
    for (const name of this.#names ?? []) this.reads(textOf(name));
    this.#names = undefined;
    this.#judge();
    return !this.#isLasting;
  }

  #judge(): void {
    for (const text of this.#texts) {
      this.#isLasting ||= LASTING.test(text);
      // Another one may have begun behind it, so this counts for statements that were answered as well.
      this.#isLasting ||= (COMMENT.test(text) ? ENDS_ANYWHERE : ENDS_FIRST).test(text);
    }
    this.#texts.length = 0;
  }
}
