// The last stage of a session: its client reads the last message, in whichever protocol it speaks. The client is told
// the end of the stream behind the message, and what it still sends is read and discarded: a socket that is closed with
// unread bytes sends a reset, and the reset would destroy the message. A deadline holds whatever the client does.
import type { ProxySocket } from '../socket.ts';
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import { NOT_SUPPORTED, TLS_ALERT } from '../../wire/messages/error-response.ts';
import type { Recognition } from '../../wire/startup/startup.ts';
import { HTTP_ANSWER } from '../messages/refusal-message.ts';
import type { Farewell, SessionHandle, Stage, UnansweredStartup } from '../stage.ts';

/** From the last message to the end of the socket. Milliseconds. */
const LINGER_MS = 5_000;
/** How long a client may take to read what its server said before the server ended. Milliseconds. */
const UNREAD_MS = 60_000;

export class Leaving implements Stage {
  readonly #farewell: Farewell;
  readonly #clock: Clock;
  readonly #session: SessionHandle;
  #cancelDeadline = nothing;

  constructor(farewell: Farewell, clock: Clock, session: SessionHandle) {
    this.#farewell = farewell;
    this.#clock = clock;
    this.#session = session;
  }

  /** Bytes that wait for the client arrive before the message. */
  start(): void {
    const { client, message, startup, isLost } = this.#farewell;
    this.#endIn(isLost === true ? UNREAD_MS : LINGER_MS);
    if (isLost === true) client.once('finish', () => this.#endIn(LINGER_MS));
    if (startup === undefined) this.#send(message);
    else this.#answer(startup);
  }

  client(): ProxySocket {
    return this.#farewell.client;
  }

  farewell(): undefined {}

  left(): void {
    this.#cancelDeadline();
  }

  drop(): void {
    this.#farewell.client.destroy();
  }

  readonly #closed = (): void => this.#session.cut(this.#farewell.reason, this.#farewell.detail);

  #endIn(ms: number): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.schedule(ms, () => this.drop());
  }

  /**
   * libpq does not show an error that answers an SSLRequest or GSSENCRequest. Each of them is answered with `N` once,
   * as PostgreSQL does, and the error answers the startup message. Direct TLS gets an alert.
   */
  #answer({ reader, packet, answered }: UnansweredStartup): void {
    const { client, message } = this.#farewell;
    const done = new Set(answered);
    const answer = (next: Recognition | undefined): void => {
      const isNegotiation = next?.kind === 'ssl_request' || next?.kind === 'gssenc_request';
      if (isNegotiation && !done.has(next.kind) && !reader.hasEnded()) {
        done.add(next.kind);
        client.write(NOT_SUPPORTED);
        return reader.skip(next.length);
      }
      reader.release();
      if (next?.kind === 'tls') return this.#send(TLS_ALERT);
      return this.#send(next?.kind === 'http' ? HTTP_ANSWER : message);
    };
    reader.passTo({ onPacket: answer, onEnd: () => answer(undefined), onClosed: this.#closed });
    client.resume();
    answer(packet);
  }

  #send(message: Uint8Array | undefined): void {
    const { client } = this.#farewell;
    client.on('close', this.#closed);
    if (message === undefined) client.end();
    else client.end(message);
    client.resume();
  }
}
