// Between the workload and the process of postgres.js.
import { z } from 'zod';

const id = z.number();

export const postgresJsRequest = z.object({ id, statements: z.array(z.string()), isTransaction: z.boolean() });

export const postgresJsAnswer = z.discriminatedUnion('kind', [
  z.object({ id, kind: z.literal('sending') }),
  z.object({ id, kind: z.literal('committing') }),
  z.object({ id, kind: z.literal('value'), value: z.string(), session: z.string() }),
  z.object({ id, kind: z.literal('error'), words: z.string(), state: z.string() }),
]);

export type PostgresJsAnswer = z.infer<typeof postgresJsAnswer>;
