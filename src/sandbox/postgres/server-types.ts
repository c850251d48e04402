// The role and the parameters of a server, and how its start ends.

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
