// One HTTP request on a connection of its own, bounded in time as a whole. No answer is a value, not an error.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import type { ApiTls } from './settings.ts';

export type HttpAnswer = { readonly status: number; readonly text: string };

export type HttpQuestion = {
  readonly method?: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** For https. The files are read for each request. */
  readonly tls?: ApiTls | undefined;
};

export function ask(url: string, question: HttpQuestion = {}): Promise<HttpAnswer | undefined> {
  const body = question.body === undefined ? undefined : JSON.stringify(question.body);
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': length };
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(question.timeoutMs ?? 1000);
    const { method = 'GET', tls } = question;
    const options = { method, agent: false, headers, signal, ...(tls && materialOf(tls)) };
    const outgoing = (tls === undefined ? request : requestEncrypted)(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('error', () => resolve(undefined));
    });
    outgoing.once('error', () => resolve(undefined));
    outgoing.end(body);
  });
}

function materialOf({ cafile, certfile, keyfile }: ApiTls): object {
  return { ca: readFileSync(cafile), cert: readFileSync(certfile), key: readFileSync(keyfile) };
}
