// Sends one write request to one API. Never repeats it: the API may have acted on a request whose answer got lost.
import { onOneLine } from '../model/printable.ts';
import type { ApiEndpoint } from '../model/member.ts';
import { createSend } from './access.ts';
import type { ApiAccess } from './access.ts';
import { isRecord, parseJson } from './fields.ts';
import type { JsonFields, WriteRequest } from './write-requests.ts';

export type WriteAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The body, when it is a JSON object. */
      readonly document: JsonFields | undefined;
      /** The body as one printable line; empty for the HTML page of a web server. */
      readonly reason: string;
    }
  | {
      readonly kind: 'no_answer';
      /** One clause: `connection refused`. */
      readonly why: string;
      /** Whether the request may have reached the API. */
      readonly isSent: boolean;
    };

/** Never rejects. */
export type Write = (api: ApiEndpoint, request: WriteRequest) => Promise<WriteAnswer>;

/** So that the next API is tried soon when a host is gone. Milliseconds. */
const CONNECT_MS = 3000;
/** Characters. */
const MAX_REASON = 400;

export function createWrite(access: ApiAccess): Write {
  const send = createSend(access);
  return async (api, request) => {
    let isSent = false;
    const answer = await send({ api, ...request, connectMs: CONNECT_MS, onSent: () => (isSent = true) });
    if (answer.kind === 'refused') return { kind: 'no_answer', why: 'connection refused', isSent: false };
    if (answer.kind === 'failed') return { kind: 'no_answer', why: answer.detail, isSent };
    const { status, body } = answer;
    const json = parseJson(body);
    return { kind: 'answered', status, document: isRecord(json) ? json : undefined, reason: reasonOf(body) };
  };
}

function reasonOf(body: string): string {
  if (body.trimStart().startsWith('<')) return '';
  return onOneLine(body.slice(0, 2 * MAX_REASON))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_REASON);
}
