// Writes of one turn of the event loop, given to the kernel together at its end instead of each between two reads: whoever is woken by
// the first is still awake for the others. With few sessions at work it would only cost, so it is done while it was worth it the last
// time, and now and then to see whether it would be.
import { readBuffers } from './read-buffers.ts';
import type { ReadBuffer } from './read-buffers.ts';

/** Fewer in a turn are written as they come. */
const ENOUGH = 3;
/** Of the writes that are not gathered, one in so many begins a turn that is. */
const LOOK_EVERY = 32;

export interface Batched {
  /** False: the kernel did not take them at once, and they must stay as they are. */
  flush(): boolean;
}

export class WriteBatch {
  readonly #gathered: Batched[] = [];
  /** The bytes of each, at its place: whoever was read may be read again before they are written. */
  readonly #copies: ReadBuffer[] = [];
  readonly #judge: () => void;
  #isWorthIt = false;
  #untilLook = LOOK_EVERY;

  /** `judge`: called once before a turn's writes; it may end sessions, whose bytes are then not written. */
  constructor(judge: () => void = () => {}) {
    this.#judge = judge;
  }

  /** Is the write that comes now to be gathered? */
  isOpen(): boolean {
    if (this.#isWorthIt || this.#gathered.length > 0) return true;
    this.#untilLook -= 1;
    if (this.#untilLook > 0) return false;
    this.#untilLook = LOOK_EVERY;
    return true;
  }

  /** It is told to flush at the end of this turn, if it has not done so by then. Returns the bytes, which no small buffer is too small for. */
  add(gathered: Batched, bytes: Uint8Array): Uint8Array {
    const at = this.#gathered.push(gathered) - 1;
    if (at === 0) setImmediate(this.#close);
    const copy = (this.#copies[at] ??= readBuffers.small());
    copy.bytes.set(bytes);
    return copy.filled(bytes.length);
  }

  readonly #close = (): void => {
    const gathered = this.#gathered;
    this.#isWorthIt = gathered.length >= ENOUGH;
    const failures: unknown[] = [];
    this.#judge();
    for (let at = 0; at < gathered.length; at += 1) {
      try {
        if (gathered[at]?.flush() === false) this.#copies[at] = readBuffers.small();
      } catch (error) {
        // The others' bytes are written all the same, and the next turn begins anew.
        failures.push(error);
      }
    }
    gathered.length = 0;
    if (failures.length > 0) throw failures[0];
  };
}
