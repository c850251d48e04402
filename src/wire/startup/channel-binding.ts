// Takes channel binding out of a server's offer. A client can bind its login only to a TLS connection that it shares
// with the server. Where the client has plain text and the server has TLS with Pointsman, libpq ends the login because
// of "SCRAM-SHA-256-PLUS over a non-SSL connection". The result depends on the bytes so far and not on how they were
// split. Messages: protocol, SASL Authentication.
import { HEADER, int32At, LENGTH_WORD } from '../messages/header.ts';
import { joined, SASL } from '../messages/server-messages.ts';

/** Authentication messages that are longer are none (the limit of libpq, fe-connect.c). Value of the length word. */
const LONGEST = 65_535;
/** No server sends more before its authentication request. Bytes. */
const MOST_BYTES = 4 * LONGEST;
const AUTHENTICATION = 0x52;
const ERROR_RESPONSE = 0x45;
/** NegotiateProtocolVersion and NoticeResponse may come before the authentication request. */
const BEFORE_IT: ReadonlySet<number> = new Set([0x76, 0x4e]);
/** The name of a mechanism with channel binding ends like this (RFC 5802, 4). */
const WITH_BINDING = /-PLUS$/;
const DECODER = new TextDecoder('latin1');

/**
 * The bytes for the client. `bytes`: all that the server has sent since the startup packet. Undefined: the server's
 * first authentication request, or its error, is not complete. After another result the bytes that follow need no
 * change. Bytes that are no PostgreSQL stay as they are.
 */
export function withoutChannelBinding(bytes: Uint8Array): Uint8Array | undefined {
  const needMore = bytes.length > MOST_BYTES ? bytes : undefined;
  let at = 0;
  while (at < bytes.length) {
    const type = bytes[at] ?? 0;
    const isRequest = type === AUTHENTICATION;
    if (!isRequest && type !== ERROR_RESPONSE && !BEFORE_IT.has(type)) return bytes;
    if (bytes.length < at + HEADER) return needMore;
    const length = int32At(bytes, at + 1);
    if (length < LENGTH_WORD || length > LONGEST) return bytes;
    const end = at + 1 + length;
    if (bytes.length < end) return needMore;
    if (isRequest) return withoutBindingAt(bytes, at, end);
    if (type === ERROR_RESPONSE) return bytes;
    at = end;
  }
  return needMore;
}

function withoutBindingAt(bytes: Uint8Array, at: number, end: number): Uint8Array {
  const namesAt = at + HEADER + LENGTH_WORD;
  if (namesAt > end || int32At(bytes, at + HEADER) !== SASL) return bytes;
  const kept: Uint8Array[] = [];
  let from = namesAt;
  while (from < end && bytes[from] !== 0) {
    const close = bytes.indexOf(0, from);
    // The list is broken: the client reports it.
    if (close === -1 || close >= end) return bytes;
    if (!WITH_BINDING.test(DECODER.decode(bytes.subarray(from, close)))) kept.push(bytes.subarray(from, close + 1));
    from = close + 1;
  }
  const whole = joined([bytes.subarray(0, namesAt), ...kept, bytes.subarray(from)]);
  if (whole.length === bytes.length) return bytes;
  new DataView(whole.buffer).setInt32(at + 1, end - at - 1 + whole.length - bytes.length);
  return whole;
}
