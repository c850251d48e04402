// Unix sockets, named as PostgreSQL names them: the host is a directory, and the port is in the name of the file.
import type { Address } from './member.ts';

/** The address of every client of a Unix socket, as in the log of PostgreSQL. */
export const LOCAL_CLIENT = '[local]';

export function isUnixSocket({ host }: Pick<Address, 'host'>): boolean {
  return host.startsWith('/');
}

/** libpq finds it by `host=/run/pointsman port=6432`. */
export function socketPath({ host, port }: Pick<Address, 'host' | 'port'>): string {
  return `${host}/.s.PGSQL.${port}`;
}
