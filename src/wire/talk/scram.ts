// SCRAM-SHA-256 (RFC 5802, RFC 7677) for a client that knows no password: the server's verifier and the proof of an
// earlier login give the key of the client. A salted password gives all keys. Keys are byte arrays, which their user
// overwrites.

import { bytesOf, byteText } from '../messages/byte-text.ts';

/** From outside, because this room has no library. */
export interface Hashes {
  sha256(bytes: Uint8Array): Uint8Array;
  hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  md5(bytes: Uint8Array): Uint8Array;
}

/** `SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY`, as pg_authid has it. */
export interface ScramVerifier {
  readonly iterations: number;
  /** In base64, as the server sends it. */
  readonly salt: string;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

/** All keys of a password. */
export interface ScramKeys extends Pick<ScramVerifier, 'storedKey' | 'serverKey'> {
  readonly clientKey: Uint8Array;
}

/** PostgreSQL 18 keeps no longer one (MAX_ENCRYPTED_PASSWORD_LEN). Bytes. */
const LONGEST_VERIFIER = 512;
/** The bytes of SHA-256. */
const KEY_BYTES = 32;
const VERIFIER = /^SCRAM-SHA-256\$(\d{1,9}):([\w+/]+=*)\$/;
/** The two keys in base64, 44 characters each, are never a string. */
const KEY_TEXT = 44;
const DIGITS = new Uint8Array(128).fill(255);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let value = 0; value < ALPHABET.length; value += 1) DIGITS[ALPHABET.charCodeAt(value)] = value;

/** Undefined: no verifier of this method. */
export function readVerifier(text: Uint8Array): ScramVerifier | undefined {
  const keysAt = text.length - 2 * KEY_TEXT - 1;
  if (text.length > LONGEST_VERIFIER || keysAt < 0 || text[keysAt + KEY_TEXT] !== 0x3a) return undefined;
  const [, iterations = '', salt = ''] = VERIFIER.exec(byteText(text.subarray(0, keysAt))) ?? [];
  const storedKey = fromBase64(text.subarray(keysAt, keysAt + KEY_TEXT));
  const serverKey = fromBase64(text.subarray(keysAt + KEY_TEXT + 1));
  if (iterations === '' || storedKey?.length !== KEY_BYTES || serverKey?.length !== KEY_BYTES) return undefined;
  return { iterations: Number(iterations), salt, storedKey, serverKey };
}

/**
 * The ClientKey of an earlier login: its proof without the signature of its messages. Undefined: the verifier is not
 * that of the password which the client used.
 */
export function clientKeyOf(
  hashes: Hashes,
  login: { readonly authMessage: Uint8Array; readonly proof: Uint8Array },
  verifier: ScramVerifier,
): Uint8Array | undefined {
  // The proof is the key XOR the signature, and so the other way round.
  const key = proofOf(hashes, login.proof, verifier, login.authMessage);
  const stored = hashes.sha256(key);
  const isRight = isEqual(stored, verifier.storedKey);
  stored.fill(0);
  if (isRight) return key;
  key.fill(0);
  return undefined;
}

/** `password`: salted, as RFC 5802 (3) has it. */
export function keysOf(hashes: Hashes, password: Uint8Array): ScramKeys {
  const clientKey = hashes.hmacSha256(password, bytesOf('Client Key'));
  return {
    clientKey,
    storedKey: hashes.sha256(clientKey),
    serverKey: hashes.hmacSha256(password, bytesOf('Server Key')),
  };
}

/** The proof for a new login. */
export function proofOf(
  hashes: Hashes,
  clientKey: Uint8Array,
  verifier: Pick<ScramVerifier, 'storedKey'>,
  authMessage: Uint8Array,
): Uint8Array {
  const signature = hashes.hmacSha256(verifier.storedKey, authMessage);
  const proof = xor(clientKey, signature);
  signature.fill(0);
  return proof;
}

/** The server knows the verifier, too. */
export function isServersSignature(
  hashes: Hashes,
  verifier: Pick<ScramVerifier, 'serverKey'>,
  authMessage: Uint8Array,
  signature: Uint8Array,
): boolean {
  const expected = hashes.hmacSha256(verifier.serverKey, authMessage);
  const isRight = isEqual(expected, signature);
  expected.fill(0);
  return isRight;
}

/** The first message of the server. Undefined: broken, or it asks for an extension. */
export function readServerFirst(
  message: string,
): { readonly nonce: string; readonly salt: string; readonly iterations: number } | undefined {
  const [, nonce = '', salt = '', iterations = ''] = /^r=([!-+\--~]+),s=([\w+/]+=*),i=(\d{1,9})$/.exec(message) ?? [];
  return nonce === '' ? undefined : { nonce, salt, iterations: Number(iterations) };
}

/** In constant time. */
export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (const [at, byte] of one.entries()) difference |= byte ^ (other[at] ?? 0);
  return difference === 0;
}

/** No text is made of it. Undefined: not base64. */
export function fromBase64(text: Uint8Array): Uint8Array | undefined {
  let size = text.length;
  while (size > 0 && text[size - 1] === 0x3d) size -= 1;
  if (text.length % 4 !== 0 || text.length - size > 2) return undefined;
  const bytes = secretBytes(Math.floor((size * 3) / 4));
  let bits = 0;
  let count = 0;
  let at = 0;
  for (const character of text.subarray(0, size)) {
    const digit = DIGITS[character] ?? 255;
    if (digit === 255) return undefined;
    bits = ((bits << 6) | digit) & 0xfff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[at] = bits >> count;
    at += 1;
  }
  return bytes;
}

/** A proof is no secret: it goes over the wire. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(byteText(bytes));
}

function xor(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = secretBytes(one.length);
  for (const [at, byte] of one.entries()) bytes[at] = byte ^ (other[at] ?? 0);
  return bytes;
}

/** V8 moves a small array about, and leaves copies that nobody overwrites, unless its bytes are in a buffer. */
function secretBytes(size: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(size));
}
