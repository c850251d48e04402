// The body of one request, read whole, with a limit, and the two reasons against a body.
import type { IncomingMessage } from 'node:http';

/** Far more than any dynamic configuration needs. */
const MAX_BODY_BYTES = 1024 * 1024;

export class BodyTooLarge extends Error {}

/** `bad_schedule`: its time is no timestamp, or in the past. Real Patroni tells the two kinds apart. */
export class BadBody extends Error {
  readonly kind: 'invalid' | 'bad_schedule';

  constructor(text: string, kind: BadBody['kind'] = 'invalid') {
    super(text);
    this.kind = kind;
  }
}

/**
 * A body over the limit is read to its end and dropped, so that the client reads the answer. The server's request
 * timeout limits the time. Rejects with BodyTooLarge, or when the client disconnects.
 */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length <= maxBytes) chunks.push(bytes);
    else chunks.length = 0;
  }
  if (length > maxBytes) throw new BodyTooLarge(`the body is larger than ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

/** As text. Rejects as `readBytes` does. */
export async function readBody(request: IncomingMessage): Promise<string> {
  return (await readBytes(request, MAX_BODY_BYTES)).toString('utf8');
}
