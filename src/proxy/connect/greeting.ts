// The moment between a connect and the relay, in an exclusive pool: the startup packet is sent, and whoever says nothing and
// closes, or refuses for now, has not taken the client in. That is a failed dial, not a session: the client waits for the
// next primary instead of reading that this one shuts down. Anything else the backend says is the client's to read.
// Reports once; the caller who aborts hears nothing and owns no socket.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import { refusesForNow } from '../../wire/backend-greeting.ts';

/** The client's startup packet is sent already. */
export interface Greeted {
  /** What the backend has answered to it. */
  readonly words: Uint8Array;
}

export interface GreetingInputs {
  readonly backend: Socket;
  /** The client's startup packet, sent here. */
  readonly startup: Uint8Array;
  readonly clock: Clock;
  /** The backend is the caller's. */
  readonly onGreeted: (greeted: Greeted) => void;
  /** The backend is closed. */
  readonly onTurnedAway: () => void;
}

/** A backend that is slow to speak is listened to by the client itself. */
export const GREETING_MS = 2_000;

/** Returns the abort, which closes the backend; it is idempotent. */
export function awaitGreeting({ backend, startup, clock, onGreeted, onTurnedAway }: GreetingInputs): () => void {
  let isDone = false;
  const leave = (): void => {
    isDone = true;
    cancelWait();
    backend.off('data', heard).off('end', ended).off('close', ended);
  };
  const greeted = (words: Uint8Array): void => {
    leave();
    backend.pause();
    onGreeted({ words });
  };
  const ended = (): void => {
    leave();
    backend.destroy();
    onTurnedAway();
  };
  const heard = (words: Uint8Array): void => (refusesForNow(words) ? ended() : greeted(words));
  const cancelWait = clock.schedule(GREETING_MS, () => greeted(new Uint8Array(0)));
  backend.on('data', heard).on('end', ended).on('close', ended);
  backend.write(startup);
  return () => {
    if (isDone) return;
    leave();
    backend.destroy();
  };
}
