// The body of one request, read whole and bounded.
import type { IncomingMessage } from 'node:http';

/** Far more than any dynamic configuration. */
const MAX_BODY_BYTES = 1024 * 1024;

export class BodyTooLarge extends Error {}

/**
 * What is too much is read to its end and forgotten, so that the client comes to read the answer; the server's request timeout bounds
 * that. Rejects with BodyTooLarge, or when the client breaks off.
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
