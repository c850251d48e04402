// The moment between a connect and an agreement on encryption: the client's request alone is sent, and one byte is the answer.
// After N both go on in plain text, which can be read; whatever else the backend says, the stream is theirs alone from there on.
// Reports once; the caller who aborts hears nothing and owns no socket.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import { NOT_SUPPORTED } from '../../wire/error-response.ts';
import { GREETING_MS } from './greeting.ts';

export interface NegotiationInputs {
  readonly backend: Socket;
  /** An SSLRequest or GSSENCRequest, sent here. */
  readonly request: Uint8Array;
  readonly clock: Clock;
  /** The backend is the caller's; closed already where it said more than it was asked. */
  readonly onDeclined: () => void;
  /** The backend is the caller's. `words`: what it said, nothing where it was too slow to wait for. */
  readonly onAnswered: (words: Uint8Array) => void;
  /** Not a word; the backend is closed. */
  readonly onClosed: () => void;
}

/** Returns the abort, which closes the backend; it is idempotent. */
export function negotiate({
  backend,
  request,
  clock,
  onDeclined,
  onAnswered,
  onClosed,
}: NegotiationInputs): () => void {
  let isDone = false;
  const leave = (): void => {
    isDone = true;
    cancelWait();
    backend.off('data', heard).off('end', ended).off('close', ended);
  };
  const answered = (words: Uint8Array): void => {
    leave();
    backend.pause();
    onAnswered(words);
  };
  const ended = (): void => {
    leave();
    backend.destroy();
    onClosed();
  };
  const heard = (words: Uint8Array): void => {
    if (words[0] !== NOT_SUPPORTED[0]) return answered(words);
    leave();
    if (words.length > NOT_SUPPORTED.length) backend.destroy();
    onDeclined();
  };
  const cancelWait = clock.schedule(GREETING_MS, () => answered(new Uint8Array(0)));
  backend.on('data', heard).on('end', ended).on('close', ended);
  backend.write(request);
  return () => {
    if (isDone) return;
    leave();
    backend.destroy();
  };
}
