// The sessions of a primary whose packets vanished, as their clients saw it.
import { z } from 'zod';

export const vanishedPackets = z.object({
  /** The other server. */
  next: z.string(),
  /** The rows that the idle sessions got when they asked afterwards. */
  answers: z.array(z.array(z.object({ memory: z.string(), server: z.string() }))),
  /** The last words for sessions that could not move. */
  ended: z.object({
    listening: z.string(),
    inTransaction: z.string(),
    /** It got an answer just before. */
    recent: z.string(),
    /** It asked just after. */
    inFlight: z.string(),
    /** Its statement ran. */
    running: z.string(),
  }),
  /** The server of a session that was opened afterwards. */
  fresh: z.string(),
  /** Sessions that were still counted under the old server. */
  left: z.number(),
  /** The reasons of the sessions that Pointsman ended. */
  reasons: z.array(z.string()),
  /** From the last packet to the last answer. Milliseconds. */
  afterMs: z.number(),
});
export type VanishedPackets = z.output<typeof vanishedPackets>;
