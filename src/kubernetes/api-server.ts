// One GET of the Kubernetes API, with the service account's current token and CA (their files rotate). The caller sets
// the limits of time. Follows no redirect: the token goes to this server only.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exchange, type ExchangeAnswer, type ExchangeRequest } from '../http/exchange.ts';
import { errorCode, fileFault } from '../model/errno.ts';

export interface KubernetesServer {
  /** `https://10.96.0.1:443` */
  readonly url: string;
  /** The folder of the mounted service account: `token`, `ca.crt`, `namespace`. */
  readonly credentials: string;
}

/** Rejects with an Error with a readable message. */
export async function ask(
  { url, credentials }: KubernetesServer,
  request: Pick<ExchangeRequest, 'path' | 'connectMs' | 'signal' | 'onStatus'>,
): Promise<ExchangeAnswer> {
  const [token, ca] = await Promise.all([readToken(credentials), readCa(credentials)]);
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  return await exchange({ ...request, url, headers, tls: ca === undefined ? {} : { ca } });
}

/** The namespace of the service account. Rejects when the file cannot be read. */
export async function readNamespace({ credentials }: KubernetesServer): Promise<string> {
  return await readSmall(join(credentials, 'namespace'), 'give cluster.kubernetes.namespace');
}

async function readToken(credentials: string): Promise<string> {
  const token = await readSmall(join(credentials, 'token'), 'is a service account mounted?');
  // An invalid header value would appear in an error message, with the token in it.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${join(credentials, 'token')} holds no token`);
  return token;
}

async function readSmall(file: string, advice: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${fileFault(error)}: ${advice}`, { cause: error });
  }
}

/** Without the file the system's certificate authorities count. */
async function readCa(credentials: string): Promise<string | undefined> {
  try {
    return await readFile(join(credentials, 'ca.crt'), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
