// Two hosts and the network between them, with a client on it: three network namespaces. Each has a process of its own
// that holds it, so that nothing of them is left when the test ends, however it ends.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const LONGEST_S = 300;
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };

export class NetworkSpace implements AsyncDisposable {
  readonly #holder: ReturnType<typeof spawn>;

  private constructor(holder: ReturnType<typeof spawn>) {
    this.#holder = holder;
  }

  static async open(): Promise<NetworkSpace> {
    const script = `ip link set lo up && echo up && exec sleep ${LONGEST_S}`;
    const command = ['--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-c', script];
    const holder = spawn('setpriv', command, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'exit').then(() => Promise.reject(new Error('a network namespace ended at its start'))),
    ]);
    return new NetworkSpace(holder);
  }

  get pid(): number {
    if (this.#holder.pid === undefined) throw new Error('no process');
    return this.#holder.pid;
  }

  /** The words before a command that runs in here. */
  get enter(): readonly string[] {
    return ['nsenter', '--target', String(this.pid), '--net', '--'];
  }

  /** Resolves with the output; rejects when the command fails. */
  async run(...command: readonly string[]): Promise<string> {
    const [program = '', ...args] = [...this.enter, ...command];
    return (await promisify(execFile)(program, args, { env })).stdout;
  }

  /** Runs on; ends with the test, at the latest. */
  start(...command: readonly string[]): AsyncDisposable {
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', ...this.enter, ...command], { env, stdio: 'ignore' });
    return ending(child, 'SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await ending(this.#holder, 'SIGKILL')[Symbol.asyncDispose]();
  }
}

function ending(child: ReturnType<typeof spawn>, signal: NodeJS.Signals): AsyncDisposable {
  const exited = once(child, 'exit');
  return {
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await exited;
    },
  };
}

export type Side = 0 | 1;

export interface TwoHosts extends AsyncDisposable {
  readonly hosts: readonly [NetworkSpace, NetworkSpace];
  readonly client: NetworkSpace;
  /** Pulls the cable of a host, or plugs it in. */
  readonly cable: (host: Side, state: 'down' | 'up') => Promise<void>;
}

/** The hosts have 10.0.0.5 and 10.0.0.6 on eth0, the client 10.0.0.9. */
export async function twoHosts(): Promise<TwoHosts> {
  await using ours = new AsyncDisposableStack();
  const open = async (): Promise<NetworkSpace> => ours.use(await NetworkSpace.open());
  const [client, ...hosts] = [await open(), await open(), await open()] as const;
  await client.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
  await client.run('ip', 'addr', 'add', '10.0.0.9/24', 'dev', 'br0');
  await client.run('ip', 'link', 'set', 'br0', 'up');
  for (const [at, host] of hosts.entries()) {
    const [port, pid] = [`port${at}`, String(host.pid)];
    await client.run('ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid);
    await client.run('ip', 'link', 'set', port, 'master', 'br0', 'up');
    await host.run('ip', 'addr', 'add', `10.0.0.${5 + at}/24`, 'dev', 'eth0');
    await host.run('ip', 'link', 'set', 'eth0', 'up');
  }
  const kept = ours.move();
  return {
    hosts,
    client,
    cable: async (host, state) => void (await client.run('ip', 'link', 'set', `port${host}`, state)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
