// Writes an answer as bytes. The manager dialect is ordinary HTTP/1.1 with keep-alive. Patroni's is HTTP/1.0: the body
// ends with the connection, and an answer without a body is a status line alone. So that one is written to the socket
// directly.
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { DialectName } from '../sandbox.ts';
import type { ManagerAnswer } from './api-answer.ts';

export function writeHttp11(response: ServerResponse, { status, content, allow }: ManagerAnswer): void {
  if (allow !== undefined) response.setHeader('allow', allow);
  if (content === undefined) {
    response.writeHead(status, { 'content-length': 0 }).end();
    return;
  }
  const { type, body } = content;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

export function writeHttp10({ socket }: IncomingMessage, answer: ManagerAnswer): void {
  if (!socket.writable) return;
  socket.write(http10Text(answer));
  // Both directions are closed, as Patroni does.
  socket.destroySoon();
}

/** For a connection without a valid request: the input is not HTTP, or came too late. */
export function writeRefusal(socket: Duplex, dialect: DialectName, answer: ManagerAnswer): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(dialect === 'patroni' ? http10Text(answer) : text('HTTP/1.1', answer, ['connection: close']));
}

function http10Text(answer: ManagerAnswer): string {
  const headers = ['Server: BaseHTTP/0.6 Python/3.11.2', `Date: ${new Date().toUTCString()}`];
  return text('HTTP/1.0', answer, headers);
}

function text(version: string, { status, content }: ManagerAnswer, headers: readonly string[]): string {
  const line = `${version} ${status} ${STATUS_CODES[status] ?? ''}`;
  if (content === undefined) return `${line}\r\n\r\n`;
  return [line, ...headers, `Content-Type: ${content.type}`, '', content.body].join('\r\n');
}
