// One command of the program as a process of its own, as an operator runs it. Ends with the test, by its own id.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { withTimeout } from '../../../src/model/with-timeout.ts';
import { MAIN } from './program.ts';
import { systemClock } from '../waiting/system-clock.ts';
import { expectNoCanary } from '../values/canaries.ts';

/** Less than a test may take: the test would end without a word about the command. */
const LIMIT_MS = 90_000;

export class Command {
  readonly #child: ChildProcess;
  /** Standard output and standard error, in their order. */
  output = '';
  readonly code: Promise<number | string>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...withoutSettings(process.env), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.code = new Promise<number | string>((resolve) => {
      this.#child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    }).then((code) => {
      expectNoCanary(`the output of ${args.join(' ')}`, this.output);
      return code;
    });
  }

  /** The exit code. Fails with what the command has said when it has not ended in time. */
  async ended(): Promise<number | string> {
    const code = await withTimeout(systemClock, LIMIT_MS, this.code);
    if (code === undefined) throw new Error(`no end within ${LIMIT_MS} ms; it has said:\n${this.output}`);
    return code;
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.code;
  }
}

/** The runner has variables that the program would take for its settings. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('POINTSMAN_')));
}
