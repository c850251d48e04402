// Text with one character for each byte, whatever the encoding is: no byte is lost or changed, as windows-1252 (the
// `latin1` of the Encoding Standard) would.

/** Each byte is an argument on the stack for a moment: a whole message of another program would not fit. */
const PIECE_BYTES = 1_024;

/** The bytes of such a text. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function byteText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    // A spread would walk an iterator, which takes several times as long.
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + PIECE_BYTES));
  }
  return text;
}
