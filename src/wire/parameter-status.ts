// ParameterStatus: a setting that a server tells its client (protocol, Asynchronous Operations). Names and values are
// texts with one character for each byte: their encoding is that of the session.

const HEADER = 5;
const PARAMETER_STATUS = 0x53;
/** windows-1252, as `latin1` of the Encoding Standard is, would change some bytes. */
const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Name and value in the `size` bytes from `at`. Undefined: incomplete. */
export function readParameter(
  bytes: Uint8Array,
  at: number,
  size: number,
): readonly [name: string, value: string] | undefined {
  const end = at + size;
  const nameEnd = bytes.indexOf(0, at);
  const valueEnd = nameEnd === -1 ? -1 : bytes.indexOf(0, nameEnd + 1);
  if (valueEnd === -1 || valueEnd >= end) return undefined;
  return [text(bytes.subarray(at, nameEnd)), text(bytes.subarray(nameEnd + 1, valueEnd))];
}

/** The message. */
export function encodeParameter(name: string, value: string): Uint8Array {
  const body = `${name}\0${value}\0`;
  const message = new Uint8Array(HEADER + body.length);
  message[0] = PARAMETER_STATUS;
  new DataView(message.buffer).setInt32(1, 4 + body.length);
  for (let at = 0; at < body.length; at += 1) message[HEADER + at] = body.charCodeAt(at);
  return message;
}
