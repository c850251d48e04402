// The server below the fakes of contracts 2 and 3: it keeps every request, and notes each one that breaks the contract.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { close, listen } from '../sockets/listen.ts';
import type { FreeBody, Quirks } from './quirks.ts';

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

export type FakeAnswer =
  | { readonly status: number; readonly document: unknown }
  /** A body that the contract does not show. */
  | { readonly status: number }
  /** The connection ends without an answer. */
  | 'lost';

export interface FakeServer {
  readonly url: string;
  /** In order. */
  readonly requests: readonly FakeRequest[];
  /** Each breach of the contract by a client. A test expects none. */
  readonly violations: string[];
  /** Comes before the fake's own answer. Undefined: the fake answers as it does. */
  script: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer | undefined> | undefined;
  stop(): Promise<void>;
}

export async function startFakeServer(
  quirks: Quirks,
  answer: (request: FakeRequest, violations: string[]) => FakeAnswer | Promise<FakeAnswer>,
): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
    incoming.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: bytes.toString(), bytes };
      requests.push(request);
      void (async () =>
        send(response, (await fake.script(request)) ?? (await answer(request, fake.violations)), quirks))();
    });
  });
  const port = await listen(server);
  const fake: FakeServer = {
    url: `http://127.0.0.1:${port}`,
    requests,
    violations: [],
    script: () => undefined,
    stop: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
  return fake;
}

function send(response: ServerResponse, answer: FakeAnswer, quirks: Quirks): void {
  if (answer === 'lost') {
    response.destroy();
    return;
  }
  const text = 'document' in answer ? jsonText(answer.document, quirks) : FREE_BODIES[quirks.freeBody];
  const body = answer.status === 204 ? '' : text;
  const isJson = 'document' in answer || quirks.freeBody.startsWith('json');
  const type = isJson ? quirks.contentType : 'text/html';
  const length = quirks.isChunked || answer.status === 204 ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(answer.status, { ...(type === undefined ? {} : { 'content-type': type }), ...length });
  response.end(body);
}

function jsonText(document: unknown, { isPretty, hasByteOrderMark }: Quirks): string {
  return `${hasByteOrderMark ? '\uFEFF' : ''}${JSON.stringify(document, null, isPretty ? 2 : 0)}`;
}

const FREE_BODIES: Readonly<Record<FreeBody, string>> = {
  empty: '',
  html: '<!doctype html><title>502 Bad Gateway</title><h1>nginx</h1>',
  text: 'it did not work: password=hidden-in-a-body',
  json_error: '{"msg":"it did not work","connection_uri":"postgresql://svc:hidden-in-a-body@host/app"}',
  json_array: '[]',
  null: 'null',
};

/** The body as an object of JSON with these keys alone; a violation, and undefined, for anything else. */
export function strictBody(
  { method, path, body, headers }: FakeRequest,
  required: readonly string[],
  optional: readonly string[],
  violations: string[],
): Readonly<Record<string, unknown>> | undefined {
  const where = `${method} ${path}`;
  if (headers['content-type'] !== 'application/json') violations.push(`${where}: content-type`);
  const parsed = parse(body);
  if (parsed === undefined) violations.push(`${where}: no object of JSON`);
  else violations.push(...keyFaults(parsed, required, optional).map((fault) => `${where}: ${fault}`));
  return parsed;
}

export function keyFaults(
  object: Readonly<Record<string, unknown>>,
  required: readonly string[],
  optional: readonly string[],
): readonly string[] {
  return [
    ...required.filter((key) => !(key in object)).map((key) => `${key} is missing`),
    ...Object.keys(object)
      .filter((key) => !required.includes(key) && !optional.includes(key))
      .map((key) => `${key} is not a field of the contract`),
  ];
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
