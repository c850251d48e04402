// One HTTP request on a connection of its own, bounded in time as a whole. No answer is a value, not an error.
import { request } from 'node:http';

export type HttpAnswer = { readonly status: number; readonly text: string };

export type HttpQuestion = {
  readonly method?: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
};

export function ask(url: string, question: HttpQuestion = {}): Promise<HttpAnswer | undefined> {
  const body = question.body === undefined ? undefined : JSON.stringify(question.body);
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': length };
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(question.timeoutMs ?? 1000);
    const outgoing = request(url, { method: question.method ?? 'GET', agent: false, headers, signal }, (response) => {
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
