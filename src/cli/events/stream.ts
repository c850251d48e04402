// Server-sent events of a running Pointsman, from one connection.
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { httpFor, whyNot } from '../admin-request.ts';
import type { Running } from '../running.ts';

export interface StreamMessage {
  /** Undefined: an ordinary event. */
  readonly name: string | undefined;
  readonly data: string;
}

export interface StreamOptions {
  readonly path: string;
  /** Without it there are no events of sessions. */
  readonly token: string | undefined;
  readonly onOpen: () => void;
  readonly onMessage: (message: StreamMessage) => void;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/** The server sends a heartbeat every 15 s. */
const SILENT_MS = 40_000;

/** Resolves with the reason when the connection has ended, or was never there. */
export function readStream({ address, isTls }: Running, options: StreamOptions): Promise<string> {
  const { path, token, onOpen, onMessage, signal } = options;
  return new Promise((resolve) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { accept: 'text/event-stream', ...authorization };
    const { host, port } = address;
    const sent = httpFor(isTls).request({ host, port, path, headers, agent: false, signal }, (response) => {
      if (response.statusCode === 200) {
        onOpen();
        follow(response, onMessage);
      } else {
        response.resume();
        resolve(`HTTP status ${response.statusCode}`);
      }
      response.on('error', (error) => resolve(whyNot(error)));
      response.on('end', () => resolve('the server ended the stream'));
    });
    sent.setTimeout(SILENT_MS, () => sent.destroy(new Error(`no heartbeat for ${SILENT_MS / 1000} s`)));
    sent.on('error', (error) => resolve(whyNot(error)));
    sent.end();
  });
}

function follow(response: IncomingMessage, onMessage: StreamOptions['onMessage']): void {
  const parser = createParser({ onEvent: ({ event, data }) => onMessage({ name: event, data }) });
  response.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
}
