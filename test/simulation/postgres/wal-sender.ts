// Streams the log of a server to one standby, over a connection of its own, and knows how far the standby has come.
// Records go by their numbers in the pool.
import { ownJson } from './own-json.ts';
import type { Socket } from 'node:net';
import {
  AUTHENTICATION_OK,
  aMessage,
  COPY_BOTH_RESPONSE,
  errorOf,
  readyForQuery,
} from '../../support/sockets/messages.ts';
import { Fields, type Frame, type Frames } from './messages.ts';
import type { TimelineFork, Wal, WalEnd } from './wal.ts';

/** START_REPLICATION, as the standby sends it. */
export interface StreamRequest extends WalEnd {
  readonly systemIdentifier: string;
}

/** The server's history, then the numbers of records. */
export interface StreamPart {
  readonly timeline: number;
  readonly forks: readonly TimelineFork[];
  readonly records: readonly number[];
}

export interface StandbyReport {
  readonly flushed: number;
  readonly replayed: number;
  /** A sign of life is wanted. */
  readonly asks: boolean;
}

/** wal_sender_timeout, shorter than PostgreSQL's. Milliseconds. */
const SILENCE_MS = 6_000;

export interface WalSenderOptions {
  /** The name of the member. */
  readonly standby: string;
  readonly socket: Socket;
  readonly frames: Frames;
  readonly wal: Wal;
  readonly systemIdentifier: string;
  readonly isInRecovery: () => boolean;
  readonly now: () => number;
  readonly onProgress: () => void;
  readonly onEnd: () => void;
}

export class WalSender {
  readonly standby: string;
  readonly #options: WalSenderOptions;
  /** Undefined: it has not begun. */
  #sent: number | undefined;
  #flushed = 0;
  #heardAt: number;
  #isOver = false;

  constructor(options: WalSenderOptions) {
    this.#options = options;
    this.standby = options.standby;
    this.#heardAt = options.now();
    const { socket } = options;
    socket.on('data', (chunk: Buffer) => {
      options.frames.add(chunk);
      this.#read();
    });
    socket
      .on('end', () => this.end())
      .on('error', () => this.end())
      .on('close', () => this.end());
    socket.write(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
    this.#read();
  }

  isStreaming(): boolean {
    const isHeard = this.#options.now() - this.#heardAt < SILENCE_MS;
    return this.#sent !== undefined && !this.#isOver && isHeard;
  }

  /** The standby has so much on its disk. */
  flushed(): number {
    return this.#flushed;
  }

  /** Sends all that the server has flushed since. */
  send(): void {
    const { wal, socket } = this.#options;
    if (this.#sent === undefined || this.#isOver || !socket.writable || this.#sent >= wal.flushed()) return;
    const records = wal.from(this.#sent).filter(({ end }) => end <= wal.flushed());
    this.#sent = records.at(-1)?.end ?? this.#sent;
    this.#tell(records.map(({ id }) => id));
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.socket.destroySoon();
    this.#options.onEnd();
    this.#options.onProgress();
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#options.socket.pause();
    else this.#options.socket.resume();
  }

  #read(): void {
    for (;;) {
      const frame = this.#isOver ? undefined : this.#options.frames.next();
      if (frame === undefined) return;
      this.#take(frame);
    }
  }

  #take({ type, body }: Frame): void {
    if (type === 'd') {
      const { flushed, asks } = ownJson<StandbyReport>(body.toString());
      this.#flushed = flushed;
      this.#heardAt = this.#options.now();
      if (asks) this.#tell([]);
      this.#options.onProgress();
    } else if (type === 'Q') this.#start(ownJson<StreamRequest>(new Fields(body).text()));
    else if (type === 'X') this.end();
  }

  #start(request: StreamRequest): void {
    const { wal, systemIdentifier, socket } = this.#options;
    const why = this.#options.isInRecovery()
      ? 'recovery is in progress'
      : request.systemIdentifier === systemIdentifier
        ? wal.refusal(request)
        : 'the database system identifier is another one';
    if (why !== undefined) {
      socket.write(errorOf(['SERROR', 'VERROR', 'C55000', `M${why}`]));
      return this.end();
    }
    socket.write(COPY_BOTH_RESPONSE);
    this.#sent = request.position;
    this.#flushed = request.position;
    this.#tell([]);
    return this.send();
  }

  #tell(records: readonly number[]): void {
    const { wal, socket } = this.#options;
    const part: StreamPart = { timeline: wal.timeline(), forks: wal.forks(), records };
    socket.write(aMessage('d', Buffer.from(JSON.stringify(part))));
  }
}
