// The JSON body of a POST: read with a limit, parsed, not yet validated.
import type { IncomingMessage } from 'node:http';
import { failure, type Answer } from './answer.ts';
import type { Endpoint } from './endpoint.ts';

type BodyReading =
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'rejected'; readonly answer: Answer };

/** A web page can send forms and other content types without a preflight request, but not this one. */
export async function jsonBodyOf(request: IncomingMessage, { body, mostBodyBytes }: Endpoint): Promise<BodyReading> {
  const example = Object.keys(body().shape).length === 0 ? '{}' : 'a JSON object';
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    return rejected(415, `send content-type: application/json, with ${example} as the body`);
  }
  const text = await textOf(request, mostBodyBytes);
  if (text === undefined) return rejected(413, `the body exceeds ${mostBodyBytes} bytes: send ${example}`);
  if (text === '') return { kind: 'read', value: {} };
  try {
    return { kind: 'read', value: JSON.parse(text) };
  } catch (error) {
    return rejected(400, `the body is not JSON (${error instanceof Error ? error.message : ''}): send ${example}`);
  }
}

function rejected(status: number, error: string): BodyReading {
  return { kind: 'rejected', answer: failure(status, error) };
}

/** Undefined: too long; the rest is discarded. */
async function textOf(request: IncomingMessage, mostBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > mostBytes) {
      request.resume();
      return undefined;
    }
  }
  return Buffer.concat(chunks).toString().trim();
}
