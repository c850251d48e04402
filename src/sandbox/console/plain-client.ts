// A client without Pointsman, which finds the primary as libpq does with several hosts and
// target_session_attrs=read-write: it tries one after the other and takes the first that accepts writes.
import type { Client } from 'pg';
import type { Sandbox } from '../sandbox.ts';
import { connectionUrl } from './connection-url.ts';

/** For one host, as `connect_timeout=2`. */
const CONNECT_WITHIN_MS = 2_000;
const WRITE_WITHIN_MS = 10_000;

/** Rejects when no host accepts writes, or when the statement fails. */
export async function writeWithoutPointsman({ members, app, tls }: Sandbox, statement: string): Promise<void> {
  const { default: pg } = await import('pg');
  for (const { host, port } of members) {
    const client = new pg.Client({
      connectionString: connectionUrl(app, `${host}:${port}`, tls),
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: WRITE_WITHIN_MS,
      application_name: 'without pointsman',
    });
    client.on('error', () => {});
    try {
      if (!(await acceptsWrites(client))) continue;
      await client.query(statement);
      return;
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error('no host accepts writes');
}

/** False: it is a standby, or nobody answers there. */
async function acceptsWrites(client: Client): Promise<boolean> {
  try {
    await client.connect();
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    return rows[0]?.transaction_read_only === 'off';
  } catch {
    return false;
  }
}
