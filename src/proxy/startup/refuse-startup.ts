// Refuses a client before it has a backend, so that the client reads why: send the error, then the end of the stream,
// then read and discard until the peer closes. A close with unread bytes would reset the connection and destroy the
// error. One deadline holds whatever the client does. Reports once, when the socket is closed.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import { LINGER_MS, sendLast } from '../ending/linger.ts';
import { HTTP_ANSWER } from '../ending/refusal-message.ts';
import { NOT_SUPPORTED, TLS_ALERT } from '../../wire/messages/error-response.ts';
import type { Recognition } from '../../wire/startup/startup.ts';
import type { StartupReader } from './startup-reader.ts';

/** A refused client. Its first packet, if it is complete, is at the front of `reader`. */
export interface Refused {
  readonly client: Socket;
  readonly reader: StartupReader;
  readonly packet: Recognition | undefined;
  /** The requests for encryption that were answered already. */
  readonly answered: ReadonlySet<Recognition['kind']>;
}

/**
 * libpq does not show an error that answers an SSLRequest or GSSENCRequest. Each of them is answered with `N` once, as
 * PostgreSQL does, and the error answers the startup message. Direct TLS gets an alert.
 */
export function refuse(refused: Refused, error: Uint8Array, clock: Clock, onClosed: () => void): () => void {
  const { client, reader } = refused;
  const answered = new Set(refused.answered);
  const cancelDeadline = clock.schedule(LINGER_MS, () => client.destroy());
  const closed = (): void => {
    cancelDeadline();
    onClosed();
  };
  const answer = (packet: Recognition | undefined): void => {
    const isNegotiation = packet?.kind === 'ssl_request' || packet?.kind === 'gssenc_request';
    if (isNegotiation && !answered.has(packet.kind) && !reader.hasEnded()) {
      answered.add(packet.kind);
      client.write(NOT_SUPPORTED);
      reader.skip(packet.length);
      return;
    }
    reader.release();
    sendLast(client, answerTo(packet, error), closed);
  };
  reader.passTo({ onPacket: answer, onEnd: () => answer(undefined), onClosed: closed });
  client.resume();
  answer(refused.packet);
  return () => client.destroy();
}

/** The error in the client's own protocol. */
function answerTo(packet: Recognition | undefined, error: Uint8Array): Uint8Array {
  if (packet?.kind === 'tls') return TLS_ALERT;
  return packet?.kind === 'http' ? HTTP_ANSWER : error;
}
