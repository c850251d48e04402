// `pointsman computer`: turns of tool_use blocks in, their results out, one line each.
import { once } from 'node:events';
import { NoBrowser, openScreen, type OpenScreen } from './browser.ts';
import { readTurn } from './read-turn.ts';
import { runTurn } from './run-turn.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { untilStopped } from '../../cli/terminal/until-stopped.ts';
import { pageUrl } from './page-url.ts';

export interface ComputerOptions {
  readonly url?: string;
  readonly browser?: string;
  readonly allowRemote?: boolean;
  readonly allowOperations?: boolean;
  readonly sandbox: boolean;
}

export async function computer(options: ComputerOptions, io: CliIo): Promise<number> {
  const page = pageUrl(options.url, options.allowRemote ?? false);
  if (page.kind === 'invalid') return failed(io, page.why, EXIT.usage);
  try {
    const screen = await openScreen({
      url: page.url,
      executable: options.browser,
      path: io.env['PATH'] ?? '',
      isSandboxed: options.sandbox,
      allowsOperations: options.allowOperations ?? false,
    });
    try {
      io.stderr(openText(page.url, screen, options));
      return await serve(screen, io);
    } finally {
      await screen.close();
    }
  } catch (error) {
    if (error instanceof NoBrowser) return failed(io, error.message, EXIT.failure);
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
      if (turn.kind === 'invalid') return failed(io, `line ${number}: ${turn.why}`, EXIT.usage);
      const results = await Promise.race([runTurn(turn.blocks, screen), stopped]);
      if (results === undefined) return stopping.end();
      io.stdout(`${JSON.stringify(results)}\n`);
    }
  } finally {
    stopping.end();
  }
}

function failed(io: CliIo, why: string, code: number): number {
  io.stderr(`pointsman: ${why}\n`);
  return code;
}
