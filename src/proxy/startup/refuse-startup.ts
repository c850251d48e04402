// Tells a client why it is not served, in words it can read, and sees to it that the words arrive: answer, end, then read and
// discard until the peer closes (closing with unread bytes would reset the connection and destroy the answer).
// Bounded by one deadline whatever the client does; reports once, when the socket is closed.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import { LINGER_MS, sendLast } from '../ending/linger.ts';
import { HTTP_ANSWER } from '../ending/refusal-message.ts';
import { NOT_SUPPORTED, TLS_ALERT } from '../../wire/error-response.ts';
import type { Recognition } from '../../wire/startup.ts';
import type { StartupReader } from './startup-reader.ts';

/** A client whose first packet, if it got that far, is at the front of `reader`. */
export interface Refused {
  readonly client: Socket;
  readonly reader: StartupReader;
  readonly packet: Recognition | undefined;
  /** What it was answered already. */
  readonly answered: ReadonlySet<Recognition['kind']>;
}

/**
 * Refuses in the client's own terms. libpq shows no error that answers an SSLRequest or GSSENCRequest, so those are answered
 * `N`, each once as PostgreSQL does, and the error waits for the startup message; direct TLS gets an alert.
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
