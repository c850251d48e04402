// A page that reports each of its events to its server, which keeps them in their order.
import { createServer } from 'node:http';
import { close, listen } from '../sockets/listen.ts';

const PAGE = `<!doctype html><title>log</title>
<style>
  html, body { margin: 0; user-select: none }
  #wide { width: 3000px; height: 3000px }
  input, button, a { position: absolute; left: 100px; width: 200px; height: 40px; top: 100px }
  button { top: 200px } a { top: 300px } #other { top: 400px } #beacon { top: 500px }
</style>
<div id="wide"></div><input><button>change</button><a href="/elsewhere" target="_blank">new</a>
<button id="other">other</button><button id="beacon">beacon</button>
<script>
  let sequence = 0;
  const log = (line) => fetch('/log?' + new URLSearchParams({ sequence: sequence++, line }));
  for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'])
    addEventListener(type, (event) => {
      const held = event.shiftKey ? ['shift'] : [];
      log([type, event.button, event.detail, event.clientX, event.clientY, ...held].join(' '));
    });
  addEventListener('mousemove', (event) => log(['mousemove', event.clientX, event.clientY, event.buttons].join(' ')));
  for (const type of ['keydown', 'keyup']) addEventListener(type, (event) => log(type + ' ' + event.key));
  addEventListener('wheel', (event) => log(['wheel', event.deltaX, event.deltaY].join(' ')));
  document.querySelector('input').addEventListener('input', (event) => log('value ' + event.target.value));
  document.querySelector('button').addEventListener('click', async () => {
    const answer = await fetch('/members/pg-2/drain', { method: 'POST', body: '{}' });
    log('answer ' + answer.status + ' ' + (await answer.text()));
  });
  document.querySelector('#beacon').addEventListener('click', () => navigator.sendBeacon('/beacon', '{}'));
  document.querySelector('#other').addEventListener('click', async () => {
    await fetch('/redirect', { mode: 'no-cors' }).then(() => log('redirect reached'), () => log('redirect failed'));
    await fetch(OTHER, { mode: 'no-cors' }).then(() => log('other reached'), () => log('other failed'));
    location.href = OTHER;
  });
</script>`;

export interface LoggingPage {
  readonly url: string;
  /** A line for each event of the page, in their order. */
  readonly lines: () => readonly string[];
  /** Method and path of each request but those of the log. */
  readonly requests: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** `other`: the URL of another origin, which the page tries to reach. */
export async function startLoggingPage(other = 'http://127.0.0.1:1/'): Promise<LoggingPage> {
  const lines = new Map<number, string>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/log') lines.set(Number(searchParams.get('sequence')), searchParams.get('line') ?? '');
    else requests.push(`${request.method} ${pathname}`);
    response.setHeader('content-type', 'text/html');
    if (pathname === '/redirect') response.writeHead(302, { location: other });
    response.end(pathname === '/' ? PAGE.replaceAll('OTHER', JSON.stringify(other)) : 'done');
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    lines: () => [...lines].toSorted(([a], [b]) => a - b).map(([, line]) => line),
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
}
