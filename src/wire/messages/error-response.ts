// Encodes the messages that Pointsman itself sends to a client: ErrorResponse and NoticeResponse, the one-byte no to a
// TLS or GSS request, and the TLS alert for a client that begins TLS without a request. A NUL in outside text becomes a
// space, so it stays in its field.
import { cString, message } from './server-messages.ts';

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
  return encodeFields('E', fields.severity ?? 'FATAL', fields);
}

/** NoticeResponse: nothing ends with it. */
export function encodeNotice(text: string, sqlState = '00000'): Uint8Array {
  return encodeFields('N', 'NOTICE', { sqlState, message: text });
}

function encodeFields(type: 'E' | 'N', severity: string, fields: ErrorFields): Uint8Array {
  const { sqlState, message: text, detail, hint } = fields;
  const texts = Object.entries({ S: severity, V: severity, C: sqlState, M: text, D: detail, H: hint });
  const present = texts.flatMap(([field, value]) =>
    value === undefined ? [] : [cString(`${field}${value.slice(0, LONGEST_TEXT)}`)],
  );
  return message(type, [...present, Uint8Array.of(0)]);
}
