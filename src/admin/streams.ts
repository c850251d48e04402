// Answers that go on: server-sent events. Few at a time, because each holds a connection. A reader that is too slow is
// dropped, so that buffers stay small; it can continue by the id of its last event.
import type { ServerResponse } from 'node:http';
import { failure, type Answer } from './answer.ts';

export interface StreamAnswer {
  /** Its caller has the token. */
  readonly isOperator: boolean;
  /** Begins to write whole messages of the event-stream format. Returns a function that stops it. */
  readonly stream: (write: (text: string) => void) => () => void;
}

export interface Streams {
  /** Undefined: it streams; else the answer instead. */
  readonly begin: (answer: StreamAnswer, response: ServerResponse) => Answer | undefined;
  /** Open streams. */
  readonly size: () => number;
  /** Ends every stream cleanly. */
  readonly end: () => void;
}

export const MOST_STREAMS = 16;
/** Callers without the token leave the others room. */
const MOST_UNSIGNED = 12;
const MOST_BUFFERED_BYTES = 256 * 1024;
/** Proxies on the way close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** For an EventSource: the wait before it connects again. */
const RETRY_MS = 2000;

export function createStreams(): Streams {
  const open = new Set<() => void>();
  return {
    begin({ stream, isOperator }, response) {
      if (open.size >= (isOperator ? MOST_STREAMS : MOST_UNSIGNED)) {
        const error = `${open.size} event streams are open, the limit: try again later, or use ?format=json`;
        return failure(503, error, { headers: { 'retry-after': '5' } });
      }
      const { socket } = response;
      socket?.setTimeout(0);
      socket?.setKeepAlive(true, HEARTBEAT_MS);
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-accel-buffering': 'no',
        connection: 'close',
      });
      if (response.req.method === 'HEAD') {
        response.end();
        return undefined;
      }
      const write = (text: string): void => {
        if (response.writableLength > MOST_BUFFERED_BYTES) response.destroy();
        else response.write(text);
      };
      write(`retry: ${RETRY_MS}\n\n`);
      const stop = stream(write);
      const heartbeat = setInterval(() => write(': heartbeat\n\n'), HEARTBEAT_MS);
      const end = (): void => void response.end();
      open.add(end);
      response.once('close', () => {
        clearInterval(heartbeat);
        open.delete(end);
        stop();
      });
      return undefined;
    },
    size: () => open.size,
    end: () => open.forEach((end) => end()),
  };
}
