// The last message to a client, and the wait until the client has read it. The client is told the end of the stream
// behind the message, and what it still sends is read and discarded: a socket that is closed with unread bytes sends a
// reset, and the reset would destroy the message. A deadline holds whatever the client does.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import { ignoreErrors } from '../socket.ts';

/** From the last message to the end of the socket. Milliseconds. */
export const LINGER_MS = 5_000;
/** How long a client may take to read what its server said before the server ended. Milliseconds. */
const UNREAD_MS = 60_000;

/**
 * For a session that Pointsman ends: what is queued for the client arrives before the message. Calls `onClosed` when
 * the socket is closed. Returns the function that destroys it at once.
 */
export function linger(
  client: Socket,
  message: Uint8Array | undefined,
  clock: Clock,
  onClosed: () => void,
): () => void {
  const cancelDeadline = clock.schedule(LINGER_MS, () => client.destroy());
  sendLast(client, message, () => {
    cancelDeadline();
    onClosed();
  });
  return () => client.destroy();
}

/** For a session that its server ended: the client reads at its own pace, then the message, where there is one. */
export function lingerUnread(
  client: Socket,
  message: Uint8Array | undefined,
  clock: Clock,
  onClosed: () => void,
): () => void {
  let cancelDeadline = clock.schedule(UNREAD_MS, () => client.destroy());
  client.once('finish', () => {
    cancelDeadline();
    cancelDeadline = clock.schedule(LINGER_MS, () => client.destroy());
  });
  sendLast(client, message, () => {
    cancelDeadline();
    onClosed();
  });
  return () => client.destroy();
}

const TERMINATE = Uint8Array.of(0x58, 0, 0, 0, 4);

/** Ends a session between two transactions as its client would, so that the server reports nothing. */
export function sayGoodbye(backend: Socket): void {
  ignoreErrors(backend);
  backend.end(TERMINATE);
  backend.destroySoon();
}

/** Without a deadline: the caller has its own. */
export function sendLast(client: Socket, message: Uint8Array | undefined, onClosed: () => void): void {
  client.on('close', onClosed);
  if (message === undefined) client.end();
  else client.end(message);
  client.resume();
}
