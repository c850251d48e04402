// Reads single fields of an ErrorResponse or NoticeResponse: a type byte and a NUL-terminated text each, and a final
// NUL (protocol, Message Formats). A truncated field counts as absent.

/** The text of the first field of that type (one character) in the `size` bytes from `at`. */
export function errorField(bytes: Uint8Array, at: number, size: number, type: string): string | undefined {
  const code = type.charCodeAt(0);
  const end = at + size;
  let from = at;
  while (from < end && bytes[from] !== 0) {
    const close = bytes.indexOf(0, from + 1);
    if (close === -1 || close >= end) return undefined;
    if (bytes[from] === code) return new TextDecoder().decode(bytes.subarray(from + 1, close));
    from = close + 1;
  }
  return undefined;
}
