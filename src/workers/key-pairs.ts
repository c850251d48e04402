// Reads certificates for the workers and keeps the last good one. A worker that starts while the files are unusable
// gets the certificate that the other workers have.
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';

type ReadKeyPair = (files: KeyPairFiles) => Promise<KeyPairReading>;

export class KeyPairs {
  readonly #read: ReadKeyPair;
  #good: { readonly files: KeyPairFiles; readonly reading: KeyPairReading } | undefined;

  constructor(read: ReadKeyPair) {
    this.#read = read;
  }

  /** `mayBeOlder`: when the files are unusable, the last good reading of the same files is returned. */
  async read(files: KeyPairFiles, { mayBeOlder }: { readonly mayBeOlder: boolean }): Promise<KeyPairReading> {
    const reading = await this.#read(files);
    if (reading.kind === 'pair') this.#good = { files, reading };
    else if (mayBeOlder && this.#good?.files.cert === files.cert && this.#good.files.key === files.key) {
      return this.#good.reading;
    }
    return reading;
  }
}
