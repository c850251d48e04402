// The body of one request, read whole, with a limit.
import type { IncomingMessage } from 'node:http';

/** Far more than any dynamic configuration needs. */
const MAX_BODY_BYTES = 1024 * 1024;

export class BodyTooLarge extends Error {}

/**
 * A body over the limit is read to its end and dropped, so that the client reads the answer. The server's request
 * timeout limits the time. Rejects with BodyTooLarge, or when the client disconnects.
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length <= MAX_BODY_BYTES) chunks.push(bytes);
    else chunks.length = 0;
  }
  if (length > MAX_BODY_BYTES) throw new BodyTooLarge(`the body is larger than ${MAX_BODY_BYTES} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}
