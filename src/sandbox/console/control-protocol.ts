// What the second command and a running sandbox say to each other: JSON over HTTP on loopback.
import { z } from 'zod';

/** What is asked: POST /. */
export const orderSchema = z.strictObject({ verb: z.string(), target: z.string().optional() });

export const outcomeSchema = z.object({ kind: z.enum(['done', 'refused', 'failed']), text: z.string() });

/** GET /: where the sandbox's listeners are, for commands that go through them. */
export const whereaboutsSchema = z.object({
  scope: z.string(),
  /** Connection URLs of the application's role through Pointsman. */
  write: z.string(),
  read: z.string(),
});

export type Whereabouts = z.infer<typeof whereaboutsSchema>;
