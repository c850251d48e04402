// The hash functions that wire/ is given, because it has no library.
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { memoized } from '../model/once.ts';
import type { Hashes } from '../wire/talk/scram.ts';

const load = createRequire(import.meta.url);
/** Loaded when it is first needed: most programs hash nothing. */
export const nodeCrypto = memoized((): typeof Crypto => load('node:crypto'));

/** The block of SHA-256. Bytes. */
const BLOCK = 64;

// An object of createHash would keep the digest until it is collected, and one of createHmac the key.
export const HASHES: Hashes = {
  sha256,
  hmacSha256: (key, bytes) => {
    const inner = padded(key, 0x36, bytes);
    const digest = sha256(inner);
    const outer = padded(key, 0x5c, digest);
    const result = sha256(outer);
    for (const secret of [inner, digest, outer]) secret.fill(0);
    return result;
  },
  md5: (bytes) => nodeCrypto().createHash('md5').update(bytes).digest(),
};

function sha256(bytes: Uint8Array): Uint8Array {
  return nodeCrypto().hash('sha256', bytes, 'buffer');
}

/** RFC 2104. The keys of SCRAM are shorter than a block. */
function padded(key: Uint8Array, pad: number, bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK + bytes.length).fill(pad, 0, BLOCK);
  for (const [at, byte] of key.entries()) block[at] = byte ^ pad;
  block.set(bytes, BLOCK);
  return block;
}
