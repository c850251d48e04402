// Reads a backend's first message if it refuses the connection. Nothing else of it is read before the relay.
import { errorField } from './error-fields.ts';
import { isAboutClient } from './sql-state.ts';

const HEADER = 5;
const ERROR_RESPONSE = 0x45;
/** Of an error before the login, with room for long texts. Servers before PostgreSQL 7.4 send no length. */
const LONGEST_ERROR = 30_000;
const TOO_MANY_CONNECTIONS = '53300';
/** Shutting down, crashed, or not ready yet. */
const FOR_NOW: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03']);

/** The SQLSTATE of a complete ErrorResponse. Undefined: the bytes are none. */
export function refusalIn(bytes: Uint8Array): string | undefined {
  if (bytes.length < HEADER || bytes[0] !== ERROR_RESPONSE) return undefined;
  const end = 1 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  return end > bytes.length ? undefined : (errorField(bytes, HEADER, end - HEADER, 'C') ?? '');
}

/** The beginning of an ErrorResponse: the rest is still to come. */
export function isCutError(bytes: Uint8Array): boolean {
  if (bytes[0] !== ERROR_RESPONSE) return false;
  if (bytes.length < HEADER) return true;
  const end = 1 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  return end > bytes.length && end <= LONGEST_ERROR;
}

/** The server is starting or stopping. */
export function refusesForNow(sqlState: string): boolean {
  return FOR_NOW.has(sqlState);
}

/** The server has no room for one more connection. */
export function isFull(sqlState: string | undefined): boolean {
  return sqlState === TOO_MANY_CONNECTIONS;
}

/** Other clients would be refused as well. Undefined: the server closed without a word. */
export function refusesOthers(sqlState: string | undefined): boolean {
  return sqlState === undefined || isFull(sqlState) || !isAboutClient(sqlState);
}
