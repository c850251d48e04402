// The section `questions`: the login with which Pointsman asks the servers for their positions.
import { z } from 'zod';
import type { QuestionsPolicy } from '../../model/causal-reads.ts';
import { key } from './key.ts';
import { MAX_COUNT, count, nonEmpty } from './values.ts';

export const questions = z.strictObject({
  user: key(nonEmpty, 'The role that asks. It needs no right at all (`deploy/reads.sql`).', {
    example: 'pointsman_monitor',
  }),
  password_file: key(
    nonEmpty.optional(),
    'A file with the password of `user`, on one line. It is read at each connect. Pointsman logs in by SCRAM alone.',
    { example: '/run/secrets/pointsman-monitor', usual: 'no password' },
  ),
  database: key(nonEmpty.default('postgres'), 'The database that the connections are to.', { example: 'admin' }),
  per_second: key(
    count(1, MAX_COUNT).default(1000),
    `Questions to the primary per second, of which each costs it about 45 µs of a processor. Reads that come meanwhile
    share the next one. Workers divide the number.`,
  ),
});

export function questionsPolicy(parsed: z.output<typeof questions>): QuestionsPolicy {
  const { user, password_file: passwordFile, database, per_second: perSecond } = parsed;
  return { user, passwordFile, database, perSecond };
}
