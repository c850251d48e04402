// In GET /status: the logins of one pool that a member has refused lately.
import { z } from 'zod';
import { count, seconds } from './document-parts.ts';

export const refusedLogins = z.strictObject({
  sqlstate: z.string().nullable().describe('The code of the newest. Null: the member closed without an error.'),
  text: z.string().describe('53300, too many connections'),
  count,
  for_seconds: seconds.describe('Since the first.'),
  last_seconds: seconds.describe('Since the newest.'),
});
