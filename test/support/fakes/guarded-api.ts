// A management API that asks for credentials, with a scripted answer to what it lets in. In this process.
import { createServer } from 'node:http';
import type { ApiEndpoint } from '../../../src/model/member.ts';
import { close, listen } from '../sockets/listen.ts';

export interface GuardedRequest {
  readonly request: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly text?: string;
}

export interface GuardedApi {
  readonly api: ApiEndpoint;
  /** In order, the refused ones too. */
  readonly requests: readonly GuardedRequest[];
  /** `user:password`; undefined: everybody is let in. */
  credentials: string | undefined;
  /** Patroni guards writes alone, a proxy before it may guard everything. */
  guards: 'writes' | 'everything';
  /** By path; undefined: no answer at all. */
  answer: (path: string) => GuardedAnswer | undefined;
  stop(): Promise<void>;
}

export async function startGuardedApi(): Promise<GuardedApi> {
  const requests: GuardedRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ request: `${method} ${url}`, authorization: headers.authorization, body });
      const isGuarded = fake.guards === 'everything' || method !== 'GET';
      const wanted = fake.credentials && `Basic ${Buffer.from(fake.credentials).toString('base64')}`;
      if (isGuarded && wanted !== undefined && headers.authorization !== wanted) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="Patroni"' }).end('not authenticated');
        return;
      }
      const answer = fake.answer(url);
      if (answer !== undefined) response.writeHead(answer.status).end(answer.text);
    });
  });
  const port = await listen(server);
  const fake: GuardedApi = {
    api: { url: `http://127.0.0.1:${port}`, address: { host: '127.0.0.1', port } },
    requests,
    credentials: undefined,
    guards: 'writes',
    answer: () => ({ status: 200, text: '{}' }),
    stop: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
  return fake;
}
