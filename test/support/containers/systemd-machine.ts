// A machine with systemd as process 1: systemd-nspawn boots this machine's own files, as a copy that is gone
// afterwards. It shares the network of this machine, so that servers of the test are in its reach on loopback.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findExecutable } from '../patroni/availability.ts';
import { until } from '../waiting/until.ts';

const TOP = new URL('../../../', import.meta.url).pathname;
const BOOT_MS = 60_000;
const HALT_MS = 20_000;

/** The copy: writes go to memory. The mounts end with the namespace of this shell. */
const BOOT = `
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
rm -rf etc/systemd/system/*.wants etc/pointsman opt/pointsman
# An identity of its own. Without one systemd would take this for a first boot, and enable units by their presets.
tr -d - < /proc/sys/kernel/random/uuid > etc/machine-id
printf '[Unit]\\nRequires=basic.target\\nAfter=basic.target\\nAllowIsolate=yes\\n' > etc/systemd/system/lab.target
mkdir -p opt/pointsman usr/local/bin
cp -r "$2/dist" "$2/package.json" opt/pointsman
chmod 755 opt/pointsman/dist/main.js
ln -sf /opt/pointsman/dist/main.js usr/local/bin/pointsman
ln -sf /opt/pointsman/node_modules/node/bin/node usr/local/bin/node
exec systemd-nspawn --quiet --directory="$1/root" --bind-ro="$2/node_modules:/opt/pointsman/node_modules" --boot \
  --register=no --keep-unit --link-journal=no --console=pipe --machine="$3" -- --unit=lab.target
`;

/** For people; undefined when everything is here. */
export function whyNoSystemd(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'Linux, and root';
  if (findExecutable('systemd-nspawn') === undefined) return 'systemd-nspawn: apt-get install systemd-container';
  return readFileSync('/proc/filesystems', 'utf8').includes('overlay') ? undefined : 'overlayfs';
}

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

export class SystemdMachine implements AsyncDisposable {
  readonly #nspawn: ChildProcess;
  readonly #directory: string;
  readonly #exited: Promise<void>;
  #said = '';

  private constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), 'pointsman-systemd-'));
    const args = ['--mount', '--propagation', 'private', 'sh', '-c', BOOT, 'sh', this.#directory, TOP];
    // Whatever becomes of this process: the machine is halted with it.
    const tied = ['--pdeathsig', 'TERM', 'unshare', ...args, `pointsman-${process.pid}`];
    this.#nspawn = spawn('setpriv', tied, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#exited = new Promise((resolve) => void this.#nspawn.once('exit', () => resolve()));
    for (const stream of [this.#nspawn.stdout, this.#nspawn.stderr])
      stream?.on('data', (words: Buffer) => (this.#said += words.toString()));
  }

  /** Resolves when systemd has booted. */
  static async boot(): Promise<SystemdMachine> {
    const machine = new SystemdMachine();
    try {
      // `degraded`: a unit of this machine failed in the copy, such as one that wants a disk.
      const hasBooted = async (): Promise<boolean> =>
        /^(?:running|degraded)$/m.test((await machine.run('systemctl', 'is-system-running')).output);
      await until('systemd', hasBooted, BOOT_MS);
      return machine;
    } catch (error) {
      await machine[Symbol.asyncDispose]();
      throw new Error(`systemd did not boot: ${machine.#said.slice(-2000)}`, { cause: error });
    }
  }

  async run(...command: readonly string[]): Promise<Outcome> {
    return this.#enter(command);
  }

  /** The output. Rejects when the command fails. */
  async must(...command: readonly string[]): Promise<string> {
    const { code, output } = await this.run(...command);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${output}`);
    return output;
  }

  async write(path: string, text: string): Promise<void> {
    const { code, output } = await this.#enter(
      ['sh', '-c', 'mkdir -p "$(dirname "$1")" && cat > "$1"', 'sh', path],
      text,
    );
    if (code !== 0) throw new Error(`${path}: ${output}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // nspawn halts its machine then.
    this.#nspawn.kill('SIGTERM');
    const killing = setTimeout(() => this.#nspawn.kill('SIGKILL'), HALT_MS);
    await this.#exited;
    clearTimeout(killing);
    rmSync(this.#directory, { recursive: true });
  }

  async #enter(command: readonly string[], input = ''): Promise<Outcome> {
    const leader = this.#leader();
    if (leader === undefined) return { code: -1, output: 'it does not run' };
    const args = ['--target', leader, '--mount', '--uts', '--ipc', '--pid', '--', ...command];
    const entering = promisify(execFile)('nsenter', args, { maxBuffer: 2 ** 24 });
    // A command that ends at once reads nothing.
    entering.child.stdin?.on('error', () => {});
    entering.child.stdin?.end(input);
    return entering.then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        output: stdout + stderr,
      }),
    );
  }

  /** Process 1 of the machine: the only child of nspawn. Before it there are those of the shell, which are ours. */
  #leader(): string | undefined {
    const { pid } = this.#nspawn;
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
      return readFileSync(`/proc/${children}/comm`, 'utf8') === 'systemd\n' ? children : undefined;
    } catch {
      return undefined;
    }
  }
}
