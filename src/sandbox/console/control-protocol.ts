// The messages between a second terminal and a running sandbox: JSON over HTTP on loopback.
import { z } from 'zod';

/** The request: POST /. */
export const orderSchema = z.strictObject({ verb: z.string(), target: z.string().optional() });

export const outcomeSchema = z.object({ kind: z.enum(['done', 'unknown', 'refused', 'failed']), text: z.string() });

/** GET /: the addresses of the sandbox's listeners, for commands that use them. */
export const endpointsSchema = z.object({
  scope: z.string(),
  /** Connection URLs of the application's role through Pointsman. */
  write: z.string(),
  read: z.string(),
  /** A configuration for a second Pointsman. */
  config: z.string(),
});

export type Endpoints = z.infer<typeof endpointsSchema>;
