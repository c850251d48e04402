// The service manager's side of sd_notify: a real datagram socket on a path, which Node cannot make, read by a few
// lines of Python. It closes the descriptors that systemd-notify sends along, as the manager does when it has read
// everything.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '../waiting/until.ts';

const RECEIVER = `
import array, json, os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print('"bound"', flush=True)
while True:
    message, ancillary, _, _ = receiver.recvmsg(4096, 4096)
    for _, _, data in ancillary:
        for descriptor in array.array('i', data):
            os.close(descriptor)
    print(json.dumps(message.decode()), flush=True)
`;

export class NotifySocket {
  readonly path: string;
  /** Without those that only ask whether all has been read. */
  readonly messages: string[] = [];
  readonly #receiver: ChildProcess;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.path = join(directory, 'notify');
    this.#receiver = spawn('python3', ['-c', RECEIVER, this.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (this.#receiver.stdout === null) throw new Error('no output');
    createInterface({ input: this.#receiver.stdout }).on('line', (line) => {
      const message = String(JSON.parse(line));
      if (message !== 'BARRIER=1') this.messages.push(message);
    });
  }

  static async open(): Promise<NotifySocket> {
    const made = new NotifySocket(await mkdtemp(join(tmpdir(), 'pointsman-notify-')));
    await until('the socket', () => made.messages.shift() === 'bound');
    return made;
  }

  /** The first message that begins so. */
  async heard(start: string): Promise<string> {
    return until(start, () => this.messages.find((message) => message.startsWith(start)));
  }

  async close(): Promise<void> {
    this.#receiver.kill('SIGKILL');
    await rm(this.#directory, { recursive: true, force: true });
  }
}
