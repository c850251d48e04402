// Server-sent events of a running Pointsman, from one connection.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ExchangeError } from '../../http/exchange-error.ts';
import { adminExchange, whyNot } from '../admin-exchange.ts';
import type { Running } from '../running.ts';

export interface StreamOptions {
  readonly path: string;
  /** Without it there are no events of sessions. */
  readonly token: string | undefined;
  readonly onOpen: () => void;
  readonly onEvent: (message: EventSourceMessage) => void;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/** The server sends a heartbeat every 15 s. */
const SILENT_MS = 40_000;

/** Resolves with the reason when the connection has ended, or was never there. */
export async function readStream(running: Running, options: StreamOptions): Promise<string> {
  const { path, token, onOpen, onEvent, signal } = options;
  const silence = new AbortController();
  const timer = setTimeout(
    () => silence.abort(new ExchangeError('timeout', `no heartbeat for ${SILENT_MS / 1000} s`)),
    SILENT_MS,
  );
  const parser = createParser({ onEvent });
  const decoder = new TextDecoder();
  const take = (chunk: Uint8Array): void => {
    timer.refresh();
    parser.feed(decoder.decode(chunk, { stream: true }));
  };
  try {
    const { status } = await adminExchange(running, {
      path,
      headers: { accept: 'text/event-stream', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      signal: AbortSignal.any([signal, silence.signal]),
      onStatus: (status) => {
        if (status !== 200) return undefined;
        onOpen();
        return take;
      },
    });
    return status === 200 ? 'the server ended the stream' : `HTTP status ${status}`;
  } catch (error) {
    return whyNot(error);
  } finally {
    clearTimeout(timer);
  }
}
