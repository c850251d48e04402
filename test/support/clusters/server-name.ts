// How the tests name a server wherever it runs: host:port, because a sandbox's members share one address.

export interface Server {
  readonly host: string;
  readonly port: number;
}

/** The name by the server's own account. */
export const SERVER_NAME = "host(inet_server_addr()) || ':' || inet_server_port()";

export function serverName({ host, port }: Server): string {
  return `${host}:${port}`;
}
