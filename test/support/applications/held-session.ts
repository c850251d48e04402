// One session of a client that stays open, runs a statement now and then, and records its end.
import { Client } from 'pg';
import { SERVER_NAME } from '../clusters/server-name.ts';
import type { Credentials } from '../patroni/settings.ts';
import { monotonicMs } from '../waiting/wait.ts';

export class HeldSession {
  readonly client: Client;
  /** host:port, by its own account. */
  server = '';
  /** monotonicMs() when the connection ended for whatever reason; undefined while it lives. */
  endedAtMs: number | undefined;
  endedWith: string | undefined;

  private constructor(client: Client) {
    this.client = client;
    client.on('error', (error) => this.#end(error.message));
    client.on('end', () => this.#end(undefined));
  }

  static async open(port: number, as: Credentials, host = '127.0.0.1'): Promise<HeldSession> {
    const client = new Client({ host, port, ...as });
    const session = new HeldSession(client);
    await client.connect();
    const { rows } = await client.query<{ server: string }>(`select ${SERVER_NAME} as server`);
    session.server = rows[0]?.server ?? '';
    return session;
  }

  static openMany(count: number, port: number, as: Credentials): Promise<HeldSession[]> {
    return Promise.all(Array.from({ length: count }, () => HeldSession.open(port, as)));
  }

  #end(why: string | undefined): void {
    if (this.endedAtMs !== undefined) return;
    this.endedAtMs = monotonicMs();
    this.endedWith = why;
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

/** How many sessions each server has. */
export function countByServer(sessions: readonly HeldSession[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { server } of sessions) counts.set(server, (counts.get(server) ?? 0) + 1);
  return counts;
}
