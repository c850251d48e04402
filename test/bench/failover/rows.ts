// The table that every client of the benchmark writes to: one row per attempt, known by its token.
import { SERVER_NAME } from '../../support/clusters/server-name.ts';

export const CREATE_ROWS =
  'create table bench_rows (token bigint primary key, peer text not null, server text not null)';

/** Answers `id` and `server`. */
export function insertRow(token: number, peer: string): string {
  const values = `${token}, '${peer.replaceAll("'", "''")}', ${SERVER_NAME}`;
  return `insert into bench_rows (token, peer, server) values (${values}) returning token as id, server`;
}
