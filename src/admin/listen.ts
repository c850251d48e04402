// Binds the TCP server of an admin port, and says in the operator's words why that failed.
import type { Server } from 'node:net';
import { addressText, type Address } from '../model/member.ts';

export type ListenOutcome =
  | { readonly kind: 'listening'; readonly address: Address }
  /** `detail` names the setting and the address: `admin.address 127.0.0.1:8432 is already in use`. */
  | { readonly kind: 'failed'; readonly detail: string };

const LISTEN_FAILURES: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'is already in use'],
  ['EADDRNOTAVAIL', 'is not an address of this host'],
  ['EACCES', 'needs a permission that this process lacks'],
]);

/** `setting`: the key that has the address. */
export function listen(server: Server, address: Address, setting: string): Promise<ListenOutcome> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const reason = LISTEN_FAILURES.get(error.code ?? '') ?? `cannot be used: ${error.message}`;
      resolve({ kind: 'failed', detail: `${setting} ${addressText(address)} ${reason}` });
    };
    server.once('error', fail);
    server.listen({ host: address.host, port: address.port }, () => {
      server.off('error', fail);
      server.on('error', () => {});
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
      resolve({ kind: 'listening', address: { host: address.host, port } });
    });
  });
}
