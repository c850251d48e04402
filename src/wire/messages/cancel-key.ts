// The key that a CancelRequest carries. The server sends it in BackendKeyData: 4 bytes in protocol 3.0, up to 256 since
// 3.2. The comparison takes constant time, so that a key cannot be guessed byte by byte. Between Pointsmen an offer
// goes before the request: the same packet with a code of its own.

import { bytesOf, byteText } from './byte-text.ts';
import { int32At } from './header.ts';
import { int32, joined } from './server-messages.ts';

export const SHORTEST_SECRET = 4;
export const LONGEST_SECRET = 256;

export interface CancelKey {
  /** As the server reports it; not necessarily the id of an operating system process. */
  readonly processId: number;
  /** One character per byte: text takes a tenth of the memory of a byte array. */
  readonly secret: string;
}

const PROCESS_ID_AT = 8;
export const CANCEL_REQUEST = 80877102;
/** "PM", 1: no version of PostgreSQL's protocol, and none of its request codes. */
export const CANCEL_OFFER = 0x50_4d_00_01;

/** The answer to an offer: send the request. Whatever else a peer sends, and its end, means no. */
export const KEY_IS_HERE = Uint8Array.of(0x59);

/** The key in a complete CancelRequest or offer that `recognise` has found: length word, code, process id, secret. */
export function requestedKey(packet: Uint8Array): CancelKey | undefined {
  return readKey(packet, PROCESS_ID_AT, packet.length - PROCESS_ID_AT);
}

/** The process id and secret in the `size` bytes from `at`. Undefined for a secret of an invalid length. */
export function readKey(bytes: Uint8Array, at: number, size: number): CancelKey | undefined {
  const secretLength = size - 4;
  if (secretLength < SHORTEST_SECRET || secretLength > LONGEST_SECRET) return undefined;
  return {
    processId: int32At(bytes, at),
    secret: byteText(bytes.subarray(at + 4, at + size)),
  };
}

/** PID_MAX_LIMIT of Linux on 64 bits. Other systems have smaller ones. */
const LARGEST_PROCESS_ID = 0x40_0000;

/** PostgreSQL reports a process id. A pooler reports a random number, which nearly always can be none. */
export function isOfPooler(key: CancelKey | undefined): boolean {
  return key !== undefined && (key.processId < 0 || key.processId > LARGEST_PROCESS_ID);
}

/** The CancelRequest with that key. */
export function cancelRequest(key: CancelKey): Uint8Array {
  return packetOf(CANCEL_REQUEST, key);
}

/** Asks another Pointsman whether it has the session of that key. */
export function cancelOffer(key: CancelKey): Uint8Array {
  return packetOf(CANCEL_OFFER, key);
}

function packetOf(code: number, { processId, secret }: CancelKey): Uint8Array {
  const size = PROCESS_ID_AT + 4 + secret.length;
  return joined([int32(size), int32(code), int32(processId), bytesOf(secret)]);
}

/** The length may leak: it depends on the protocol version, not on the key. */
export function isSameKey(one: CancelKey, other: CancelKey): boolean {
  const length = one.secret.length;
  if (length !== other.secret.length) return false;
  let difference = one.processId ^ other.processId;
  for (let at = 0; at < length; at += 1) difference |= one.secret.charCodeAt(at) ^ other.secret.charCodeAt(at);
  return difference === 0;
}
