// A simulated PostgreSQL server on one port of a host: starting, recovering, streaming, promoted, stopping, crashed.
// Its log, its database and its sessions. Everything that it does for clients goes into the ledger.
import type { Host } from '../world/world.ts';
import type { Random } from '../world/random.ts';
import { Database, databaseOf } from './database.ts';
import type { Ledger } from './ledger.ts';
import { Program } from './program.ts';
import { Service, type ServiceHost } from './service.ts';
import type { ServerSession } from './session.ts';
import { WalReceiver, type Upstream } from './wal-receiver.ts';
import type { WalSender } from './wal-sender.ts';
import { FIRST_POSITION, Wal, type WalPool } from './wal.ts';

export type ServerState = 'stopped' | 'starting' | 'standby' | 'promoting' | 'primary' | 'stopping' | 'crashed';

export interface ServerOptions {
  /** The name of the member. */
  readonly name: string;
  readonly host: Host;
  readonly port: number;
  readonly version: string;
  readonly systemIdentifier: string;
  readonly maxConnections: number;
  readonly pool: WalPool;
  readonly ledger: Ledger;
  readonly random: Random;
  /** The true time. */
  readonly now: () => number;
  readonly note: (line: string) => void;
}

/** Times that a test may change. Milliseconds. */
export interface ServerPace {
  /** From the start until it takes connections. */
  startMs: number;
  promotionMs: number;
  /** On a standby, between receiving a record and showing it. */
  replayMs: number;
  flushMs: number;
}

export class PostgresServer implements ServiceHost {
  readonly name: string;
  readonly host: Host;
  readonly port: number;
  readonly systemIdentifier: string;
  readonly wal: Wal;
  readonly options: ServerOptions;
  /** The settings that its file has. A session begins with them. */
  readonly file = new Map<string, string>();
  readonly pace: ServerPace = { startMs: 300, promotionMs: 150, replayMs: 1, flushMs: 1 };
  maxConnections: number;
  /** The standbys that a commit waits for: one of them must have it. Empty: none. */
  #synchronous: readonly string[] = [];
  #program: Program;
  #state: ServerState = 'stopped';
  #database = new Database();
  #replayed = FIRST_POSITION;
  #isReplayPaused = false;
  #recovered: number | undefined;
  #wasStoppedInOrder = true;
  /** Also while it stops. */
  #isPrimary = false;
  /** The true time. */
  startedAt = 0;
  #startedAtWall = 0;
  /** Undefined while it is down. */
  #service: Service | undefined;
  #receiver: WalReceiver | undefined;
  #upstream: Upstream | undefined;
  /** For the end of the start, or of the stop. */
  readonly #awaiting = new Set<() => void>();

  constructor(options: ServerOptions) {
    this.options = options;
    this.name = options.name;
    this.host = options.host;
    this.port = options.port;
    this.maxConnections = options.maxConnections;
    this.systemIdentifier = options.systemIdentifier;
    this.wal = new Wal(options.pool);
    this.#program = new Program(options.host.clock);
  }

  state(): ServerState {
    return this.#state;
  }

  /** The start of the postmaster, in milliseconds since the epoch, by the host's clock. */
  startedAtWall(): number {
    return this.#startedAtWall;
  }

  isFrozen(): boolean {
    return this.#program.isStopped();
  }

  isInRecovery(): boolean {
    return !this.#isPrimary;
  }

  database(): Database {
    return this.#database;
  }

  timeline(): number {
    if (!this.isInRecovery()) return this.wal.timeline();
    return this.wal.reached().timeline;
  }

  /** The end of a primary's log; the end of what a standby has replayed. */
  position(): number {
    return this.isInRecovery() ? this.#replayed : this.wal.end();
  }

  recovered(): number | undefined {
    return this.#recovered;
  }

  isStreaming(): boolean {
    return this.#receiver?.isStreaming() === true;
  }

  /** Why the server that it follows sends nothing, in its words. Undefined: it does, or has not been reached. */
  streamRefusal(): string | undefined {
    return this.#receiver?.refusal();
  }

  isReplayPaused(): boolean {
    return this.#isReplayPaused;
  }

