// Receives the log of another server, on a standby, over a connection of its own. Connects again until it is stopped.
import { ownJson } from './own-json.ts';
import type { Socket } from 'node:net';
import { aMessage } from '../../support/sockets/messages.ts';
import type { Host } from '../world/world.ts';
import { aQuery, aStartup, Frames, type Frame } from './messages.ts';
import type { Program } from './program.ts';
import type { Wal, WalPool } from './wal.ts';
import type { StandbyReport, StreamPart, StreamRequest } from './wal-sender.ts';

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

export interface WalReceiverOptions {
  readonly standby: string;
  readonly systemIdentifier: string;
  readonly host: Host;
  readonly program: Program;
  readonly pool: WalPool;
  readonly upstream: Upstream;
  readonly wal: Wal;
  readonly replayed: () => number;
  readonly onReceived: () => void;
  readonly note: (line: string) => void;
}

/** wal_retrieve_retry_interval, and wal_receiver_timeout. Shorter than PostgreSQL's, as Patroni's times here. */
const AGAIN_MS = 500;
const SILENCE_MS = 6_000;
const STATUS_MS = 1_000;

export class WalReceiver {
  readonly #options: WalReceiverOptions;
  #socket: Socket | undefined;
  #frames = new Frames(false);
  #isStreaming = false;
  #isOver = false;
  #heardAt = 0;
  #why: string | undefined;

  constructor(options: WalReceiverOptions) {
    this.#options = options;
    this.#connect();
  }

  isStreaming(): boolean {
    return this.#isStreaming;
  }

  refusal(): string | undefined {
    return this.#why;
  }

  stop(): void {
    this.#isOver = true;
    this.#isStreaming = false;
    this.#socket?.destroy();
  }

  /** Tells how much is on disk here, and replayed. */
  report(asks = false): void {
    const socket = this.#socket;
    if (!this.#isStreaming || socket?.writable !== true) return;
    const report: StandbyReport = { flushed: this.#options.wal.end(), replayed: this.#options.replayed(), asks };
    socket.write(aMessage('d', Buffer.from(JSON.stringify(report))));
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#socket?.pause();
    else this.#socket?.resume();
  }

  #connect(): void {
    const { host, upstream, standby, program } = this.#options;
    if (this.#isOver || program.isOver()) return;
    const socket = host.connect(upstream.port, upstream.address);
    this.#socket = socket;
    this.#frames = new Frames(false);
    this.#heardAt = program.now();
    socket.on('connect', () => {
      socket.write(aStartup({ user: 'replicator', replication: 'true', application_name: standby }));
    });
    socket.on('data', (chunk: Buffer) => this.#take(socket, chunk));
    socket.on('error', () => socket.destroy()).on('end', () => socket.destroy());
    socket.on('close', () => this.#closed(socket));
    this.#watch(socket);
  }

  #closed(socket: Socket): void {
    if (this.#isOver || socket !== this.#socket) return;
    if (this.#isStreaming) this.#options.note('no longer streams');
    this.#isStreaming = false;
    this.#options.program.schedule(AGAIN_MS, () => this.#connect());
  }

  /** A connection that is silent for too long is given up. */
  #watch(socket: Socket): void {
    const { program } = this.#options;
    program.schedule(STATUS_MS, () => {
      if (this.#isOver || socket.destroyed) return;
      this.report(true);
      if (program.now() - this.#heardAt > SILENCE_MS) socket.destroy();
      else this.#watch(socket);
    });
  }

  #take(socket: Socket, chunk: Buffer): void {
    if (this.#isOver || socket !== this.#socket) return;
    this.#heardAt = this.#options.program.now();
    this.#frames.add(chunk);
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) this.#read(socket, frame);
  }

  #read(socket: Socket, { type, body }: Frame): void {
    const { wal, systemIdentifier } = this.#options;
    if (type === 'Z') {
      const request: StreamRequest = { ...wal.reached(), systemIdentifier };
      socket.write(aQuery(JSON.stringify(request)));
    } else if (type === 'd') this.#receive(ownJson<StreamPart>(body.toString()));
    else if (type === 'E') this.#refused(body.toString().replaceAll('\0', ' '));
  }

  #receive({ timeline, forks, records }: StreamPart): void {
    const { wal, pool, note, onReceived } = this.#options;
    if (!this.#isStreaming) note(`streams timeline ${timeline} from ${wal.end()}`);
    this.#isStreaming = true;
    this.#why = undefined;
    wal.learnHistory(timeline, forks);
    for (const id of records) wal.receive(pool.get(id));
    this.report();
    if (records.length > 0) onReceived();
  }

  /** The same answer comes again and again. */
  #refused(why: string): void {
    if (why !== this.#why) this.#options.note(`cannot stream: ${why}`);
    this.#why = why;
  }
}
