// The header of a message behind the startup packet: a type byte, and a length word that counts itself.
export const HEADER = 5;
export const LENGTH_WORD = 4;

/** The size of the body of the message that begins at `at`, by its complete header. Negative: no message has it. */
export function bodySize(bytes: Uint8Array, at = 0): number {
  return int32At(bytes, at + 1) - LENGTH_WORD;
}

/** Signed. The four bytes must be there. */
export function int32At(bytes: Uint8Array, at: number): number {
  // A view would be an object for each number.
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

/** Where the message that begins at `at` ends, by its complete header. */
export function endOfMessage(bytes: Uint8Array, at: number): number {
  return at + 1 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1);
}
