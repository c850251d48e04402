// `pointsman computer`: turns of tool_use blocks in, their results out, one line each.
import { once } from 'node:events';
import { NoBrowser, openScreen, type OpenScreen } from './browser.ts';
import { readTurn } from './read-turn.ts';
import { runTurn } from './run-turn.ts';
import { fail, wrong } from '../../cli/command-end.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { untilStopped } from '../../cli/terminal/until-stopped.ts';

export interface ComputerOptions {
  readonly url?: string;
  readonly browser?: string;
  readonly allowRemote?: boolean;
  readonly allowOperations?: boolean;
  readonly sandbox: boolean;
}

export async function computer(options: ComputerOptions, io: CliIo): Promise<number> {
  const url = pageUrl(options, io);
  try {
    const screen = await openScreen({
      url,
      executable: options.browser,
      path: io.env['PATH'] ?? '',
      isSandboxed: options.sandbox,
      allowsOperations: options.allowOperations ?? false,
    });
    try {
      io.stderr(openText(url, screen, options));
      return await serve(screen, io);
    } finally {
      await screen.close();
    }
  } catch (error) {
    if (error instanceof NoBrowser) return fail(io, error.message);
    throw error;
  }
}

function openText({ href }: URL, { size, isSandboxed, executable }: OpenScreen, options: ComputerOptions): string {
  const rules = options.allowOperations ? 'clicks may change something' : 'operations are held back';
  const unsafe = isSandboxed || !options.sandbox ? '' : ' Chromium runs without its sandbox, because the user is root.';
  return `pointsman: ${href} is open in ${executable}, ${size.width} x ${size.height} pixels; ${rules}.${unsafe}\n`;
}

/** Until the input ends, or Ctrl-C. */
async function serve(screen: OpenScreen, io: CliIo): Promise<number> {
  const lines = io.readLines?.()[Symbol.asyncIterator]();
  if (lines === undefined) return EXIT.ok;
  const stopping = untilStopped(io);
  const stopped = once(stopping.signal, 'abort').then(() => undefined);
  try {
    for (let number = 1; ; number += 1) {
      const next = await Promise.race([lines.next(), stopped]);
      if (next === undefined || next.done === true) return stopping.end();
      if (next.value.trim() === '') continue;
      const turn = readTurn(next.value);
      if (typeof turn === 'string') return wrong(io, `line ${number}: ${turn}`);
      const results = await Promise.race([runTurn(turn, screen), stopped]);
      if (results === undefined) return stopping.end();
      io.stdout(`${JSON.stringify(results)}\n`);
    }
  } finally {
    stopping.end();
  }
}

/** On this machine, unless another one is allowed. */
function pageUrl({ url: given, allowRemote }: ComputerOptions, io: CliIo): URL {
  if (given === undefined) return wrong(io, 'name the page: --url http://127.0.0.1:8432/');
  const url = URL.parse(given);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return wrong(io, '--url is no http or https URL: write http://127.0.0.1:8432/');
  if (url.username !== '' || url.password !== '')
    return wrong(io, '--url has a name or a password, which other users of this machine can read: leave it out');
  if (allowRemote !== true && !/^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname))
    return wrong(io, `${url.hostname} is another machine: --allow-remote allows it`);
  return url;
}
