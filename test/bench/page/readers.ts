// Readers of the status page, in a process of their own: each fetches what a tab fetches and keeps one event stream.
// They take the messages and do not draw, so that the figures are about Pointsman. A message to it is their number.
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';

const port = Number(process.argv[2]);
/** As the page does. */
const TIMELINE_MS = 10_000;

process.on('disconnect', () => process.exit());

async function get(path: string): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, headers: { accept: 'text/html', 'accept-encoding': 'gzip' } });
  sent.end();
  const [answer] = await once(sent, 'response');
  return answer;
}

async function text(path: string): Promise<string> {
  let body = '';
  for await (const chunk of await get(path)) body += String(chunk);
  return body;
}

/** Returns its end. */
async function open(): Promise<() => void> {
  await text('/');
  const stream = await get('/events?status=1');
  const first = once(stream, 'data');
  stream.on('error', () => {}).resume();
  await Promise.all([first, text('/samples'), text('/timeline')]);
  const timer = setInterval(() => void text('/timeline'), TIMELINE_MS);
  return () => {
    clearInterval(timer);
    stream.destroy();
  };
}

let readers: readonly (() => void)[] = [];
async function keep(count: number): Promise<void> {
  for (const end of readers) end();
  readers = await Promise.all(Array.from({ length: count }, open));
  process.send?.(readers.length);
}

process.on('message', (count) => void keep(Number(count)));
