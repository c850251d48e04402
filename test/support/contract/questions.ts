// HTTP requests of the contract suite, each on a connection of its own and limited in time. A missing answer is an
// error.
import { request } from 'node:http';
import { connect } from 'node:net';
import type { MemberAddress } from '../patroni/member.ts';

/** A switchover answers when it is over. */
const DEADLINE_MS = 40_000;

export interface Question {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, with the content type of JSON. */
  readonly text?: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export function ask(member: MemberAddress, path: string, question: Question = {}): Promise<Answer> {
  const { method = 'GET' } = question;
  const text = question.text ?? (question.body === undefined ? undefined : JSON.stringify(question.body));
  const headers =
    text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const options = { method, headers, agent: false, signal: AbortSignal.timeout(DEADLINE_MS) };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new Error(`${method} ${path} of ${member.name}: ${error.message}`, { cause: error }));
    const outgoing = request(`${member.api}${path}`, options, (response) => {
      let received = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (received += chunk));
      response.once('error', fail);
      response.once('end', () => {
        const contentType = response.headers['content-type'] ?? '';
        resolve({ status: response.statusCode ?? 0, contentType, text: received });
      });
    });
    outgoing.once('error', fail);
    outgoing.end(text);
  });
}

/** The bytes after the header, which an HTTP client hides when a HEAD is answered with a body. */
export function rawBody(member: MemberAddress, method: string, path: string): Promise<string> {
  const { host, port } = new URL(member.api);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: member.host, port: Number(port) });
    let received = '';
    socket.setEncoding('utf8');
    socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error(`${method} ${path} of ${member.name}: no end`)));
    socket.on('data', (chunk: string) => (received += chunk));
    socket.once('error', reject);
    socket.once('end', () => resolve(received.slice(received.indexOf('\r\n\r\n') + 4)));
    // Not ended: Patroni's server takes the end of the request's stream as a client that has gone.
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

export type JsonRecord = Readonly<Record<string, unknown>>;

/** An object, or an error that shows what is there instead. */
export function record(value: unknown): JsonRecord {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`not an object: ${JSON.stringify(value)}`);
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.map((element: unknown) => element);
  throw new Error(`not an array: ${JSON.stringify(value)}`);
}

export function parse(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch (error) {
    throw new Error(`not JSON: ${answer.status} ${answer.text.slice(0, 200)}`, { cause: error });
  }
}

/** The words that the contract's tables have for types, and `absent`. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** For lists whose order means nothing. */
export function sorted(values: readonly unknown[]): readonly string[] {
  return values.map((value) => JSON.stringify(value)).toSorted();
}
