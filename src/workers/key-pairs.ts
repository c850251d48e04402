// Reads certificates for the workers, and keeps the last one that was good: a worker that is started while the files hold something that
// cannot be used begins with what the others have.
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';

type Read = (files: KeyPairFiles) => Promise<KeyPairReading>;

export class KeyPairs {
  readonly #read: Read;
  #good: { readonly files: KeyPairFiles; readonly reading: KeyPairReading } | undefined;

  constructor(read: Read) {
    this.#read = read;
  }

  /** `mayBeOlder`: rather the last good one of these files than none. */
  async read(files: KeyPairFiles, { mayBeOlder }: { readonly mayBeOlder: boolean }): Promise<KeyPairReading> {
    const reading = await this.#read(files);
    if (reading.kind === 'pair') this.#good = { files, reading };
    else if (mayBeOlder && this.#good?.files.cert === files.cert && this.#good.files.key === files.key) {
      return this.#good.reading;
    }
    return reading;
  }
}
