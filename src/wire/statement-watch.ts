// Reads along with both directions of a session, and tells whether what ran may have left state in it. Beside the
// followers, and only where a session may move after a loss without warning. Whatever it cannot read is dirty.
import { FrameWalker, grammarOf } from './frames.ts';
import { effectOfTag, effectOfText, LONGEST_TEXT, worse } from './statement-effect.ts';
import type { Effect } from './statement-effect.ts';

const LONG = 0x7fff_ffff;
/** Tags are short words. Names of portals and statements may be longer, and count as unsure then. */
const LONGEST_TAG = 64;
const LONGEST_NAMES = 128;

const CLIENT = grammarOf([
  // Query, Parse.
  { types: 'QP', longest: LONG, wanted: LONGEST_TEXT + 1 },
  { types: 'B', longest: LONG, wanted: LONGEST_NAMES },
  // Close, with its kind.
  { types: 'C', longest: LONG, wanted: 1 },
  // FunctionCall.
  { types: 'F', longest: LONG, wanted: 0 },
  { types: 'DEHSXdfcp', longest: LONG },
]);
const SERVER = grammarOf([
  { types: 'C', longest: LONG, wanted: LONGEST_TAG },
  { types: 'RKSEGHWDdTVNAtvZ123Insc', longest: LONG },
]);

const QUERY = 0x51;
const PARSE = 0x50;
const BIND = 0x42;
const CLOSE = 0x43;
/** A statement rather than a portal. */
const STATEMENT = 0x53;

const DECODER = new TextDecoder();

export class StatementWatch {
  readonly #client = new ClientWatch(CLIENT);
  readonly #server = new ServerWatch(SERVER);

  /** The next bytes from the client. */
  fromClient(chunk: Uint8Array): void {
    this.#client.walk(chunk);
  }

  /** The next bytes from the server. */
  fromServer(chunk: Uint8Array): void {
    this.#server.walk(chunk);
  }

  /** The worst of all since `forget`. */
  effect(): Effect {
    return worse(this.#client.effect(), this.#server.effect());
  }

  /** The client has sent an unnamed statement, or ended it, since `forget`. */
  hasNewUnnamed(): boolean {
    return this.#client.hasNewUnnamed();
  }

  /**
   * To be called between two transactions, when the state of the session is known. `isSystemFirst`: no schema comes
   * before pg_catalog in its search_path.
   */
  forget(isSystemFirst: boolean): void {
    this.#client.forget();
    this.#client.isSystemFirst = isSystemFirst;
    this.#server.forget();
  }
}

/** One direction. */
abstract class EffectWalker extends FrameWalker {
  #effect: Effect = 'clean';

  /** The worst since `forget`. */
  effect(): Effect {
    return this.isFollowing() ? this.#effect : 'dirty';
  }

  forget(): void {
    this.#effect = 'clean';
  }

  protected add(effect: Effect): void {
    this.#effect = worse(this.#effect, effect);
  }
}

class ClientWatch extends EffectWalker {
  isSystemFirst = false;
  /** Of the last statement without a name. */
  #unnamed: Effect = 'unsure';
  #hasNewUnnamed = false;

  hasNewUnnamed(): boolean {
    return this.#hasNewUnnamed;
  }

  override forget(): void {
    super.forget();
    this.#hasNewUnnamed = false;
  }

  protected override report(type: number, bytes: Uint8Array, at: number, size: number): boolean {
    this.add(this.#effectOf(type, bytes, at, at + size));
    return true;
  }

  #effectOf(type: number, bytes: Uint8Array, at: number, end: number): Effect {
    switch (type) {
      case QUERY:
        this.#hasNewUnnamed = true;
        return this.#effectOfBytes(bytes, at, end);
      case PARSE:
        // A statement with a name stays in the session.
        if (bytes[at] !== 0) return 'dirty';
        this.#hasNewUnnamed = true;
        return (this.#unnamed = this.#effectOfBytes(bytes, at + 1, end));
      case BIND: {
        const statement = bytes.indexOf(0, at) + 1;
        return statement > at && statement < end && bytes[statement] === 0 ? this.#unnamed : 'unsure';
      }
      case CLOSE:
        return bytes[at] === STATEMENT ? 'dirty' : 'clean';
      default:
        return 'dirty';
    }
  }

  #effectOfBytes(bytes: Uint8Array, at: number, limit: number): Effect {
    const end = bytes.indexOf(0, at);
    if (end === -1 || end >= limit) return 'dirty';
    return effectOfText(DECODER.decode(bytes.subarray(at, end)), this.isSystemFirst);
  }
}

class ServerWatch extends EffectWalker {
  protected override report(_type: number, bytes: Uint8Array, at: number, size: number): boolean {
    const [tag = ''] = DECODER.decode(bytes.subarray(at, at + size)).split('\0');
    const effect = effectOfTag(tag);
    // The text of the statement has been judged.
    if (effect !== 'by_text') this.add(effect);
    return true;
  }
}
