// Values in DER, as certificates have them (X.690). Pure.

const [BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING] = [0x01, 0x02, 0x03, 0x04, 0x0c];
const [UTC_TIME, SEQUENCE, SET, CONTEXT, CONSTRUCTED] = [0x17, 0x30, 0x31, 0x80, 0x20];

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Uint8Array.of(tag), lengthOf(content), content]);
}

/** Below 128 in one byte, else behind the number of its bytes. */
function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Uint8Array.of(0x80 | bytes.length), bytes]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(SEQUENCE, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => der(SET, ...parts);
export const octets = (content: Uint8Array): Buffer => der(OCTET_STRING, content);
export const text = (value: string): Buffer => der(UTF8_STRING, Buffer.from(value));
export const yes = (): Buffer => der(BOOLEAN, Uint8Array.of(0xff));
/** The first bit of `content` must be 0: the value is not negative. */
export const integer = (content: Uint8Array): Buffer => der(INTEGER, content);
/** `unused`: bits at the end that do not count. */
export const bits = (content: Uint8Array, unused = 0): Buffer => der(BIT_STRING, Uint8Array.of(unused), content);
/** A tagged value, of other values or of plain bytes. */
export const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer =>
  der(CONTEXT | CONSTRUCTED | tag, ...parts);
export const taggedBytes = (tag: number, content: Uint8Array): Buffer => der(CONTEXT | tag, content);
/** Before 2050, to the second: `260131235959Z`. */
export const time = (at: Date): Buffer =>
  der(UTC_TIME, Buffer.from(`${at.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));
