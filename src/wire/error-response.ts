// Encodes the answers we give in PostgreSQL's place: ErrorResponse, the one-byte no to a TLS or GSS request, and the TLS alert
// for a client that has begun TLS unasked. Text from outside cannot break out of its field: a NUL becomes a space.

/** One error as a client sees it; the severity is always FATAL, because no session survives one of ours. */
export interface ErrorFields {
  /** Five characters. */
  readonly sqlState: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

/** The answer to SSLRequest and GSSENCRequest: not here, go on in plain text. */
export const NOT_SUPPORTED = Uint8Array.of(0x4e);

/** The answer to SSLRequest where TLS is ours: the handshake may begin. */
export const SUPPORTED = Uint8Array.of(0x53);

/** A fatal internal_error alert in a TLS 1.2 record, legal before any handshake (RFC 8446, 6.2). */
export const TLS_ALERT = Uint8Array.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50);

/** Longer texts are cut, so that an answer stays a few packets whatever the cluster's size. Characters. */
const LONGEST_TEXT = 4_000;

export function encodeErrorResponse(fields: ErrorFields): Uint8Array {
  const parts: string[] = [field('S', 'FATAL'), field('V', 'FATAL'), field('C', fields.sqlState)];
  parts.push(field('M', fields.message));
  if (fields.detail !== undefined) parts.push(field('D', fields.detail));
  if (fields.hint !== undefined) parts.push(field('H', fields.hint));
  const body = new TextEncoder().encode(`${parts.join('')}\0`);
  const message = new Uint8Array(1 + 4 + body.length);
  message[0] = 0x45;
  new DataView(message.buffer).setInt32(1, 4 + body.length);
  message.set(body, 5);
  return message;
}

function field(type: string, text: string): string {
  return `${type}${text.slice(0, LONGEST_TEXT).replaceAll('\0', ' ')}\0`;
}
