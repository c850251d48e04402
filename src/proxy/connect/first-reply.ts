// The first exchange with a backend, before the relay begins. The client's first request alone is sent, and the first
// bytes of the reply decide. A server that closes without a reply, or refuses, has not taken the client in: the caller
// may try elsewhere. A server that declines encryption goes on in plain text. Any other reply is for the
// client. Reports once; after an abort it reports nothing, and the backend is closed.
import type { ProxySocket } from '../socket.ts';
import type { Clock } from '../../model/instant.ts';
import { isCutError, refusalIn, refusesForNow } from '../../wire/startup/backend-greeting.ts';
import { NOT_SUPPORTED } from '../../wire/messages/error-response.ts';
import type { FirstRequest } from '../startup/client-startup.ts';

/** The backend has the client's first request, and this is its reply so far. */
export interface FirstReply {
  /** Empty if the backend was too slow to wait for. */
  readonly bytes: Uint8Array;
}

/** The server's own words instead of a login. */
export interface Refusal {
  readonly sqlState: string;
  readonly bytes: Uint8Array;
}

export interface FirstReplyOptions {
  readonly backend: ProxySocket;
  /** Sent here. */
  readonly request: FirstRequest;
  readonly clock: Clock;
  /** How long a reply is waited for. Milliseconds. */
  readonly limitMs?: number;
  /** The backend is the caller's, who must listen to it synchronously. */
  readonly onReply: (reply: FirstReply) => void;
  /** No encryption. The backend is the caller's; it is closed already if it sent more than that. */
  readonly onDeclined: () => void;
  /** Whether a refusal with that SQLSTATE is the caller's and not the client's. Absent: it is, if it is for now. */
  readonly isTurnedAway?: ((sqlState: string) => boolean) | undefined;
  /** The backend refused, or closed without a whole reply: undefined. It is closed. `error`: of its socket. */
  readonly onTurnedAway: (refusal: Refusal | undefined, error?: Error) => void;
  /** No reply within the limit; the backend is closed. Absent: `onReply` is called, and the relay reads the reply. */
  readonly onSilent?: () => void;
}

/** The limit where none is given. Milliseconds. */
const REPLY_MS = 2_000;

/** Returns the abort, which closes the backend; it is idempotent. */
export function awaitFirstReply(options: FirstReplyOptions): () => void {
  const { backend, request, clock, onTurnedAway, onSilent } = options;
  const { isTurnedAway = refusesForNow, limitMs = REPLY_MS } = options;
  let isDone = false;
  const leave = (): void => {
    isDone = true;
    cancelWait();
    backend.off('data', received).off('error', failed).off('end', closed).off('close', closed);
  };
  const replied = (bytes: Uint8Array): void => {
    leave();
    options.onReply({ bytes });
  };
  const turnedAway = (refusal: Refusal | undefined): void => {
    leave();
    backend.destroy();
    onTurnedAway(refusal, error);
  };
  let error: Error | undefined;
  const failed = (told: Error): void => {
    error = told;
  };
  let cut: Uint8Array | undefined;
  const closed = (): void => turnedAway(undefined);
  const late = (): void => {
    if (onSilent === undefined) return replied(cut ?? new Uint8Array(0));
    leave();
    backend.destroy();
    return onSilent();
  };
  const declined = (isAll: boolean): void => {
    leave();
    if (!isAll) backend.destroy();
    options.onDeclined();
  };
  let soFar: Uint8Array | undefined;
  const received = (chunk: Uint8Array): void => {
    const bytes = soFar === undefined ? chunk : Buffer.concat([soFar, chunk]);
    soFar = bytes;
    if (request.kind === 'startup') {
      cut = isCutError(bytes) ? bytes : undefined;
      if (cut !== undefined) return undefined;
      const sqlState = refusalIn(bytes);
      if (sqlState !== undefined && isTurnedAway(sqlState)) return turnedAway({ sqlState, bytes });
      return replied(bytes);
    }
    return bytes[0] === NOT_SUPPORTED[0] ? declined(bytes.length === NOT_SUPPORTED.length) : replied(bytes);
  };
  const cancelWait = clock.schedule(limitMs, late);
  backend.on('data', received).on('error', failed).on('end', closed).on('close', closed);
  backend.write(request.packet);
  return () => {
    if (isDone) return;
    leave();
    backend.destroy();
  };
}
