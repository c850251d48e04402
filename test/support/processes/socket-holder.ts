// In systemd's place where one listening socket serves several processes: binds it, accepts no connection, and hands it
// to every process that it starts.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Address } from '../../../src/model/member.ts';
import { END_WITH_PARENT } from './pointsman-process.ts';
import { MAIN } from './program.ts';

const HOLDER = `
import json, os, socket, subprocess, sys
held = socket.create_server(('127.0.0.1', 0), backlog=1024)
os.dup2(held.fileno(), 3)
print(held.getsockname()[1], flush=True)
script = 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=held; export LISTEN_PID LISTEN_FDS LISTEN_FDNAMES; exec "$@"'
children = {}
for line in sys.stdin:
    order, argument = json.loads(line)
    if order == 'start':
        shell = ['/bin/sh', '-c', script, 'sh', *argument]
        child = subprocess.Popen(shell, pass_fds=(3,), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        children[child.pid] = child
        print(child.pid, flush=True)
    else:
        print(children[argument].wait(), flush=True)
`;

export class SocketHolder {
  readonly #holder: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #address: Address;

  private constructor(holder: ChildProcess, answers: AsyncIterator<string>, port: number) {
    this.#holder = holder;
    this.#answers = answers;
    this.#address = { host: '127.0.0.1', port };
  }

  static async open(): Promise<SocketHolder> {
    const holder = spawn('python3', ['-c', HOLDER], { stdio: ['pipe', 'pipe', 'inherit'] });
    const answers = createInterface({ input: holder.stdout })[Symbol.asyncIterator]();
    return new SocketHolder(holder, answers, Number((await answers.next()).value));
  }

  get address(): Address {
    return this.#address;
  }

  /** Starts Pointsman with this configuration file and the socket. Its process id. */
  async start(file: string): Promise<number> {
    return this.#ask('start', [process.execPath, '--import', END_WITH_PARENT, MAIN, 'run', '-c', file]);
  }

  /** The exit code, when it has ended. */
  async exited(pid: number): Promise<number> {
    return this.#ask('wait', pid);
  }

  /** Its processes end with it. */
  close(): void {
    this.#holder.kill('SIGKILL');
  }

  async #ask(order: 'start' | 'wait', argument: unknown): Promise<number> {
    this.#holder.stdin?.write(`${JSON.stringify([order, argument])}\n`);
    return Number((await this.#answers.next()).value);
  }
}
