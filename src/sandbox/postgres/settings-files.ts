// The configuration of the servers in layers; later ones win: initdb's postgresql.conf, settings that suit a sandbox,
// the parameters given to start() and configure(), the upstream, and on the command line the settings that the sandbox
// must control. Pure: values in, text out.
import type { Parameters, RecoveryRole, ServerRole, Upstream } from './server-types.ts';

export const BASE_FILE = 'sandbox.conf';
export const PARAMETERS_FILE = 'parameters.conf';
export const UPSTREAM_FILE = 'upstream.conf';

const BASE: Parameters = {
  shared_buffers: '32MB',
  fsync: 'off',
  // Files in the data directory. The other kinds leave segments behind a killed server that only its next start
  // removes.
  dynamic_shared_memory_type: 'mmap',
  // A base backup copies pages while they are being written.
  full_page_writes: 'on',
  max_wal_senders: '10',
  max_replication_slots: '10',
  wal_keep_size: '256MB',
  hot_standby_feedback: 'on',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '200ms',
  // A frozen peer is given up soon. A fast stop waits this long for a frozen standby.
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
};

/**
 * These have no effect in start() and configure(): otherwise the sandbox could lose its server, its log or its
 * replication.
 */
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
  'recovery_min_apply_delay',
  'wal_level',
  'hot_standby',
  'logging_collector',
  'log_destination',
  'dynamic_shared_memory_type',
];

/** One value for all members; PostgreSQL's default where none is given (management API). */
export const CLUSTER_WIDE_DEFAULTS: Parameters = {
  max_connections: '100',
  max_prepared_transactions: '0',
  max_locks_per_transaction: '64',
  max_wal_senders: '10',
  max_worker_processes: '8',
};

/** At the end of initdb's file, because the last setting of a name wins. */
export const INCLUDES = [BASE_FILE, PARAMETERS_FILE, UPSTREAM_FILE].map((file) => `include '${file}'\n`).join('');

/**
 * Every method needs a password, so that other users of a shared machine have no access. From this machine only.
 * `isCut`: no server streams from this one. `hasTls`: nobody connects without it.
 */
export function hbaText(isCut: boolean, hasTls: boolean): string {
  const type = hasTls ? 'hostssl' : 'host';
  const line = (database: string, method: string): string => `${type} ${database} all 127.0.0.1/32 ${method}\n`;
  const cut = isCut ? line('replication', 'reject') : '';
  return `${cut}${line('all', 'scram-sha-256')}${line('replication', 'scram-sha-256')}`;
}

export function baseText(): string {
  return settingsText(BASE);
}

/** Leaves out the parameters that the sandbox controls, and invalid names, which would make the whole file unusable. */
export function parametersText(parameters: Parameters): string {
  const usable = Object.entries(parameters).filter(
    ([name]) => /^[a-z_][\w$]*(\.[a-z_][\w$]*)*$/i.test(name) && !OWNED_PARAMETERS.includes(name.toLowerCase()),
  );
  return settingsText(Object.fromEntries(usable));
}

/** How a role logs in to the servers of the sandbox. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** Undefined: the servers have no TLS. */
  readonly authority?: AuthorityFile | undefined;
}

/** Where a certificate and its key are. */
export interface PairFiles {
  readonly cert: string;
  readonly key: string;
}

export interface AuthorityFile {
  readonly file: string;
  /** Its content, in PEM. */
  readonly cert: string;
}

/** `delayMs`: WAL is applied so much later than it was written. */
export function upstreamText(upstream: Upstream | undefined, superuser: Credentials, delayMs = 0): string {
  const { user, password, authority } = superuser;
  const delay: Parameters = delayMs === 0 ? {} : { recovery_min_apply_delay: `${delayMs}ms` };
  if (upstream === undefined) return settingsText({ primary_conninfo: '', ...delay });
  // libpq before 15 does not find an address in a certificate, so its name is not compared.
  const tls = authority === undefined ? { sslmode: 'disable' } : { sslmode: 'verify-ca', sslrootcert: authority.file };
  const options = { host: upstream.host, port: upstream.port, user, password, ...tls, connect_timeout: 2 };
  const conninfo = Object.entries(options).map(([name, value]) => `${name}=${conninfoValue(String(value))}`);
  return settingsText({ primary_conninfo: conninfo.join(' '), ...delay });
}

/**
 * Settings that no file can override, ALTER SYSTEM included. cluster_name becomes the WAL receiver's application_name.
 */
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
  return ['-D', dataDirectory, ...settingArguments(owned)];
}

/** On the command line the last value of a setting wins. */
export function settingArguments(settings: Parameters): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/**
 * Every finished WAL file is kept in `directory`, which is relative to the data directory: a shell needs no quotes for
 * it. The file is a hard link, so the server must not use its files again for other WAL.
 */
export function archiveSettings(directory: string): Parameters {
  return {
    // Standbys too: a primary may die before it has kept its last file.
    archive_mode: 'always',
    archive_command: `test -f ${directory}/%f || ln %p ${directory}/%f`,
    wal_recycle: 'off',
  };
}

export function tlsSettings({ cert, key }: PairFiles): Parameters {
  return { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key };
}

/** For a recovery all WAL is in pg_wal, and nobody connects before its end. */
export function roleArguments(role: ServerRole | RecoveryRole): readonly string[] {
  if (role.kind !== 'recovery') return [];
  return settingArguments({
    restore_command: 'false',
    recovery_target_timeline: String(role.timeline),
    hot_standby: 'off',
  });
}

/** No file of a server overrides the command line. A change of the file still becomes a pending restart. */
export function clusterWideArguments(parameters: Parameters): readonly string[] {
  const clusterWide = Object.entries(parameters).filter(([name]) =>
    Object.hasOwn(CLUSTER_WIDE_DEFAULTS, name.toLowerCase()),
  );
  return settingArguments(Object.fromEntries(clusterWide));
}

function settingsText(settings: Parameters): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${settingValue(value)}\n`)
    .join('');
}

/** A quoted value of the configuration file may have backslash escapes and doubled quotes. */
function settingValue(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`;
}

function conninfoValue(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
