// Recognises a client's first packet: startup, TLS or GSS negotiation, cancel, or another protocol; and the header of
// the PROXY protocol, which a load balancer sends. A function of the bytes so far, so the result does not depend on how
// they were split. Never changes or consumes a byte. Limits are PostgreSQL's own (ProcessStartupPacket in
// backend_startup.c).
import { byteText } from '../messages/byte-text.ts';
import { CANCEL_OFFER, CANCEL_REQUEST } from '../messages/cancel-key.ts';
import { int32At, LENGTH_WORD } from '../messages/header.ts';
import { proxyHeader, type ProxyHeader } from './proxy-header.ts';

const SSL_REQUEST = 80877103;
const GSSENC_REQUEST = 80877104;
const TLS_HANDSHAKE = 0x16;

/** SSLRequest, as a client sends it. */
export const SSL_REQUEST_PACKET = Uint8Array.of(0x00, 0x00, 0x00, 0x08, 0x04, 0xd2, 0x16, 0x2f);

const HEADER = 8;
/** MAX_STARTUP_PACKET_LENGTH counts what follows the length word. */
const LONGEST_PACKET = 10_000 + LENGTH_WORD;
/** Header, process id, and a key of 1 to 256 bytes (4 before protocol 3.2). */
const CANCEL_KEY_AT = 12;
const LONGEST_CANCEL = CANCEL_KEY_AT + 256;

/** The first four bytes of an HTTP request, whatever its method (PRI is HTTP/2). */
const HTTP_OPENING = /^(?:GET |PUT |PRI |HEAD|POST|DELE|OPTI|PATC|CONN|TRAC)/;

/** A packet that begins a session. `length`: its size in bytes. */
export type OpeningPacket =
  | { readonly kind: 'startup'; readonly length: number; readonly major: number; readonly minor: number }
  | { readonly kind: 'ssl_request'; readonly length: number }
  | { readonly kind: 'gssenc_request'; readonly length: number }
  /** Direct TLS: nothing after the first byte can be read. */
  | { readonly kind: 'tls' };

export type Recognition =
  | OpeningPacket
  | { readonly kind: 'cancel_request'; readonly length: number }
  /** Another Pointsman sends it. */
  | { readonly kind: 'cancel_offer'; readonly length: number }
  | { readonly kind: 'http' }
  | ProxyHeader;

const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();
const NEED_MORE: Recognition = { kind: 'need_more' };

/**
 * The first packet in `bytes` (everything received so far). After any result but `need_more` more bytes change nothing.
 */
export function recognise(bytes: Uint8Array): Recognition {
  if (bytes[0] === TLS_HANDSHAKE) return { kind: 'tls' };
  const header = proxyHeader(bytes);
  if (header !== undefined) return header;
  if (bytes.length < LENGTH_WORD) return NEED_MORE;
  const length = int32At(bytes, 0);
  if (length < HEADER || length > LONGEST_PACKET) return notAPacket(bytes, length);
  if (bytes.length < length) return NEED_MORE;
  const code = int32At(bytes, LENGTH_WORD);
  switch (code) {
    case SSL_REQUEST:
      return { kind: 'ssl_request', length };
    case GSSENC_REQUEST:
      return { kind: 'gssenc_request', length };
    case CANCEL_REQUEST:
    case CANCEL_OFFER:
      return length > CANCEL_KEY_AT && length <= LONGEST_CANCEL
        ? { kind: code === CANCEL_OFFER ? 'cancel_offer' : 'cancel_request', length }
        : { kind: 'invalid', why: `invalid length of cancel request: ${length}` };
    default:
      // An unknown version is a startup too: PostgreSQL itself replies with the versions that it supports.
      return { kind: 'startup', length, major: code >>> 16, minor: code & 0xffff };
  }
}

function notAPacket(bytes: Uint8Array, length: number): Recognition {
  const opening = byteText(bytes.subarray(0, LENGTH_WORD));
  if (HTTP_OPENING.test(opening)) return { kind: 'http' };
  return { kind: 'invalid', why: `invalid length of startup packet: ${length}` };
}

/**
 * The parameters of a StartupMessage of protocol 3, for logs. Stops silently at a broken layout: the packet is
 * forwarded and PostgreSQL reports the error.
 */
export function startupParameters(packet: Uint8Array): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  let at = HEADER;
  const next = (): string | undefined => {
    const end = packet.indexOf(0, at);
    if (end <= at) return undefined;
    const text = DECODER.decode(packet.subarray(at, end));
    at = end + 1;
    return text;
  };
  for (let name = next(); name !== undefined; name = next()) {
    const value = next();
    // next() does not advance over an empty value: skip its terminator.
    if (value === undefined) at += 1;
    parameters.set(name, value ?? '');
  }
  return parameters;
}

/** PostgreSQL cuts longer names (NAMEDATALEN). Bytes. */
const LONGEST_NAME = 63;

/** The role in a startup packet, as the server reads it. */
export function roleOf(packet: Uint8Array): string {
  const role = startupParameters(packet).get('user') ?? '';
  return role.length <= LONGEST_NAME / 3 ? role : DECODER.decode(ENCODER.encode(role).subarray(0, LONGEST_NAME));
}
