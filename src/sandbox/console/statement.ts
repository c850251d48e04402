// One SQL statement on a connection of its own, as an application would send it: for the keys, for machines without
// psql, and for the lag that is made on purpose.

import { z } from 'zod';

const resultSchema = z.object({
  /** psql's command tag without the numbers: INSERT, SELECT. */
  command: z.string(),
  rowCount: z.number().nullable(),
  rows: z.array(z.record(z.string(), z.unknown())),
});

export interface StatementResult extends z.infer<typeof resultSchema> {
  /** For connecting, waiting and the statement together. */
  readonly tookMs: number;
}

/** Longer than Pointsman holds a client by default, so that Pointsman's answer is shown. */
const DEADLINE_MS = 60_000;

/** Rejects with PostgreSQL's or Pointsman's error. */
export async function runStatement(url: string, statement: string): Promise<StatementResult> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: DEADLINE_MS,
    query_timeout: DEADLINE_MS,
    application_name: 'pointsman sandbox',
  });
  // Errors after the end of the statement are ignored.
  client.on('error', () => {});
  const startedAt = performance.now();
  try {
    await client.connect();
    const answer: unknown = await client.query(statement);
    // Several statements in one text give a list of results. The last one is shown, as psql -c does.
    const result = resultSchema.parse([answer].flat().at(-1));
    return { ...result, tookMs: performance.now() - startedAt };
  } finally {
    await client.end().catch(() => {});
  }
}
