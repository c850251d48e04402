// The one thing read of a backend before the relay begins: whether its first words refuse the connection for now.

const ERROR_RESPONSE = 0x45;
const SQLSTATE_FIELD = 0x43;
/** The server is starting up or shutting down (PostgreSQL's cannot_connect_now). */
const CANNOT_CONNECT_NOW = '57P03';

/**
 * True for a whole ErrorResponse with SQLSTATE 57P03: fields of a type byte and a NUL-ended text each, closed by a NUL
 * (protocol, message formats). What is cut short or anything else is not a refusal.
 */
export function refusesForNow(bytes: Uint8Array): boolean {
  if (bytes.length < 5 || bytes[0] !== ERROR_RESPONSE) return false;
  const end = 1 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (end > bytes.length) return false;
  let at = 5;
  while (at < end && bytes[at] !== 0) {
    const close = bytes.indexOf(0, at + 1);
    if (close === -1 || close >= end) return false;
    if (bytes[at] === SQLSTATE_FIELD) {
      return new TextDecoder('latin1').decode(bytes.subarray(at + 1, close)) === CANNOT_CONNECT_NOW;
    }
    at = close + 1;
  }
  return false;
}
