// Between the workload and the process of postgres.js.
import { z } from 'zod';

/** The variable with the certificate of the authority; empty: plain text. Every certificate of it is for localhost. */
export const AUTHORITY = 'POINTSMAN_BENCH_AUTHORITY';

const id = z.number();

export const postgresJsRequest = z.object({ id, statements: z.array(z.string()), isTransaction: z.boolean() });

export const postgresJsAnswer = z.discriminatedUnion('kind', [
  z.object({ id, kind: z.literal('sending') }),
  z.object({ id, kind: z.literal('committing') }),
  z.object({ id, kind: z.literal('value'), value: z.string(), session: z.string() }),
  z.object({ id, kind: z.literal('error'), words: z.string(), state: z.string() }),
]);

export type PostgresJsAnswer = z.infer<typeof postgresJsAnswer>;
