// Keeps back the words with which a server ends an idle session because it stops or has crashed: a client that moves
// never reads them. All other words pass at once. PostgreSQL's 57P01 also means that an administrator ended this one
// session; the caller finds out which.
import { HEADER, endOfMessage } from '../../wire/messages/header.ts';
import { sqlStateOf } from '../../wire/messages/error-fields.ts';
import { joined } from '../../wire/messages/server-messages.ts';
import { refusesForNow } from '../../wire/startup/backend-greeting.ts';

const ADMIN_SHUTDOWN = '57P01';
const CRASH_SHUTDOWN = '57P02';
/** ErrorResponse, and the NoticeResponse that comes before a bare end. */
const ERROR = 0x45;
const NOTICE = 0x4e;
/** PostgreSQL's last words are shorter than this, all of them together. Bytes. */
const LONGEST = 8_192;

export class LastWords {
  #kept: Uint8Array | undefined;

  /**
   * The next bytes of the server while the session is idle. Undefined: they are kept back. Else the bytes that pass,
   * with those that were kept before.
   */
  take(chunk: Uint8Array): Uint8Array | undefined {
    const bytes = this.#kept === undefined ? chunk : joined([this.#kept, chunk]);
    if (mayBeLastWords(bytes)) {
      // The chunk is valid only during the call.
      this.#kept = Uint8Array.from(bytes);
      return undefined;
    }
    this.#kept = undefined;
    return bytes;
  }

  /** Gives them back. */
  release(): Uint8Array | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }
}

/** Cheap. `chunk`: between two messages of the server. */
export function mayBegin(chunk: Uint8Array): boolean {
  return chunk[0] === ERROR || chunk[0] === NOTICE;
}

/** After a crash the server ends all sessions. */
export function isForAll(words: Uint8Array): boolean {
  return says(words, CRASH_SHUTDOWN);
}

/** An administrator has ended this session, or the server stops. */
export function maybeForOne(words: Uint8Array): boolean {
  return says(words, ADMIN_SHUTDOWN) && !isForAll(words);
}

/** Whole messages of that kind, or a part of one. */
function mayBeLastWords(bytes: Uint8Array): boolean {
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== ERROR && bytes[at] !== NOTICE) return false;
    const end = endOf(bytes, at);
    if (end === undefined) return true;
    if (end > LONGEST) return false;
    if (end > bytes.length) return true;
    if (!refusesForNow(sqlStateOf(bytes, at + HEADER, end - at - HEADER))) return false;
    at = end;
  }
  return true;
}

/** `words`: whole messages, perhaps with a part of one behind them. */
function says(words: Uint8Array, sqlState: string): boolean {
  let at = 0;
  for (;;) {
    const end = endOf(words, at);
    if (end === undefined || end > words.length) return false;
    if (sqlStateOf(words, at + HEADER, end - at - HEADER) === sqlState) return true;
    at = end;
  }
}

function endOf(bytes: Uint8Array, at: number): number | undefined {
  return at + HEADER > bytes.length ? undefined : endOfMessage(bytes, at);
}
