// SCRAM with channel binding: the login names the certificate of its connection, so that nobody between the two sides
// can pass it on (RFC 5802, 6; RFC 5929, 4). PostgreSQL has no other type than `tls-server-end-point`.
import { joined } from '../messages/server-messages.ts';
import { toBase64 } from './scram.ts';

export const SCRAM = 'SCRAM-SHA-256';
export const SCRAM_PLUS = 'SCRAM-SHA-256-PLUS';
/** The client does not bind. */
export const UNBOUND = 'n,,';
export const BOUND = 'p=tls-server-end-point,,';
const ENCODER = new TextEncoder();

/** How to log in: bound where the server offers it, and `hash` is that of its certificate. */
export function headerFor(mechanisms: readonly string[], hash: Uint8Array | undefined): typeof BOUND | typeof UNBOUND {
  return hash !== undefined && mechanisms.includes(SCRAM_PLUS) ? BOUND : UNBOUND;
}

/** In base64, for `c=`: the header, and behind that of a bound login the hash of the certificate. */
export function bindingOf(header: string, hash: Uint8Array | undefined): string {
  const bound = header === BOUND && hash !== undefined ? [hash] : [];
  return toBase64(joined([ENCODER.encode(header), ...bound]));
}

/** The names that the server offers in its request of a login. */
export function mechanismsIn(data: Uint8Array): readonly string[] {
  return new TextDecoder('latin1').decode(data).split('\0').slice(0, -2);
}
