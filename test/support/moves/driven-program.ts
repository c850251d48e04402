// One program of test/e2e/moves/programs as a process: requests go in as lines, answers and events come out.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { ProgramError } from './driven-session.ts';

export class DrivenProgram implements RunningProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #waiting = new Map<string, PromiseWithResolvers<string>>();
  readonly #events = new Map<string, string[]>();
  readonly #errors: string[] = [];
  #lastId = 0;
  /** The program has ended. */
  #gone: ProgramError | undefined;

  constructor(command: readonly string[], env: NodeJS.ProcessEnv) {
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#end(error.message, resolve));
      this.#child.once('close', (code) => this.#end(`ended with ${code}`, resolve));
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#errors.push(chunk.toString()));
    // A program that is gone is told by its end.
    this.#child.stdin?.on('error', () => undefined);
    if (this.#child.stdout === null) return;
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#take(line));
  }

  async open(name: string, options = ''): Promise<DrivenSession> {
    const events: string[] = [];
    this.#events.set(name, events);
    const ask = (verb: string, ...words: readonly (string | number)[]): Promise<string> =>
      this.#ask(verb, name, words.map(String));
    await ask('open', options);
    return {
      name,
      events,
      ask,
      run: async (statement) => void (await ask('run', statement)),
      value: (statement) => ask('value', statement),
    };
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  #ask(verb: string, session: string, words: readonly string[]): Promise<string> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    this.#lastId += 1;
    const id = String(this.#lastId);
    const waiting = Promise.withResolvers<string>();
    this.#waiting.set(id, waiting);
    const plain = words.map((word) => word.replaceAll(/\s+/g, ' '));
    this.#child.stdin?.write(`${[id, verb, session, ...plain].join('\t')}\n`);
    return waiting.promise;
  }

  #take(line: string): void {
    const [id = '', kind = '', ...rest] = line.split('\t');
    if (id === 'event') {
      this.#events.get(kind)?.push(rest.join(' '));
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (kind === 'ok') waiting?.resolve(rest.join(' '));
    else waiting?.reject(new ProgramError(rest[0] ?? '', rest.slice(1).join(' ')));
  }

  #end(how: string, resolve: () => void): void {
    const error = new ProgramError('', `the program ${how}: ${this.#errors.join('')}`);
    this.#gone = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    resolve();
  }
}
