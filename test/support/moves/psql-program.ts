// psql with one process for each session. It reads its statements from its standard input, and tells errors and notices
// where its results are.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { findPostgresBinDir } from '../patroni/availability.ts';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { ProgramError } from './driven-session.ts';

const ARGUMENTS = ['-X', '-q', '-t', '-A', '-v', 'VERBOSITY=verbose', '-v', 'SHOW_CONTEXT=never'];

interface Verbs {
  readonly [verb: string]: (...words: readonly string[]) => Promise<string>;
}

export class PsqlProgram implements RunningProgram {
  readonly #env: NodeJS.ProcessEnv;
  readonly #conninfo: string;
  readonly #sessions: PsqlSession[] = [];

  /** `conninfo`: more than the environment can have. */
  constructor(env: NodeJS.ProcessEnv, conninfo = '') {
    this.#env = env;
    this.#conninfo = conninfo;
  }

  async open(name: string, options = ''): Promise<DrivenSession> {
    const session = new PsqlSession(name, { ...this.#env, PGAPPNAME: name, PGOPTIONS: options }, this.#conninfo);
    this.#sessions.push(session);
    await session.value('select 1');
    return session;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.stop()));
  }
}

class PsqlSession implements DrivenSession {
  readonly name: string;
  readonly events: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #verbs: Verbs;
  #said = '';
  #marks = 0;
  #waiting: { readonly mark: string; readonly resolve: (said: string) => void } | undefined;
  #isOver = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(name: string, env: NodeJS.ProcessEnv, conninfo: string) {
    this.name = name;
    const psql = join(findPostgresBinDir('psql') ?? '', 'psql');
    // Both outputs as one, so that an error is where it belongs.
    const command = ['-c', 'exec "$0" "$@" 2>&1', psql, ...ARGUMENTS, ...(conninfo === '' ? [] : [conninfo])];
    this.#child = spawn('/bin/sh', command, { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#isOver = true;
        this.events.push('end');
        this.#waiting?.resolve(this.#said);
        resolve();
      });
    });
    this.#child.stdin?.on('error', () => undefined);
    if (this.#child.stdout !== null) this.#read(this.#child.stdout.setEncoding('latin1'));
    this.#verbs = this.#makeVerbs();
  }

  async run(statement: string): Promise<void> {
    await this.value(statement);
  }

  async value(statement: string): Promise<string> {
    const said = await this.#send(statement.endsWith(';') ? statement : `${statement};`);
    const lines = said.split('\n');
    const error = lines.findIndex((line) => /^(ERROR|FATAL|PANIC): /.test(line));
    if (error !== -1) throw errorOf(lines.slice(error));
    this.events.push(...lines.filter((line) => /^(NOTICE|WARNING|Asynchronous) ?/.test(line)));
    if (this.#isOver) throw new ProgramError('', `psql ended: ${said}`);
    return lines[0] ?? '';
  }

  async ask(verb: string, ...words: readonly (string | number)[]): Promise<string> {
    const act = this.#verbs[verb];
    if (act === undefined) throw new Error(`psql has no verb ${verb}`);
    return act(...words.map(String));
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  #makeVerbs(): Verbs {
    return {
      run: async (text = '') => this.value(text),
      value: async (text = '') => this.value(text),
      prepare: async (name = '', text = '') => this.value(`prepare "${name}" (int) as ${text}`),
      execute: async (name = '', value = '') => this.value(`execute "${name}" (${value})`),
      copy_in: async (table = '', count = '') =>
        this.#send(`copy ${table} from stdin;\n${upTo(count).join('\n')}\n\\.`),
      copy_out: async (query = '') => counted(await this.#send(`copy (${query}) to stdout;`)),
      // FETCH_COUNT makes psql use a cursor.
      cursor: async (query = '') => counted(await this.#send(`\\set FETCH_COUNT 100\n${query};\n\\unset FETCH_COUNT`)),
      batch: async (table = '', count = '') =>
        this.#send(
          upTo(count)
            .map((n) => `insert into ${table} values (${n});`)
            .join('\n'),
        ),
      parameter: async (name = '') => {
        if (name !== 'client_encoding') throw new Error(`psql does not show ${name}`);
        return this.#send('\\echo :ENCODING');
      },
    };
  }

  /** One after the other. Resolves with the output, in the encoding of the session. */
  #send(text: string): Promise<string> {
    const sent = this.#last.then(() => this.#sendNow(text));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  #sendNow(text: string): Promise<string> {
    return new Promise((resolve) => {
      if (this.#isOver) {
        resolve('');
        return;
      }
      this.#marks += 1;
      const mark = `--- ${this.#marks}`;
      this.#said = '';
      this.#waiting = { mark, resolve };
      this.#child.stdin?.write(Buffer.from(`${text}\n\\echo '${mark}'\n`, 'latin1'));
    });
  }

  #read(output: Readable): void {
    output.on('data', (text: string) => {
      this.#said += text;
      const waiting = this.#waiting;
      if (waiting === undefined || !this.#said.endsWith(`${waiting.mark}\n`)) return;
      this.#waiting = undefined;
      waiting.resolve(this.#said.slice(0, -waiting.mark.length - 1).trimEnd());
    });
  }
}

/** `ERROR:  22012: division by zero`, and the lines after it. */
function errorOf([first = '', ...more]: readonly string[]): ProgramError {
  const [, state = '', text = first] = /^\w+: +(?:([0-9A-Z]{5}): )?(.*)$/.exec(first) ?? [];
  return new ProgramError(state, [text, ...more].join('\n'));
}

function upTo(count: string): readonly number[] {
  return Array.from({ length: Number(count) }, (_, n) => n + 1);
}

function counted(text: string): string {
  const numbers = text.trim().split('\n').map(Number);
  return `${numbers.length} ${numbers.reduce((sum, n) => sum + n, 0)}`;
}
