// `pointsman computer` in this process: a turn goes in, its results come out.
import { expect } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import type { ToolResult } from '../../../src/platform/computer/run-turn.ts';
import { cliParts } from '../fakes/cli-parts.ts';
import { until } from '../waiting/until.ts';

const TURN_MS = 120_000;

export interface ComputerSession {
  /** Blocks by their names and inputs; their ids are toolu_1, toolu_2 … */
  readonly turn: (...blocks: readonly (readonly [name: string, input?: object])[]) => Promise<readonly ToolResult[]>;
  readonly err: () => string;
  /** The exit code, after the end of the input. */
  readonly end: () => Promise<number>;
}

/** `options`: after `pointsman computer --url URL`. */
export function computerSession(url: string, ...options: readonly string[]): ComputerSession {
  const input: string[] = [];
  const out: string[] = [];
  let err = '';
  let isOver = false;
  async function* readLines(): AsyncGenerator<string> {
    for (;;) {
      await until('a turn, or the end', () => isOver || input.length > 0, TURN_MS);
      const line = input.shift();
      if (line === undefined) return;
      yield line;
    }
  }
  const io = {
    env: { PATH: process.env['PATH'] },
    stdout: (text: string) => void out.push(text),
    stderr: (text: string) => void (err += text),
    readLines,
  };
  let code: number | undefined;
  const running = runCli(['computer', '--url', url, ...options], io, cliParts()).then((ended) => (code = ended));
  return {
    async turn(...blocks) {
      const content = blocks.map(([name, given = {}], index) => ({
        type: 'tool_use',
        id: `toolu_${index + 1}`,
        name,
        input: given,
      }));
      const before = out.length;
      input.push(JSON.stringify({ role: 'assistant', content }));
      await until('the results', () => out.length > before || code !== undefined, TURN_MS);
      expect(code, err).toBeUndefined();
      return JSON.parse(out.at(-1) ?? '');
    },
    err: () => err,
    async end() {
      isOver = true;
      return running;
    },
  };
}

/** Width and height of the PNG in a result. */
export function imageSize({ content }: ToolResult): readonly number[] {
  if (typeof content === 'string') throw new Error(`a text instead of an image: ${content}`);
  const png = Buffer.from(content[0]?.source.data ?? '', 'base64');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

/** A text, or `image`. */
export function contents(results: readonly ToolResult[]): readonly string[] {
  return results.map(({ content }) => (typeof content === 'string' ? content : 'image'));
}
