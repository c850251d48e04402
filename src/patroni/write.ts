// Sends one write request to one API. Never repeats it: the API may have acted on a request whose answer got lost.
import { isRecord, parseJson } from '../model/json.ts';
import { onOneLine } from '../model/printable.ts';
import type { ApiEndpoint } from '../model/member.ts';
import { createSend, type ApiAccess } from './access.ts';
import { secretsIn } from './credentials.ts';
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
/** Markup leaves before the reason is cut. Characters. */
const MOST_READ = 8000;

export function createWrite(access: ApiAccess): Write {
  const { credentials } = access;
  return async (api, request) => {
    let isSent = false;
    // A member may repeat what it got, and the file may have another password by then.
    let authorization = '';
    const remembered = credentials && (async () => (authorization = await credentials()));
    const send = createSend({ ...access, credentials: remembered });
    const answer = await send({ api, ...request, connectMs: CONNECT_MS, onSent: () => (isSent = true) });
    if (answer.kind === 'refused') return { kind: 'no_answer', why: 'connection refused', isSent: false };
    if (answer.kind === 'failed') {
      return { kind: 'no_answer', why: answer.detail, isSent: answer.isUnread === true ? false : isSent };
    }
    const { status, body } = answer;
    const json = parseJson(body);
    const reason = reasonOf(body, secretsIn(authorization));
    return { kind: 'answered', status, document: isRecord(json) ? json : undefined, reason };
  };
}

function reasonOf(body: string, secrets: readonly string[]): string {
  const hide = (from: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), from);
  // Once more without the markup, which may write a secret in another way.
  const text = hide(body).slice(0, MOST_READ);
  const plain = text.trimStart().startsWith('<') ? hide(withoutMarkup(text)) : text;
  return onOneLine(plain).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'", amp: '&' };

/** The text of an HTML page: a web server, or Python, wraps a reason in one. */
function withoutMarkup(page: string): string {
  return page
    .replaceAll(/<(style|script|title)\b[^<]*<\/\1>/gi, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&(lt|gt|quot|#34|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? ' ');
}