  /** The standby has all that is on disk here. */
  hasAll(standby: string): boolean {
    return this.standbys().some((sender) => sender.standby === standby && sender.flushed() >= this.wal.flushed());
  }

  /** The standbys that stream from here. */
  standbys(): readonly WalSender[] {
    return this.#service?.standbys() ?? [];
  }

  sessions(): readonly ServerSession[] {
    return this.#service?.sessions() ?? [];
  }

  /** The process of the postmaster begins. `asPrimary`: without standby.signal. */
  start(asPrimary: boolean, onStarted: () => void = () => {}): void {
    if (this.#state !== 'stopped' && this.#state !== 'crashed') throw new Error(`${this.name} runs already`);
    this.#program = new Program(this.host.clock);
    this.#program.onStop((isStopped) => this.#receiver?.hold(isStopped));
    this.#state = 'starting';
    this.startedAt = this.options.now();
    this.#startedAtWall = this.host.wallClock();
    this.#service = new Service(this, this.#program);
    this.options.note(`${this.name}: PostgreSQL starts as ${asPrimary ? 'the primary' : 'a standby'}`);
    const done = this.#once(onStarted);
    const isCrashRecovery = !this.#wasStoppedInOrder;
    this.#wasStoppedInOrder = false;
    this.#program.schedule(this.pace.startMs, () => {
      if (this.#state !== 'starting') return;
      this.#database = databaseOf(this.wal.records());
      this.#replayed = this.wal.end();
      this.#recovered = isCrashRecovery && asPrimary ? this.#replayed : undefined;
      if (asPrimary) this.#becomePrimary();
      else this.#becomeStandby();
      done();
    });
  }

