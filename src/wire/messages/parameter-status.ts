// ParameterStatus: a setting that a server tells its client (protocol, Asynchronous Operations). Names and values are
// texts with one character for each byte: their encoding is that of the session.
import { bytesOf, byteText } from './byte-text.ts';
import { message } from './server-messages.ts';

/**
 * The most that is kept of what one server tells: the protocol itself has no limit below 1 GB. In a map the names count
 * with their place.
 */
export const MOST_TOLD_BYTES = 1_000_000;
const PLACE_BYTES = 100;

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
  return [byteText(bytes.subarray(at, nameEnd)), byteText(bytes.subarray(nameEnd + 1, valueEnd))];
}

/** The message. */
export function encodeParameter(name: string, value: string): Uint8Array {
  return message('S', [bytesOf(`${name}\0${value}\0`)]);
}

/** The parameters that a server tells in a conversation of Pointsman's own: at most 1 MB. */
export class ToldParameters {
  readonly #values = new Map<string, string>();
  #bytes = 0;

  /** The body of a ParameterStatus. False: it is no ParameterStatus, or the server has told too much. */
  learn(body: Uint8Array): boolean {
    const parameter = readParameter(body, 0, body.length);
    return parameter !== undefined && this.set(parameter[0], parameter[1]);
  }

  set(name: string, value: string): boolean {
    const before = this.#values.get(name);
    this.#bytes += value.length - (before?.length ?? -(name.length + PLACE_BYTES));
    if (this.#bytes > MOST_TOLD_BYTES) return false;
    this.#values.set(name, value);
    return true;
  }

  values(): ReadonlyMap<string, string> {
    return this.#values;
  }
}
