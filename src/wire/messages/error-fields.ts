// Reads single fields of an ErrorResponse or NoticeResponse: a type byte and a NUL-terminated text each, and a final
// NUL (protocol, Message Formats). A truncated field counts as absent.

/** The text of the first field of that type (one character) in the `size` bytes from `at`. */
export function errorField(bytes: Uint8Array, at: number, size: number, type: string): string | undefined {
  const code = type.charCodeAt(0);
  const end = at + size;
  let from = at;
  while (bytes[from] !== 0) {
    const close = bytes.indexOf(0, from + 1);
    if (close === -1 || close >= end) return undefined;
    if (bytes[from] === code) return new TextDecoder().decode(bytes.subarray(from + 1, close));
    from = close + 1;
  }
  return undefined;
}

/** The session ends with it. `V` is never translated, but absent before PostgreSQL 9.6. */
export function isFatal(bytes: Uint8Array, at: number, size: number): boolean {
  const severity = errorField(bytes, at, size, 'V') ?? errorField(bytes, at, size, 'S');
  return severity === 'FATAL' || severity === 'PANIC';
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
const INTERNAL_ERROR = 'XX000';

/** internal_error stands for an error without a code, or with text that is no code. */
export function sqlStateOf(bytes: Uint8Array, at: number, size: number): string {
  const text = errorField(bytes, at, size, 'C');
  return text !== undefined && SQLSTATE.test(text) ? text : INTERNAL_ERROR;
}
