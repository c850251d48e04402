// One real PostgreSQL server of the sandbox, as its manager sees it: started, stopped, promoted, asked, and broken on purpose.

/** Where a standby streams from. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
}

/** `standby` without an upstream recovers what it has and waits. */
export type ServerRole =
  | { readonly kind: 'primary' }
  | { readonly kind: 'standby'; readonly upstream: Upstream | undefined };

/** Parameter name to value, as PostgreSQL's configuration file has them. */
export type Parameters = Readonly<Record<string, string>>;

export type StartOutcome =
  | { readonly kind: 'started' }
  | {
      readonly kind: 'failed';
      /**
       * `insufficient_parameters`: a standby whose max_connections or one of its four kin is lower than the primary's (PostgreSQL, "Hot
       * Standby", Administrator's Overview) ends itself; `exited`: any other end; `timeout`: it lives but does not take connections.
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
  /** True from the moment the postmaster was started until its process has ended, frozen included. */
  isAlive(): boolean;
  /** Resolves when it takes connections (read-only ones for a standby) or has failed. Rejects when it is alive already. */
  start(role: ServerRole, parameters: Parameters, timeoutMs?: number): Promise<StartOutcome>;
  /** Smart is not offered: `fast` ends sessions and writes a checkpoint that the standbys receive, `immediate` does neither. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** `pg_ctl promote`; resolves when it takes writes, rejects when it does not within the deadline. */
  promote(): Promise<void>;
  /** Writes the parameters and, when it runs, has them reread; those that need a restart stay pending. */
  configure(parameters: Parameters): Promise<void>;
  /** Streams from somebody else from now on, without a restart. */
  follow(upstream: Upstream | undefined): Promise<void>;
  /** The data directory is thrown away and made again by a base backup of a running server. Only while this one is not alive. */
  rebuildFrom(source: PostgresServer): Promise<void>;
  /** One statement as superuser on a connection of its own kind; rejects after the deadline (default 2 000 ms) or on an error. */
  query<Row extends object>(
    statement: string,
    values?: readonly unknown[],
    timeoutMs?: number,
  ): Promise<readonly Row[]>;
  /** SIGKILL for the postmaster and every process below it: what the death of the host leaves. Resolves when all are gone. */
  kill(): Promise<void>;
  /** SIGSTOP for all of them, and SIGCONT. Idempotent. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Called once per end of the postmaster, whatever the cause. Returns how to stop listening. */
  onExit(listener: () => void): () => void;
  /** Ends the server if it lives, at once, and forgets its connections. Idempotent. */
  close(): Promise<void>;
}
