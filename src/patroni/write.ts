// Sends one write request to one API. Never repeats it: the API may have acted on a request whose answer got lost.
import { onOneLine } from '../model/printable.ts';
import type { ApiEndpoint } from '../model/member.ts';
import { createSend } from './access.ts';
import type { ApiAccess } from './access.ts';
import { secretsIn } from './credentials.ts';
import { isRecord, parseJson } from './fields.ts';
import type { JsonFields, WriteRequest } from './write-requests.ts';

export type WriteAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The body, when it is a JSON object. */
      readonly document: JsonFields | undefined;
      /** The body as one printable line, without markup and without the credentials. */
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
/** Markup and secrets leave before the reason is cut. Characters. */
const MOST_READ = 8000;

export function createWrite(access: ApiAccess): Write {
  const send = createSend(access);
  return async (api, request) => {
    let isSent = false;
    const answer = await send({ api, ...request, connectMs: CONNECT_MS, onSent: () => (isSent = true) });
    if (answer.kind === 'refused') return { kind: 'no_answer', why: 'connection refused', isSent: false };
    if (answer.kind === 'failed') return { kind: 'no_answer', why: answer.detail, isSent };
    const { status, body } = answer;
    const json = parseJson(body);
    const secrets = await secretsOf(access);
    return { kind: 'answered', status, document: isRecord(json) ? json : undefined, reason: reasonOf(body, secrets) };
  };
}

/** A member may repeat what it got. Empty if the password cannot be read any more: then nothing was sent either. */
async function secretsOf({ credentials }: ApiAccess): Promise<readonly string[]> {
  if (credentials === undefined) return [];
  try {
    return secretsIn(await credentials());
  } catch {
    return [];
  }
}

function reasonOf(body: string, secrets: readonly string[]): string {
  const text = body.slice(0, MOST_READ);
  const plain = text.trimStart().startsWith('<') ? withoutMarkup(text) : text;
  const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), plain);
  return onOneLine(hidden).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'", amp: '&' };

/** The text of an HTML page: a web server, or Python, wraps a reason in one. */
function withoutMarkup(page: string): string {
  return page
    .replaceAll(/<(style|script|title)\b[^<]*<\/\1>/gi, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&(lt|gt|quot|#34|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? ' ');
}