  /** A standby streams from there. Undefined: from nowhere. */
  follow(upstream: Upstream | undefined): void {
    if (this.#upstream?.address === upstream?.address && this.#upstream?.port === upstream?.port) return;
    this.#upstream = upstream;
    if (this.#state === 'standby') this.#stream();
  }

  /** pg_promote(). `highest`: of all timelines that the member knows. */
  promote(highest: number, onPromoted: () => void): void {
    if (this.#state !== 'standby') return;
    this.#state = 'promoting';
    this.#receiver?.stop();
    this.#receiver = undefined;
    this.#upstream = undefined;
    this.#program.schedule(this.pace.promotionMs, () => {
      if (this.#state !== 'promoting') return;
      this.#replayTo(this.wal.end());
      this.#recovered = this.wal.end();
      this.#database.endRunning();
      this.wal.promote(this.host.wallClock(), this.name, highest);
      this.options.ledger.promotions.push({
        server: this.name,
        timeline: this.wal.timeline(),
        position: this.#recovered,
        at: this.options.now(),
      });
      this.options.note(`${this.name}: is promoted to timeline ${this.wal.timeline()} at ${this.#recovered}`);
      this.#becomePrimary();
      onPromoted();
    });
  }

  /** A fast shutdown: ends all sessions, then sends the standbys all there is. */
  stop(onStopped: () => void = () => {}): void {
    if (this.#state === 'stopped' || this.#state === 'crashed') return onStopped();
    this.#once(onStopped);
    if (this.#state === 'stopping') return undefined;
    const wasPrimary = this.#state === 'primary';
    this.options.note(`${this.name}: PostgreSQL stops`);
    this.#state = 'stopping';
    const service = this.#service;
    service?.endSessions();
    this.#receiver?.stop();
    this.#program.schedule(this.options.random.between(20, 200), () => {
      if (wasPrimary) this.wal.append({ kind: 'checkpoint', isShutdown: true });
      this.wal.flush();
      service?.flush();
      service?.awaitStandbys(wasPrimary ? this.wal.end() : 0, () => {
        this.#wasStoppedInOrder = true;
        this.#over('stopped');
      });
    });
    return undefined;
  }

  /** kill -9 of all of its processes, or of the machine: nothing is said. */
  kill(): void {
    if (this.#state === 'stopped' || this.#state === 'crashed') return;
    this.options.note(`${this.name}: PostgreSQL is killed`);
    this.#service?.killSessions();
    this.#over('crashed');
  }

  /** One process crashes: all sessions end, and the server recovers by itself. */
  crashBackend(): void {
    if (this.#state !== 'primary' && this.#state !== 'standby') return;
    this.options.note(`${this.name}: a process of PostgreSQL crashes`);
    const asPrimary = this.#state === 'primary';
    this.#service?.crashSessions();
    const { startedAtWall, upstream } = { startedAtWall: this.#startedAtWall, upstream: this.#upstream };
    this.#over('crashed');
    this.start(asPrimary);
    // The postmaster is the same.
    this.#startedAtWall = startedAtWall;
    this.follow(upstream);
  }

  /** The network resets the connection of one session in the middle of its next answer. `choice`: any number. */
  tearSession(choice: number): void {
    this.#service?.tearSession(choice);
  }

  /** SIGSTOP to all of its processes. */
  freeze(): void {
    if (this.#state === 'stopped' || this.#state === 'crashed') return;
    this.options.note(`${this.name}: PostgreSQL is frozen`);
    this.#program.stop();
  }

  thaw(): void {
    if (!this.#program.isStopped()) return;
    this.options.note(`${this.name}: PostgreSQL goes on`);
    this.#program.goOn();
  }

  /** Replay stands still, or goes on: receiving goes on in any case. */
  pauseReplay(isPaused: boolean): void {
    this.#isReplayPaused = isPaused;
    if (!isPaused && this.#state === 'standby') this.#replayTo(this.wal.end());
  }

  /** pg_rewind, or a base backup: the server must not run. */
  copyFrom(other: PostgresServer): void {
    if (this.#state !== 'stopped' && this.#state !== 'crashed') throw new Error(`${this.name} runs`);
    this.wal.copy(other.wal);
    this.#wasStoppedInOrder = true;
    this.#state = 'stopped';
  }

  /** synchronous_standby_names. */
  requireStandbys(names: readonly string[]): void {
    this.#synchronous = names;
    this.#service?.lookAtCommits();
  }

  synchronousStandbys(): readonly string[] {
    return this.#synchronous;
  }

  // Within

  #becomePrimary(): void {
    this.#state = 'primary';
    this.#isPrimary = true;
    this.#database.endRunning();
    this.options.note(`${this.name}: takes writes on timeline ${this.wal.timeline()}`);
  }

  #becomeStandby(): void {
    this.#state = 'standby';
    this.options.note(`${this.name}: is a standby at ${this.wal.end()} of timeline ${this.wal.reached().timeline}`);
    this.#stream();
  }

  #stream(): void {
    this.#receiver?.stop();
    this.#receiver = undefined;
    if (this.#upstream === undefined) return;
    this.#receiver = new WalReceiver({
      standby: this.name,
      systemIdentifier: this.systemIdentifier,
      host: this.host,
      program: this.#program,
      pool: this.options.pool,
      upstream: this.#upstream,
      wal: this.wal,
      replayed: () => this.#replayed,
      onReceived: () => this.#replaySoon(),
      note: (line) => this.options.note(`${this.name}: ${line}`),
    });
  }

  #replaySoon(): void {
    const end = this.wal.end();
    this.#program.schedule(this.pace.replayMs, () => {
      if (!this.#isReplayPaused && this.#state === 'standby') this.#replayTo(end);
    });
  }

  #replayTo(end: number): void {
    for (const record of this.wal.from(this.#replayed)) {
      if (record.end > end) break;
      this.#database.apply(record);
      this.#replayed = record.end;
    }
    this.#receiver?.report();
  }

  /** Its end is the end of the wait as well. */
  #once(run: () => void): () => void {
    const once = (): void => {
      if (this.#awaiting.delete(once)) run();
    };
    this.#awaiting.add(once);
    return once;
  }

  #over(state: 'stopped' | 'crashed'): void {
    this.#program.end();
    this.#service?.end();
    this.#service = undefined;
    this.#receiver?.stop();
    this.#receiver = undefined;
    if (state === 'crashed') this.wal.crash();
    this.#isPrimary = false;
    this.#state = state;
    for (const once of this.#awaiting) once();
  }
}
