// Direct SQL on one member: a connection per call, closed after it, every step bounded in time.
import { Client, type ClientConfig } from 'pg';
import type { MemberAddress } from './member.ts';
import { type Credentials, SUPERUSER } from './settings.ts';

export type SqlOptions = {
  /** The superuser in the app database unless told. */
  readonly as?: Credentials;
  readonly timeoutMs?: number;
};

export type Row = Readonly<Record<string, unknown>>;

export function connectionConfig(member: MemberAddress, as: Credentials, timeoutMs: number): ClientConfig {
  return {
    host: member.host,
    port: member.port,
    user: as.user,
    password: as.password,
    database: as.database,
    ...(member.ssl && { ssl: member.ssl }),
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  };
}

export async function runSql(member: MemberAddress, text: string, options: SqlOptions = {}): Promise<Row[]> {
  const client = new Client(connectionConfig(member, options.as ?? SUPERUSER, options.timeoutMs ?? 2000));
  // The failing call says it already; without a listener the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const result = await client.query<Row>(text);
    return result.rows;
  } finally {
    // Not awaited: a frozen server would never say goodbye.
    client.end().catch(() => undefined);
  }
}
