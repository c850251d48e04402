// Many clients that write one row after the other, each row with a key of its own. A client whose session ends comes
// back and writes the same key again, so that a key that two servers acknowledge would show.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { SERVER_NAME } from '../clusters/server-name.ts';
import type { Credentials } from '../patroni/settings.ts';

export const CREATE_KEYS =
  'create table keys (key text primary key, server text, at timestamptz default clock_timestamp())';
const WRITE_KEY = `insert into keys (key, server) values ($1, ${SERVER_NAME}) on conflict do nothing
  returning server, extract(epoch from at)::float8 as "atSeconds"`;

export interface Acknowledged {
  readonly key: string;
  /** host:port, by its own account. */
  readonly server: string;
  /** When the server wrote it: of one machine's clock, whichever server it was. */
  readonly atSeconds: number;
}

export interface UniqueWriters {
  readonly acknowledged: readonly Acknowledged[];
  /** The errors of writes and connects that failed. */
  readonly errors: readonly string[];
  /** Resolves when each has ended what it was about. */
  stop(): Promise<void>;
}

export function startUniqueWriters(count: number, port: number, as: Credentials, everyMs: number): UniqueWriters {
  const acknowledged: Acknowledged[] = [];
  const errors: string[] = [];
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;
  const writing = Array.from({ length: count }, async (_, writer) => {
    let next = 0;
    while (!isStopped()) {
      const client = new Client({ host: '127.0.0.1', port, ...as });
      // Between two writes.
      let told: Error | undefined;
      client.on('error', (error) => {
        told ??= error;
      });
      try {
        await client.connect();
        for (; !isStopped(); next += 1) {
          const key = `${writer}-${next}`;
          const { rows } = await client.query<Omit<Acknowledged, 'key'>>(WRITE_KEY, [key]);
          // No row: an earlier attempt had written it, and its acknowledgement was lost.
          acknowledged.push(...rows.map((row) => ({ key, ...row })));
          await delay(everyMs);
        }
      } catch (error) {
        errors.push(String(told ?? error));
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  });
  return {
    acknowledged,
    errors,
    async stop() {
      stopping.abort();
      await Promise.all(writing);
    },
  };
}

/** The servers in the order in which they wrote; a server is named again each time it follows another. */
export function reigns(acknowledged: readonly Acknowledged[]): readonly string[] {
  const servers = acknowledged.toSorted((a, b) => a.atSeconds - b.atSeconds).map(({ server }) => server);
  return servers.filter((server, index) => server !== servers[index - 1]);
}
