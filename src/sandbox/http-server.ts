// An HTTP server for an API of the sandbox other than the managers', usually on loopback. It reads the request, refuses
// browsers, and turns errors into a status.
import { parseJson } from '../model/json.ts';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isSafe, json, type ManagerAnswer } from './api/api-answer.ts';
import { BodyTooLarge, readBytes } from './api/request-body.ts';
import { writeHttp11 } from './api/write-answer.ts';

export interface LabRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface HttpServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 1024 * 1024;

export type HttpRoute = (asked: LabRequest) => Promise<ManagerAnswer>;

/** `route` may reject: the client gets 500, `onError` the reason. Rejects when the server cannot listen. */
export async function serveHttp(
  route: HttpRoute,
  onError: (error: unknown) => void,
  maxBodyBytes = MAX_BODY_BYTES,
  at = { host: HOST, port: 0 },
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    response.on('error', () => {});
    void answer(request).then((made) => {
      if (!response.destroyed) writeHttp11(response, made);
      return undefined;
    });
  });

  async function answer(request: IncomingMessage): Promise<ManagerAnswer> {
    const { method = 'GET', headers, url = '/' } = request;
    // A page in a browser can send requests to loopback, always with the header Origin.
    if (!isSafe(method) && headers.origin !== undefined) return problem(403, 'requests from a browser are refused');
    try {
      const [path = '/'] = url.split('?');
      return await route({ method, path, headers, body: await readBytes(request, maxBodyBytes) });
    } catch (error) {
      if (error instanceof BodyTooLarge) return problem(413, error.message);
      if (!request.destroyed) onError(error);
      return problem(500, messageOf(error));
    }
  }

  const port = await bind(server, at.host, at.port);
  return { url: `http://${at.host}:${port}`, port, close: () => closeNow(server) };
}

/** Resolves with the port in use. Rejects when the server cannot listen there. */
export async function bind(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port });
  await once(server, 'listening');
  server.on('error', () => {});
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}

/** Open connections end as well. */
export function closeNow(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The contract shows no bodies of errors. */
export function problem(status: number, msg: string): ManagerAnswer {
  return json(status, { msg });
}

export function isJson({ headers }: LabRequest): boolean {
  return /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/** Undefined: it is no JSON. */
export function parseBody({ body }: LabRequest): unknown {
  return parseJson(body.toString());
}
