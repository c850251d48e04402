// A member's patroni.yml as text.
import { stringify } from 'yaml';
import type { Tags } from './documents.ts';
import type { SiteTls } from './site-tls.ts';
import { type ApiAuthentication, type ApiTls, REPLICATION, SUPERUSER } from './settings.ts';

export type PatroniConfigInput = {
  readonly scope: string;
  readonly name: string;
  /** Under which the others reach it. */
  readonly host: string;
  /** Unless it is `host`. */
  readonly listenHost?: string;
  /** The network of the clients, as pg_hba writes it; loopback unless told. */
  readonly clients?: string;
  readonly apiPort: number;
  readonly port: number;
  readonly etcd: string;
  readonly home: string;
  readonly dataDir: string;
  readonly postgresBinDir: string;
  readonly dynamic: Readonly<Record<string, unknown>>;
  readonly callbacks: Readonly<Record<string, string>>;
  readonly apiAuthentication?: ApiAuthentication | undefined;
  /** Undefined: no TLS. */
  readonly tls?: SiteTls | undefined;
  readonly apiTls?: ApiTls | undefined;
  readonly tags: Tags;
};

export function patroniYml(input: PatroniConfigInput): string {
  const { host, listenHost = host, clients = '127.0.0.0/8', tls } = input;
  const verified = tls && { sslmode: 'verify-ca', sslrootcert: tls.trust.caFile };
  const replication = { username: REPLICATION.user, password: REPLICATION.password, ...verified };
  const superuser = { username: SUPERUSER.user, password: SUPERUSER.password, ...verified };
  const type = tls === undefined ? 'host' : 'hostssl';
  return stringify({
    scope: input.scope,
    name: input.name,
    restapi: {
      listen: `${listenHost}:${input.apiPort}`,
      connect_address: `${host}:${input.apiPort}`,
      ...(input.apiAuthentication && { authentication: input.apiAuthentication }),
      ...input.apiTls,
    },
    etcd3: { hosts: input.etcd },
    bootstrap: {
      dcs: input.dynamic,
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'no-sync', 'no-instructions'],
    },
    postgresql: {
      listen: `${listenHost}:${input.port}`,
      connect_address: `${host}:${input.port}`,
      bin_dir: input.postgresBinDir,
      data_dir: input.dataDir,
      pgpass: `${input.home}/pgpass`,
      authentication: { superuser, replication, rewind: superuser },
      // No Unix socket: its path would be too long in some temporary directories.
      parameters: {
        unix_socket_directories: '',
        log_checkpoints: false,
        ...(tls && { ssl: 'on', ssl_cert_file: tls.server.cert, ssl_key_file: tls.server.key }),
      },
      pg_hba: [`${type} replication all ${clients} scram-sha-256`, `${type} all all ${clients} scram-sha-256`],
      callbacks: input.callbacks,
      basebackup: [{ checkpoint: 'fast' }, 'no-sync', 'no-manifest'],
      // So that a killed leader always comes back, whatever it had written alone.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
    watchdog: { mode: 'off' },
    tags: input.tags,
  });
}
