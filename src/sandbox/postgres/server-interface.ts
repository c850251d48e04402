// One real PostgreSQL server of the sandbox, as its manager uses it: start, stop, promote, query, and faults on
// purpose.

/** The server that a standby streams from. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
}

/** A `standby` without an upstream recovers its own WAL and waits. */
export type ServerRole =
  | { readonly kind: 'primary' }
  | { readonly kind: 'standby'; readonly upstream: Upstream | undefined };

/**
 * A server that recovers the WAL it has, becomes a primary on a timeline of its own, and accepts connections only then.
 * `timeline`: the one of its last WAL.
 */
export interface RecoveryRole {
  readonly kind: 'recovery';
  readonly timeline: number;
}

/** Parameter names and values, as in PostgreSQL's configuration file. */
export type Parameters = Readonly<Record<string, string>>;

export type StartOutcome =
  | { readonly kind: 'started' }
  | {
      readonly kind: 'failed';
      /**
       * `insufficient_parameters`: a standby ends itself when max_connections or one of four similar parameters is
       * lower than on the primary (PostgreSQL, "Hot Standby", Administrator's Overview). `exited`: any other end.
       * `timeout`: it runs but does not accept connections.
       */
      readonly reason: 'insufficient_parameters' | 'exited' | 'timeout';
      /** The last lines of the server's log. */
      readonly log: string;
    };

export interface PostgresServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  /** True from the start of the postmaster until its process has ended, also while it is frozen. */
  isAlive(): boolean;
  /**
   * Resolves when it accepts connections (read-only ones for a standby) or has failed. Rejects when it runs already.
   */
  start(role: ServerRole, parameters: Parameters, timeoutMs?: number): Promise<StartOutcome>;
  /**
   * `fast` ends sessions and writes a checkpoint that the standbys receive, `immediate` does neither. Smart is not
   * offered.
   */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** `pg_ctl promote`. Resolves when it accepts writes, rejects when it does not within the deadline. */
  promote(): Promise<void>;
  /** Writes the parameters and, when the server runs, reloads them. Those that need a restart stay pending. */
  configure(parameters: Parameters): Promise<void>;
  /** Streams from another server from now on, without a restart. */
  follow(upstream: Upstream | undefined): Promise<void>;
  /**
   * Deletes the data directory and makes it again by a base backup of a running server. Only while this server is not
   * running.
   */
  rebuildFrom(source: PostgresServer): Promise<void>;
  /**
   * One statement as superuser, on a connection kept for that purpose. Rejects after the deadline (default 2 000 ms) or
   * on an error.
   */
  query<Row extends object>(
    statement: string,
    values?: readonly unknown[],
    timeoutMs?: number,
  ): Promise<readonly Row[]>;
  /** SIGKILL for the postmaster and every process below it, like the death of the host. Resolves when all are gone. */
  kill(): Promise<void>;
  /** Other servers no longer stream from this one, or may again. Ends the streams that there are. */
  cutStreams(isCut: boolean): Promise<void>;
  /** As a standby it applies WAL so much later. 0: at once. */
  delayReplay(ms: number): Promise<void>;
  /** SIGSTOP and SIGCONT for all of them. Idempotent. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Called once for each end of the postmaster, whatever the cause. Returns a function that stops listening. */
  onExit(listener: () => void): () => void;
  /** Ends the server at once if it runs, and closes its connections. Idempotent. */
  close(): Promise<void>;
}
