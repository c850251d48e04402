// One run of a simulated server as others see it: the door, the processes of its clients, the streams to its standbys,
// and the commits that are under way.
import type { Socket } from 'node:net';
import { Backend, type BackendHost } from './backend.ts';
import { Commits } from './commits.ts';
import type { Database } from './database.ts';
import { Entrance, type Admission } from './entrance.ts';
import type { Execution } from './ledger.ts';
import type { Program } from './program.ts';
import type { ServerOptions, ServerPace, ServerState } from './server.ts';
import type { ServerSession, Transaction } from './session.ts';
import type { Interruption, Work } from './wait.ts';
import { WalSender } from './wal-sender.ts';
import type { Change, Wal, WalRecord } from './wal.ts';

/** The server, for its run. */
export interface ServiceHost {
  readonly options: ServerOptions;
  readonly file: ReadonlyMap<string, string>;
  readonly pace: ServerPace;
  readonly maxConnections: number;
  readonly wal: Wal;
  readonly startedAt: number;
  state(): ServerState;
  isInRecovery(): boolean;
  database(): Database;
  timeline(): number;
  position(): number;
  recovered(): number | undefined;
  synchronousStandbys(): readonly string[];
}

/** WAL that no commit waits for is on disk after this time. Milliseconds. */
const WAL_WRITER_MS = 200;
const ANY_STANDBY = '*';

export class Service implements BackendHost {
  readonly version: string;
  readonly secret: number;
  readonly #server: ServiceHost;
  readonly #program: Program;
  readonly #entrance: Entrance;
  readonly #commits: Commits;
  readonly #backends = new Set<Backend>();
  readonly #senders = new Set<WalSender>();
  #isFlushDue = false;

