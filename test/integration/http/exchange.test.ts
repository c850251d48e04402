// Answers that are none, over a real socket: what each user of an exchange makes of them.
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { whyNot } from '../../../src/cli/admin-exchange.ts';
import { exchange } from '../../../src/http/exchange.ts';
import { ApiError, sendRequest } from '../../../src/http/request.ts';
import { failure } from '../../../src/patroni/failure.ts';
import { close, listen } from '../../support/sockets/listen.ts';

/** The address of a server that answers with `raw` and ends. */
async function answers(raw: string): Promise<string> {
  const server = createServer((socket) => socket.once('data', () => socket.end(raw)).on('error', () => {}));
  const port = await listen(server);
  onTestFinished(() => close(server));
  return `http://127.0.0.1:${port}`;
}

function exchangeError(url: string): Promise<unknown> {
  return exchange({ url, path: '/', deadlineMs: 5000 }).catch((error: unknown) => error);
}

function apiError(url: string): Promise<unknown> {
  const server = { name: 'the node', url, timeoutMs: 5000, headers: () => Promise.resolve({}) };
  return sendRequest(server, { method: 'GET', path: '/' }).catch((error: unknown) => error);
}

const CLOSING = 'HTTP/1.1 200 OK\r\nConnection: close\r\n';
const CUT = 'connection closed before the answer was whole';

test.each([
  ['a length', 'malformed', `${CLOSING}Content-Length: 100\r\n\r\n{"a"`],
  ['a length, of HTTP/1.0', 'malformed', 'HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n{"a"'],
  ['chunks', 'malformed', `${CLOSING}Transfer-Encoding: chunked\r\n\r\n64\r\n{"a"`],
  ['a length, and the connection was to stay', 'reset', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a"'],
])('an answer that is cut within its body counts as none: %s', async (_, cause, raw) => {
  const url = await answers(raw);
  const thrown = await exchangeError(url);
  expect(whyNot(thrown)).toContain(CUT);
  expect(failure(thrown)).toMatchObject({ cause });
  const error = await apiError(url);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ failure: 'unreachable', wasSent: true, message: expect.stringContaining(CUT) });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'Expected HTTP/'],
  ['a chunk without a size', `${CLOSING}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 'Invalid character in chunk size'],
])('the words of a fault of the answer have its reason: %s', async (_, raw, reason) => {
  const url = await answers(raw);
  const error = await exchangeError(url);
  expect(failure(error)).toMatchObject({ cause: 'malformed', detail: expect.stringContaining(reason) });
  expect(await apiError(url)).toMatchObject({ failure: 'invalid_answer', message: expect.stringContaining(reason) });
});
