// Every packet of some TCP ports on loopback, as somebody on the way would read it.
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const SCRIPT = fileURLToPath(new URL('loopback-capture.py', import.meta.url));
const PYTHON = '/usr/bin/python3';
const OPEN = 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)';

const captured = z.object({ packets: z.number(), lost: z.number(), counts: z.array(z.number()) });

export interface Captured {
  readonly packets: number;
  /** The kernel had no room for them. */
  readonly lost: number;
  /** Those with each text. */
  readonly found: Readonly<Record<string, number>>;
}

export function whyNoCapture(): string | undefined {
  if (spawnSync(PYTHON, ['-c', OPEN], { stdio: 'ignore' }).status === 0) return undefined;
  return 'packets of loopback: Linux, root, and python3';
}

export class LoopbackCapture {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #texts: Readonly<Record<string, string>>;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>, texts: Readonly<Record<string, string>>) {
    this.#child = child;
    this.#texts = texts;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** `texts`: by what each is called for. Resolves when it captures. */
  static async start(ports: readonly number[], texts: Readonly<Record<string, string>>): Promise<LoopbackCapture> {
    const child = spawn(PYTHON, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    const capture = new LoopbackCapture(child, texts);
    child.stdin.write(`${JSON.stringify({ ports, texts: Object.values(texts) })}\n`);
    await capture.#line();
    return capture;
  }

  async stop(): Promise<Captured> {
    this.#child.stdin.end();
    const { packets, lost, counts } = captured.parse(JSON.parse(await this.#line()));
    const found = Object.keys(this.#texts).map((name, at) => [name, counts[at] ?? 0] as const);
    return { packets, lost, found: Object.fromEntries(found) };
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the capture ended');
    return value;
  }
}
