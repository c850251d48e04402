// Encodes the messages that Pointsman itself sends to a client: ErrorResponse and NoticeResponse, the one-byte no to a
// TLS or GSS request, and the TLS alert for a client that begins TLS without a request. A NUL in outside text becomes a
// space, so it stays in its field.

/** One error as a client sees it. */
export interface ErrorFields {
  /** FATAL, the default: the session ends with it. ERROR: the statement ends with it. */
  readonly severity?: 'FATAL' | 'ERROR';
  /** Five characters. */
  readonly sqlState: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

/** The reply to SSLRequest and GSSENCRequest: not supported, continue in plain text. */
export const NOT_SUPPORTED = Uint8Array.of(0x4e);

/** The reply to SSLRequest where Pointsman terminates TLS: the handshake may begin. */
export const SUPPORTED = Uint8Array.of(0x53);

/** A fatal internal_error alert in a TLS 1.2 record, legal before any handshake (RFC 8446, 6.2). */
export const TLS_ALERT = Uint8Array.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50);

/** Longer texts are cut, so that the message stays small for any cluster. Characters. */
const LONGEST_TEXT = 4_000;

export function encodeErrorResponse(fields: ErrorFields): Uint8Array {
  return encodeFields(0x45, fields.severity ?? 'FATAL', fields);
}

/** NoticeResponse: nothing ends with it. */
export function encodeNotice(message: string): Uint8Array {
  return encodeFields(0x4e, 'NOTICE', { sqlState: '00000', message });
}

function encodeFields(type: number, severity: string, fields: ErrorFields): Uint8Array {
  const parts: string[] = [field('S', severity), field('V', severity), field('C', fields.sqlState)];
  parts.push(field('M', fields.message));
  if (fields.detail !== undefined) parts.push(field('D', fields.detail));
  if (fields.hint !== undefined) parts.push(field('H', fields.hint));
  const body = new TextEncoder().encode(`${parts.join('')}\0`);
  const message = new Uint8Array(1 + 4 + body.length);
  message[0] = type;
  new DataView(message.buffer).setInt32(1, 4 + body.length);
  message.set(body, 5);
  return message;
}

function field(type: string, text: string): string {
  return `${type}${text.slice(0, LONGEST_TEXT).replaceAll('\0', ' ')}\0`;
}
