// The choices of a test about its cluster, and the roles that may log in to it.
import { APP_PASSWORD, REPLICATION_PASSWORD, SUPERUSER_PASSWORD } from '../values/canaries.ts';

export type ClusterOptions = {
  /** pg-1 … pg-n; 3 unless told. */
  readonly members?: number;
  readonly maximumLagOnFailoverBytes?: number;
  readonly failsafeMode?: boolean;
  readonly synchronousMode?: boolean;
  /** Further PostgreSQL parameters of every member. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  /** Commands of every member, on Patroni, by what they are called for: `on_role_change`. */
  readonly callbacks?: Readonly<Record<string, string>>;
  /** Patroni then wants them for every request that is not safe. */
  readonly apiAuthentication?: ApiAuthentication;
  /** Each member's processes have a group of their own, by which packet filters tell members apart. Needs root. */
  readonly hostGroups?: boolean;
  /** Members take TLS alone, from each other too, and so does Pointsman in front of them. Without it there is none. */
  readonly tls?: boolean;
  /** Its API speaks https, and the members and this harness show it the same certificate as their own. */
  readonly apiTls?: ApiTls;
};

export type ApiAuthentication = { readonly username: string; readonly password: string };

/** How node-postgres verifies a server; `caFile` is for other programs. */
export type ServerTls = { readonly ca: string; readonly caFile: string; readonly servername: string };

/** As `restapi` in patroni.yml. Paths of files that every account can read. */
export type ApiTls = {
  readonly certfile: string;
  readonly keyfile: string;
  readonly cafile: string;
  readonly verify_client: 'optional' | 'required';
};

export type Credentials = {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Absent: in plain text. */
  readonly ssl?: ServerTls;
};

export const SUPERUSER: Credentials = { user: 'postgres', password: SUPERUSER_PASSWORD, database: 'postgres' };
export const APP: Credentials = { user: 'app', password: APP_PASSWORD, database: 'app' };
export const REPLICATION = { user: 'replicator', password: REPLICATION_PASSWORD };

/** The least times that Patroni accepts; rule: loop_wait + 2 × retry_timeout ≤ ttl. */
export const TTL_S = 20;
const LOOP_WAIT_S = 1;
const RETRY_TIMEOUT_S = 3;

const PARAMETERS = {
  max_connections: 200,
  max_wal_senders: 16,
  max_replication_slots: 16,
  wal_level: 'logical',
  hot_standby_feedback: true,
  wal_keep_size: '128MB',
  wal_receiver_status_interval: '1s',
  // The default of 5 s would make "streams from the new primary" a matter of luck.
  wal_retrieve_retry_interval: '500ms',
  shared_buffers: '32MB',
  // For speed. Safe here: no test crashes the operating system.
  fsync: false,
  // Inside the data directory, so that a killed postmaster leaves nothing in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
};

/** The dynamic configuration that the first leader writes to etcd; patchConfig() changes it later. */
export function dynamicConfig(options: ClusterOptions): Record<string, unknown> {
  return {
    ttl: TTL_S,
    loop_wait: LOOP_WAIT_S,
    retry_timeout: RETRY_TIMEOUT_S,
    maximum_lag_on_failover: options.maximumLagOnFailoverBytes ?? 1_048_576,
    failsafe_mode: options.failsafeMode ?? false,
    synchronous_mode: options.synchronousMode ?? false,
    postgresql: { use_pg_rewind: true, use_slots: true, parameters: { ...PARAMETERS, ...options.parameters } },
  };
}
