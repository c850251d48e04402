// The clients of any proxy: node-postgres.
import { connect } from 'node:net';
import { Client, DatabaseError } from 'pg';
import { z } from 'zod';
import { SERVER_NAME } from '../../support/clusters/server-name.ts';
import { attemptOnce, type Attempt } from '../../support/applications/connect-load.ts';
import { HeldSession } from '../../support/applications/held-session.ts';
import { aCancelOf } from '../../support/sockets/packets.ts';
import type { Credentials } from '../../support/patroni/settings.ts';
import { CONNECT_TIMEOUT_MS, type KeptSession, LONG_QUERY, type LongQuery } from './peer.ts';
import { insertRow } from './rows.ts';

const HOST = '127.0.0.1';
/** node-postgres has the key, but its types do not. */
const cancelKey = z.object({ processID: z.number(), secretKey: z.number() });

export class ProxyClients {
  readonly #name: string;
  readonly #ports: { readonly write: number; readonly read: number };
  readonly #as: Credentials;

  constructor(name: string, ports: { readonly write: number; readonly read: number }, as: Credentials) {
    this.#name = name;
    this.#ports = ports;
    this.#as = as;
  }

  write(token: number): Promise<Attempt> {
    const sql = insertRow(token, this.#name);
    return attemptOnce({ host: HOST, port: this.#ports.write, ...this.#as, sql, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  }

  keep(count: number): Promise<readonly KeptSession[]> {
    return HeldSession.openMany(count, this.#ports.write, this.#as);
  }

  async longQuery(): Promise<LongQuery> {
    const port = this.#ports.read;
    const client = new Client({ host: HOST, port, ...this.#as, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ server: string }>(`select ${SERVER_NAME} as server`);
    let endedWith: string | undefined;
    client.query(LONG_QUERY).then(
      () => (endedWith = '00000'),
      (error: unknown) => (endedWith = error instanceof DatabaseError ? (error.code ?? 'unknown') : String(error)),
    );
    const { processID, secretKey } = cancelKey.parse(client);
    const secret = Buffer.alloc(4);
    secret.writeInt32BE(secretKey);
    return {
      server: rows[0]?.server ?? '',
      get endedWith() {
        return endedWith;
      },
      cancel: () => sendAndWaitForClose(port, aCancelOf(processID, secret)),
      close: () => client.end().catch(() => undefined),
    };
  }
}

/** Sends the request on its own connection; the server closes it without an answer. */
function sendAndWaitForClose(port: number, request: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port, timeout: 5000 });
    socket.once('timeout', () => socket.destroy());
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    socket.resume();
    socket.write(request);
  });
}
