// Tells a client why it is not served, in words it can read, and sees to it that the words arrive: answer, end, then read and
// discard until the peer closes (closing with unread bytes would reset the connection and destroy the answer).
// Bounded by one deadline whatever the client does; reports once, when the socket is closed.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import { NOT_SUPPORTED, TLS_ALERT } from '../../wire/error-response.ts';
import type { Recognition } from '../../wire/startup.ts';
import type { StartupReader } from './startup-reader.ts';

/** From the refusal to the end of the socket. */
const REFUSAL_MS = 5_000;

/** The same for a client that was served and can be told: what is queued for it arrives before the words. */
export function dismiss(client: Socket, lastWords: Uint8Array, clock: Clock, onClosed: () => void): () => void {
  const cancelDeadline = clock.schedule(REFUSAL_MS, () => client.destroy());
  partFrom(client, lastWords, () => {
    cancelDeadline();
    onClosed();
  });
  return () => client.destroy();
}

/** From the server's end to the end of a client that does not read what the server said. */
const UNREAD_MS = 60_000;

/**
 * The same for a client whose server has ended, at its own pace while it reads; with last words where there are any.
 */
export function sendOff(
  client: Socket,
  lastWords: Uint8Array | undefined,
  clock: Clock,
  onClosed: () => void,
): () => void {
  let cancelDeadline = clock.schedule(UNREAD_MS, () => client.destroy());
  client.once('finish', () => {
    cancelDeadline();
    cancelDeadline = clock.schedule(REFUSAL_MS, () => client.destroy());
  });
  partFrom(client, lastWords, () => {
    cancelDeadline();
    onClosed();
  });
  return () => client.destroy();
}

/** The last words, then nothing is read but the end. */
function partFrom(client: Socket, lastWords: Uint8Array | undefined, onClosed: () => void): void {
  client.on('close', onClosed);
  if (lastWords === undefined) client.end();
  else client.end(lastWords);
  client.resume();
}

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
  const cancelDeadline = clock.schedule(REFUSAL_MS, () => client.destroy());
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
    partFrom(client, packet?.kind === 'tls' ? TLS_ALERT : error, closed);
  };
  reader.passTo({ onPacket: answer, onEnd: () => answer(undefined), onClosed: closed });
  client.resume();
  answer(refused.packet);
  return () => client.destroy();
}
