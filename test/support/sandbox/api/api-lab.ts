// An API server over fake operations, on a free port of loopback, and two ways to send requests: an HTTP client, and
// bare bytes.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { request } from 'undici';
import { createApiServer } from '../../../../src/sandbox/api/api-listener.ts';
import type { ManagerServer } from '../../../../src/sandbox/api/api-listener.ts';
import type { MemberView } from '../../../../src/sandbox/manager/view.ts';
import type { DialectName } from '../../../../src/sandbox/sandbox.ts';
import { FakeOperations } from './fake-operations.ts';

export interface ApiLab {
  readonly operations: FakeOperations;
  readonly server: ManagerServer;
  readonly port: number;
  readonly url: string;
  readonly errors: unknown[];
  readonly ask: (path: string, question?: Question) => Promise<LabAnswer>;
  /** Everything that comes back until the server closes. */
  readonly bytes: (text: string) => Promise<string>;
  readonly connect: () => Promise<Socket>;
}

export interface Question {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON unless it is a text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LabAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface LabOptions {
  readonly dialect?: DialectName;
  readonly member?: MemberView;
  readonly requestTimeoutMs?: number;
}

export async function startApi({ dialect = 'manager', member, requestTimeoutMs }: LabOptions = {}): Promise<ApiLab> {
  const operations = new FakeOperations(member);
  const errors: unknown[] = [];
  const server = createApiServer({
    operations,
    name: operations.member.name,
    scope: 'demo',
    dialect,
    version: '1.2.3',
    onError: (error) => errors.push(error),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  });
  const port = await server.listen('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  const open = async (): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  return {
    operations,
    server,
    port,
    url,
    errors,
    connect: open,
    ask: (path, question = {}) => ask(`${url}${path}`, question),
    bytes: async (text) => {
      const socket = await open();
      socket.write(text);
      return received(socket);
    },
  };
}

async function ask(url: string, { method = 'GET', body, headers = {} }: Question): Promise<LabAnswer> {
  const answer = await request(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    // A socket of its own, whatever the server would allow.
    reset: true,
  });
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type'] ?? ''),
    text,
    headers: answer.headers,
  };
}

/** Until the other side closes. */
export async function received(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => (text += chunk));
  await closed(socket);
  return text;
}

/** However it ended. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
