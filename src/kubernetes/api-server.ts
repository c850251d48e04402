// One GET of the Kubernetes API on its own connection, with the service account's current token and CA (their files
// rotate). The caller sets the limits. Follows no redirect and no proxy: the token goes to this server only.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'undici';
import { z } from 'zod';

export interface KubernetesServer {
  /** `https://10.96.0.1:443` */
  readonly url: string;
  /** The folder of the mounted service account: `token`, `ca.crt`, `namespace`. */
  readonly credentials: string;
}

export interface ApiServerAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Calls `take` with the response while the connection is open. Rejects with an Error with a readable message. */
export async function ask<T>(
  server: KubernetesServer,
  path: string,
  signal: AbortSignal,
  take: (answer: ApiServerAnswer) => Promise<T>,
): Promise<T> {
  const [token, ca] = await Promise.all([readToken(server.credentials), readCa(server.credentials)]);
  signal.throwIfAborted();
  const client = new Client(server.url, {
    connect: { ...(ca === undefined ? {} : { ca }), timeout: CONNECT_TIMEOUT_MS },
    pipelining: 0,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
    const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal });
    return await take({ status: statusCode, body });
  } finally {
    await client.destroy();
  }
}

const CONNECT_TIMEOUT_MS = 5000;

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
    throw new Error(`${file} cannot be read (${codeOf(error)}): ${advice}`, { cause: error });
  }
}

/** Without the file the system's certificate authorities count. */
async function readCa(credentials: string): Promise<string | undefined> {
  try {
    return await readFile(join(credentials, 'ca.crt'), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const coded = z.object({ code: z.string() });

function codeOf(error: unknown): string {
  const parsed = coded.safeParse(error);
  return parsed.success ? parsed.data.code : '';
}

/** A readable message without any part of the request. */
export function whyFailed(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault';
  const code = codeOf(error);
  return code === '' || code.startsWith('UND_ERR_ABORTED') ? error.message : `${error.message} (${code})`;
}
