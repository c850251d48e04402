// The key that a CancelRequest must bring: told to the client in BackendKeyData, 4 bytes in protocol 3.0, up to 256 since 3.2.
// Comparing takes the same time however much of a key is right, so that it cannot be guessed byte by byte.

export const SHORTEST_SECRET = 4;
export const LONGEST_SECRET = 256;

export interface CancelKey {
  /** As the server says it; not necessarily that of an operating system's process. */
  readonly processId: number;
  /** A character for each byte: text costs a session a tenth of what an array of bytes does. */
  readonly secret: string;
}

const PROCESS_ID_AT = 8;

/** The key in a whole CancelRequest, as `recognise` has found it: length word, code, process id, secret. */
export function requestedKey(packet: Uint8Array): CancelKey | undefined {
  return readKey(packet, PROCESS_ID_AT, packet.length - PROCESS_ID_AT);
}

/** A process id and a secret in the `size` bytes from `at`; undefined where the secret's length is none that exists. */
export function readKey(bytes: Uint8Array, at: number, size: number): CancelKey | undefined {
  const secretLength = size - 4;
  if (secretLength < SHORTEST_SECRET || secretLength > LONGEST_SECRET) return undefined;
  return {
    processId: new DataView(bytes.buffer, bytes.byteOffset + at).getInt32(0),
    secret: String.fromCharCode(...bytes.subarray(at + 4, at + size)),
  };
}

/** The length is no secret: it tells the protocol version, not the key. */
export function isSameKey(one: CancelKey, other: CancelKey): boolean {
  const length = one.secret.length;
  if (length !== other.secret.length) return false;
  let difference = one.processId ^ other.processId;
  for (let at = 0; at < length; at += 1) difference |= one.secret.charCodeAt(at) ^ other.secret.charCodeAt(at);
  return difference === 0;
}
