// Owns the small writes of one turn of the event loop. It gives them to the kernel together at the end of the turn:
// the receiver that the first write wakes is still awake for the others. With few busy sessions batching only costs, so
// it is on while it paid off the last time, and every 32nd write tries it again.
import { apart } from '../../fault.ts';
import { readBuffers, type ReadBuffer } from './read-buffers.ts';

/** After a turn with fewer small writes, the next writes are not batched. */
const ENOUGH = 3;
/** While batching is off, one write in so many starts a batch, to see whether batching would pay off. */
const PROBE_EVERY = 32;

export interface BatchWriter {
  /** Writes the bytes. False: the kernel did not take all of them, and they must stay as they are. */
  flush(): boolean;
  /** Its flush has thrown, or the check before it. Ends its session, or throws again. */
  failed(error: unknown): void;
}

export class WriteBatch {
  readonly #writers: BatchWriter[] = [];
  /** The bytes of each writer, at its index: its source may be read again before they are written. */
  readonly #copies: ReadBuffer[] = [];
  readonly #beforeWrites: () => void;
  #paysOff = false;
  #untilProbe = PROBE_EVERY;

  /** `beforeWrites`: called once before the writes of a turn. It may end sessions, whose bytes are then dropped. */
  constructor(beforeWrites: () => void = () => {}) {
    this.#beforeWrites = beforeWrites;
  }

  /** True: the write that comes now goes into the batch. */
  isOpen(): boolean {
    if (this.#paysOff || this.#writers.length > 0) return true;
    this.#untilProbe -= 1;
    if (this.#untilProbe > 0) return false;
    this.#untilProbe = PROBE_EVERY;
    return true;
  }

  /**
   * `writer` is flushed at the end of this turn. `bytes` must fit into a small read buffer.
   * Returns a copy of them for the writer to write from.
   */
  add(writer: BatchWriter, bytes: Uint8Array): Uint8Array {
    const at = this.#writers.push(writer) - 1;
    if (at === 0) setImmediate(this.#close);
    const copy = (this.#copies[at] ??= readBuffers.own());
    copy.bytes.set(bytes);
    return copy.filled(bytes.length);
  }

  readonly #close = (): void => {
    const writers = this.#writers;
    this.#paysOff = writers.length >= ENOUGH;
    let isChecked = false;
    for (let at = 0; at < writers.length; at += 1) {
      try {
        if (!isChecked) this.#beforeWrites();
        isChecked = true;
        if (writers[at]?.flush() === false) this.#copies[at] = readBuffers.own();
      } catch (error) {
        // The bytes of the other writers are written all the same, and the next turn is, too.
        try {
          writers[at]?.failed(error);
        } catch (fault) {
          throwApart(fault);
        }
      }
    }
    writers.length = 0;
  };
}

/** The turn of a batch belongs to the session that wrote first, and the fault to none. */
const throwApart = apart((fault: unknown): void => {
  setImmediate(() => {
    throw fault;
  });
});
