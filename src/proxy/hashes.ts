// The hash functions that wire/ is given, because it has no library.
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import type { Hashes } from '../wire/talk/scram.ts';

const load = createRequire(import.meta.url);
/** Loaded when it is first needed: most programs hash nothing. */
export const nodeCrypto = (): typeof Crypto => load('node:crypto');

export const HASHES: Hashes = {
  // An object of createHash would keep the digest until it is collected.
  sha256: (bytes) => nodeCrypto().hash('sha256', bytes, 'buffer'),
  hmacSha256: (key, bytes) => nodeCrypto().createHmac('sha256', key).update(bytes).digest(),
  md5: (bytes) => nodeCrypto().createHash('md5').update(bytes).digest(),
};
