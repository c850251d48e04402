// Reads a backend's first reply if it refuses the connection. Nothing else of it is read before the relay.
import { HEADER, endOfMessage } from '../messages/header.ts';
import { sqlStateOf } from '../messages/error-fields.ts';
import { isAboutClient } from '../messages/sql-state.ts';

const ERROR_RESPONSE = 0x45;
const AUTHENTICATION_OK = Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 0);
/** The longest error before the login, with room for long texts. */
const LONGEST_ERROR = 30_000;
/**
 * A server that cannot start a process sends no length, but text up to a NUL (report_fork_failure_to_client in
 * launch_backend.c). Four characters are at least this number.
 */
const TEXT = 0x2020_2020;
/** insufficient_resources: such an error has no SQLSTATE. */
const NO_PROCESS = '53000';
const TOO_MANY_CONNECTIONS = '53300';
/** Shutting down, crashed, or not ready yet. */
const FOR_NOW: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03']);

/** The SQLSTATE of a complete error. Undefined: the bytes are none. */
export function refusalIn(bytes: Uint8Array): string | undefined {
  const at = errorAt(bytes);
  if (bytes.length < at + HEADER || bytes[at] !== ERROR_RESPONSE) return undefined;
  const end = endOfMessage(bytes, at);
  if (end > TEXT && bytes.at(-1) === 0) return NO_PROCESS;
  return end > bytes.length ? undefined : sqlStateOf(bytes, at + HEADER, end - at - HEADER);
}

/** The beginning of an ErrorResponse: the rest is still to come. */
export function isCutError(bytes: Uint8Array): boolean {
  const at = errorAt(bytes);
  if (bytes[at] !== ERROR_RESPONSE) return false;
  if (bytes.length < at + HEADER) return true;
  const end = endOfMessage(bytes, at);
  return end > bytes.length && end <= LONGEST_ERROR;
}

/** A login without a password is over at once. Its end comes together with the error of a server that has no room. */
function errorAt(bytes: Uint8Array): number {
  return AUTHENTICATION_OK.every((byte, index) => bytes[index] === byte) ? AUTHENTICATION_OK.length : 0;
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
