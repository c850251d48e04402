// The table for the writes of all clients of the benchmark: one row per attempt, identified by its token.
import { SERVER_NAME } from '../../support/clusters/server-name.ts';

export const CREATE_ROWS =
  'create table bench_rows (token bigint primary key, peer text not null, server text not null)';

/** The statement returns `id` and `server`. */
export function insertRow(token: number, peer: string): string {
  const values = `${token}, '${peer.replaceAll("'", "''")}', ${SERVER_NAME}`;
  return `insert into bench_rows (token, peer, server) values (${values}) returning token as id, server`;
}
