// The cancel request of a session of node-postgres.
import type { Client } from 'pg';
import { z } from 'zod';
import { aCancelOf } from '../sockets/packets.ts';

const keySchema = z.object({ processID: z.number(), secretKey: z.number() });

/** With the key that the server sent to node-postgres, which keeps it outside its published types. */
export function cancelRequestOf(client: Client): Buffer {
  const { processID, secretKey } = keySchema.parse(client);
  const secret = Buffer.alloc(4);
  secret.writeInt32BE(secretKey);
  return aCancelOf(processID, secret);
}
