// What the servers are configured with, in layers, later ones win: initdb's postgresql.conf, what suits a sandbox, the parameters
// given to start() and configure(), the upstream, and on the command line what the sandbox must own. Pure: values in, text out.
import type { Parameters, Upstream } from './server.ts';

export const BASE_FILE = 'sandbox.conf';
export const PARAMETERS_FILE = 'parameters.conf';
export const UPSTREAM_FILE = 'upstream.conf';

const BASE: Parameters = {
  shared_buffers: '32MB',
  fsync: 'off',
  // Files of the data directory; of the other kinds a killed server leaves segments that only its next start would remove.
  dynamic_shared_memory_type: 'mmap',
  // A base backup is copied while pages are being written.
  full_page_writes: 'on',
  max_wal_senders: '10',
  max_replication_slots: '10',
  wal_keep_size: '256MB',
  hot_standby_feedback: 'on',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '200ms',
  // A frozen peer is given up soon; a fast stop waits for a frozen standby as long as this.
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
};

/** Given to start() or configure() these have no effect: the sandbox would lose its server, its log or its replication. */
export const OWNED_PARAMETERS: readonly string[] = [
  'port',
  'listen_addresses',
  'unix_socket_directories',
  'cluster_name',
  'data_directory',
  'config_file',
  'hba_file',
  'ident_file',
  'external_pid_file',
  'primary_conninfo',
  'wal_level',
  'hot_standby',
  'logging_collector',
  'log_destination',
  'dynamic_shared_memory_type',
];

/** One value for all members, and PostgreSQL's own where nobody gives one (management API). */
export const CLUSTER_WIDE_DEFAULTS: Parameters = {
  max_connections: '100',
  max_prepared_transactions: '0',
  max_locks_per_transaction: '64',
  max_wal_senders: '10',
  max_worker_processes: '8',
};

/** At the end of initdb's file, where the last setting of a name wins. */
export const INCLUDES = [BASE_FILE, PARAMETERS_FILE, UPSTREAM_FILE].map((file) => `include '${file}'\n`).join('');

/** Every method by password, so that a sandbox on a shared machine is nobody else's; from this machine only. */
export const HBA = [
  'host all all 127.0.0.1/32 scram-sha-256',
  'host replication all 127.0.0.1/32 scram-sha-256',
  '',
].join('\n');

export function baseText(): string {
  return settingsText(BASE);
}

/** Leaves out what the sandbox owns and what can be no parameter's name, which would spoil the file for the rest. */
export function parametersText(parameters: Parameters): string {
  const usable = Object.entries(parameters).filter(
    ([name]) => /^[a-z_][\w$]*(\.[a-z_][\w$]*)*$/i.test(name) && !OWNED_PARAMETERS.includes(name.toLowerCase()),
  );
  return settingsText(Object.fromEntries(usable));
}

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export function upstreamText(upstream: Upstream | undefined, { user, password }: Credentials): string {
  if (upstream === undefined) return settingsText({ primary_conninfo: '' });
  const options = { host: upstream.host, port: upstream.port, user, password, sslmode: 'disable', connect_timeout: 2 };
  const conninfo = Object.entries(options).map(([name, value]) => `${name}=${conninfoValue(String(value))}`);
  return settingsText({ primary_conninfo: conninfo.join(' ') });
}

/** What cannot be overruled by any file, ALTER SYSTEM included. cluster_name becomes the WAL receiver's application_name. */
export function ownedArguments(dataDirectory: string, name: string, host: string, port: number): readonly string[] {
  const owned = {
    listen_addresses: host,
    port: String(port),
    unix_socket_directories: '',
    cluster_name: name,
    wal_level: 'logical',
    hot_standby: 'on',
    logging_collector: 'off',
    log_destination: 'stderr',
  };
  return ['-D', dataDirectory, ...Object.entries(owned).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
}

/** No file of a server's own overrules the command line; a change of the file still becomes a pending restart. */
export function clusterWideArguments(parameters: Parameters): readonly string[] {
  return Object.entries(parameters)
    .filter(([name]) => Object.hasOwn(CLUSTER_WIDE_DEFAULTS, name.toLowerCase()))
    .flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function settingsText(settings: Parameters): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${settingValue(value)}\n`)
    .join('');
}

/** A quoted value of the configuration file knows backslash escapes and doubled quotes. */
function settingValue(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`;
}

function conninfoValue(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
