// A name that a client sent, made fit for a log line, an error and a status page. Pure.

/** PostgreSQL cuts names there, between two characters. Bytes. */
const LONGEST_NAME = 63;
const ENCODER = new TextEncoder();
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** At most 63 bytes of the name; control characters are written as `\u001b`. */
export function clientText(name: string): string {
  const { read } = ENCODER.encodeInto(name, new Uint8Array(LONGEST_NAME));
  return name.slice(0, read).replace(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