  constructor(server: ServiceHost, program: Program) {
    this.#server = server;
    this.#program = program;
    this.version = server.options.version;
    this.secret = 7_000_000 + server.options.random.int(1_000_000);
    this.#entrance = new Entrance(server.options, program, (admission) => this.#admit(admission));
    this.#commits = new Commits({
      flushSoon: (done) => {
        program.schedule(server.pace.flushMs, () => {
          this.flush();
          done();
        });
      },
      isReplicated: (record) => this.#isReplicated(record),
      complete: (record, { executions }, isLocalOnly) => {
        server.database().apply(record);
        for (const execution of executions) {
          execution.committedAt = server.options.now();
          execution.isLocalOnly = isLocalOnly;
        }
      },
    });
    program.onStop((isStopped) => {
      for (const one of [...this.#backends, ...this.#senders]) one.hold(isStopped);
    });
  }

  get file(): ReadonlyMap<string, string> {
    return this.#server.file;
  }

  sessions(): readonly ServerSession[] {
    return [...this.#backends].map(({ session }) => session);
  }

  /** The standbys that stream from here. */
  standbys(): readonly WalSender[] {
    return [...this.#senders].filter((sender) => sender.isStreaming());
  }

  /** All that was written is on disk, and goes to the standbys. */
  flush(): void {
    if (this.isInRecovery()) return;
    this.#server.wal.flush();
    for (const sender of this.#senders) sender.send();
  }

  /** Other standbys are needed than before. */
  lookAtCommits(): void {
    this.#commits.look();
  }

  /** A fast shutdown. */
  endSessions(): void {
    for (const backend of this.#backends) {
      backend.terminate('57P01', 'terminating connection due to administrator command');
    }
  }

  /** A process has crashed, and the others may have been damaged. */
  crashSessions(): void {
    for (const backend of this.#backends) {
      backend.quickDie('57P02', 'terminating connection because of crash of another server process');
    }
  }

  tearSession(choice: number): void {
    const backends = [...this.#backends];
    backends[choice % backends.length]?.tear();
  }

  killSessions(): void {
    for (const backend of this.#backends) backend.kill();
  }

  /** A shutdown waits until connected standbys have everything, within limits. */
  awaitStandbys(end: number, done: () => void, triesLeft = 40): void {
    const isBehind = this.standbys().some((sender) => sender.flushed() < end);
    if (!isBehind || triesLeft === 0) return done();
    this.#program.schedule(50, () => this.awaitStandbys(end, done, triesLeft - 1));
    return undefined;
  }

  end(): void {
    this.#entrance.close();
    for (const sender of this.#senders) sender.end();
    this.#senders.clear();
    this.#backends.clear();
    this.#commits.forget();
  }

  // For the processes

  isInRecovery(): boolean {
    return this.#server.isInRecovery();
  }

  database(): Database {
    return this.#server.database();
  }

  timeline(): number {
    return this.#server.timeline();
  }

  position(): number {
    return this.#server.position();
  }

  recovered(): number | undefined {
    return this.#server.recovered();
  }

  executes(session: ServerSession, sql: string, change: Change | undefined): Execution {
    const { options, startedAt } = this.#server;
    const { client, process } = session;
    return options.ledger.add({
      server: options.name,
      startedAt,
      client,
      process,
      at: options.now(),
      timeline: this.timeline(),
      isInRecovery: this.isInRecovery(),
      sql,
      change,
    });
  }

  writes(xid: number, change: Change): void {
    this.#server.wal.append({ kind: 'change', xid, change });
    this.#flushLater();
  }

  *commit(transaction: Transaction, isDurable: boolean): Work {
    const { xid, changes, executions } = transaction;
    const record = this.#server.wal.append({ kind: 'commit', xid, changes: [...changes] });
    for (const execution of executions) {
      execution.record = record;
      execution.isDurable = isDurable;
    }
    this.#flushLater();
    yield* this.#commits.commit(record, transaction, isDurable);
  }

  abort(xid: number): void {
    if (this.isInRecovery()) return;
    this.database().apply(this.#server.wal.append({ kind: 'abort', xid }));
    this.#flushLater();
  }

  *sleep(ms: number): Work<Interruption> {
    return yield { for: 'time', begin: (resume) => this.#program.schedule(ms, resume) };
  }

  confirms(session: ServerSession): void {
    for (const execution of session.unconfirmed) execution.confirmedAt = this.#server.options.now();
    session.unconfirmed = [];
  }

  ended(backend: Backend): void {
    this.#backends.delete(backend);
  }

  // Within

  /** The WAL writer. */
  #flushLater(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#program.schedule(WAL_WRITER_MS, () => {
      this.#isFlushDue = false;
      this.flush();
    });
  }

  #isReplicated({ end }: WalRecord): boolean {
    const needed = this.#server.synchronousStandbys();
    if (needed.length === 0) return true;
    const isNeeded = (standby: string): boolean => needed.includes(ANY_STANDBY) || needed.includes(standby);
    return this.standbys().some((sender) => isNeeded(sender.standby) && sender.flushed() >= end);
  }

  #admit({ kind, socket, frames, startup, process }: Admission): void {
    if (kind === 'cancel') {
      const backend = [...this.#backends].find(({ session }) => session.process === process.number);
      if (process.secret === this.secret) backend?.cancel();
      return;
    }
    const refusal = this.#refusal();
    if (refusal !== undefined) return Entrance.refuse(socket, ...refusal);
    if (startup.has('replication')) return this.#serveStandby(socket, startup.get('application_name') ?? '', frames);
    const backend = new Backend(this, socket, frames, startup, process.number);
    this.#backends.add(backend);
    socket.on('data', (chunk: Buffer) => backend.take(chunk));
    const hangUp = (): void => backend.hangUp();
    socket.on('end', hangUp).on('error', hangUp).on('close', hangUp);
    return backend.welcome();
  }

  #refusal(): readonly [string, string] | undefined {
    const state = this.#server.state();
    if (state === 'starting') return ['57P03', 'the database system is starting up'];
    if (state === 'stopping') return ['57P03', 'the database system is shutting down'];
    if (this.#backends.size >= this.#server.maxConnections) return ['53300', 'sorry, too many clients already'];
    return undefined;
  }

  #serveStandby(socket: Socket, standby: string, frames: Admission['frames']): void {
    const { wal, options } = this.#server;
    const sender = new WalSender({
      standby,
      socket,
      frames,
      wal,
      systemIdentifier: options.systemIdentifier,
      isInRecovery: () => this.isInRecovery(),
      now: options.now,
      onProgress: () => this.#commits.look(),
      onEnd: () => {
        this.#senders.delete(sender);
      },
    });
    this.#senders.add(sender);
  }
}
