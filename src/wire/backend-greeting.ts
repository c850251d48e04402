// Recognises a backend's first message that refuses the connection for now. Nothing else of it is read before the
// relay.
import { errorField } from './error-fields.ts';

const HEADER = 5;
const ERROR_RESPONSE = 0x45;
/** The server is starting up or shutting down (PostgreSQL's cannot_connect_now). */
const CANNOT_CONNECT_NOW = '57P03';

/** True for a complete ErrorResponse with SQLSTATE 57P03. */
export function refusesForNow(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER || bytes[0] !== ERROR_RESPONSE) return false;
  const end = 1 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (end > bytes.length) return false;
  return errorField(bytes, HEADER, end - HEADER, 'C') === CANNOT_CONNECT_NOW;
}
