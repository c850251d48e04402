// How the members' APIs are contacted: TLS and credentials. A write request carries the credentials. A GET carries them
// only to an API that answered 401 to a GET without them.
import { addressText, type ApiEndpoint } from '../model/member.ts';
import type { CredentialSource } from './credentials.ts';
import { failure } from './failure.ts';
import { HTTP, type Transport } from './transport.ts';
import type { HttpResult, Request } from './http.ts';
import type { TlsSource } from './tls-files.ts';

export interface ApiAccess {
  readonly tls?: TlsSource | undefined;
  readonly credentials?: CredentialSource | undefined;
  /** Default: HTTP and TCP of this machine. */
  readonly transport?: Transport | undefined;
}

/** Never rejects. */
export type Send = (request: Omit<Request, 'tls' | 'authorization'>) => Promise<HttpResult>;

/** Limit on remembered APIs: pods come and go. */
const MAX_REMEMBERED = 256;

export function createSend({ tls, credentials, transport: { clock, send } = HTTP }: ApiAccess): Send {
  if (credentials === undefined) return (request) => send({ ...request, tls });
  const demanding = new Set<string>();

  return async (request) => {
    const { api, method = 'GET', deadlineMs } = request;
    const endsAt = clock.now() + deadlineMs;
    const isGet = method === 'GET';
    const key = keyOf(api);
    if (isGet && !demanding.has(key)) {
      const answer = await send({ ...request, tls });
      if (answer.kind !== 'answered' || answer.status !== 401) return answer;
    }
    let authorization: string;
    try {
      authorization = await credentials();
    } catch (error) {
      return failure(error);
    }
    const left = Math.max(1, endsAt - clock.now());
    const answer = await send({ ...request, tls, authorization, deadlineMs: left });
    if (isGet && answer.kind === 'answered' && answer.status !== 401) {
      if (demanding.size >= MAX_REMEMBERED) demanding.clear();
      demanding.add(key);
    }
    return answer;
  };
}

function keyOf({ url, address }: ApiEndpoint): string {
  return `${url} ${addressText(address)}`;
}

/** The clause for a status that is no answer to a GET. */
export function statusText(status: number, { credentials }: ApiAccess): string {
  if (status === 401) {
    const why = credentials === undefined ? 'needs credentials' : 'does not accept the credentials';
    return `status 401: the API ${why} (cluster.api.auth)`;
  }
  return `status ${status}`;
}
