// The sessions of hosts whose packets vanished, as the proxy and their clients saw them.
import { z } from 'zod';

export const vanishedHosts = z.object({
  /** Clients vanished: one idle, one with a few bytes on the way, one with TLS, one with many bytes; and a server. */
  reasons: z.array(z.string()),
  /** The message that the client of a vanished server got. */
  server: z.string(),
  triggers: z.array(z.string()),
  /** Sessions that are left: the one whose client reads nothing, and is alive. */
  slowClients: z.number(),
  /** From the last packet to the end of those with bytes on the way. */
  afterMs: z.number(),
});
export type VanishedHosts = z.output<typeof vanishedHosts>;
