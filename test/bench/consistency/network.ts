// Cuts between the hosts of a cluster that all are addresses of loopback. Netfilter marks each connection by its
// beginner (the group of the process) and its target (the address), and drops the packets of a pair, both ways.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ETCD_ADDRESS, hostGroup } from '../../support/patroni/site.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';

const run = promisify(execFile);

export const STORE = 'etcd';
export const POINTSMAN = 'Pointsman';
const POINTSMAN_GROUP = 63_999;
/** Words before the command of Pointsman. */
export const AS_POINTSMAN = ['setpriv', `--regid=${POINTSMAN_GROUP}`, '--clear-groups'];

interface Host {
  readonly name: string;
  readonly address?: string;
  readonly group?: number;
}

export class Network {
  readonly #hosts: readonly Host[];

  private constructor(hosts: readonly Host[]) {
    this.#hosts = hosts;
  }

  /** In a network namespace of this run: the rules end with it. */
  static async open(members: readonly MemberAddress[]): Promise<Network> {
    const hosts = [
      ...members.map(({ name, host }) => ({ name, address: host, group: hostGroup(host) })),
      { name: STORE, address: ETCD_ADDRESS },
      { name: POINTSMAN, group: POINTSMAN_GROUP },
    ];
    const network = new Network(hosts);
    for (const [at, { address, group }] of hosts.entries()) {
      if (group !== undefined)
        await mark(['--match', 'owner', '--gid-owner', String(group)], (at + 1) * FROM, FROM_MASK);
      if (address !== undefined) await mark(['--destination', address], (at + 1) * TO, TO_MASK);
    }
    return network;
  }

  names(): readonly string[] {
    return this.#hosts.map(({ name }) => name);
  }

  /** Between `one` and each of the others. Resolves with the function that heals it. */
  async cut(one: string, others: readonly string[]): Promise<() => Promise<void>> {
    const marks = others.flatMap((other) => [this.#mark(one, other), this.#mark(other, one)]);
    for (const each of marks) await iptables('--insert', ...dropped(each));
    return async () => {
      for (const each of marks) await iptables('--delete', ...dropped(each));
    };
  }

  #mark(from: string, to: string): number {
    return (this.#at(from) + 1) * FROM + (this.#at(to) + 1) * TO;
  }

  #at(name: string): number {
    const at = this.#hosts.findIndex((host) => host.name === name);
    if (at === -1) throw new Error(`no host ${name}`);
    return at;
  }
}

function dropped(mark: number): readonly string[] {
  return ['INPUT', '--match', 'connmark', '--mark', `${mark}/${FROM_MASK + TO_MASK}`, '--jump', 'DROP'];
}

const [FROM, FROM_MASK] = [0x1, 0xff];
const [TO, TO_MASK] = [0x100, 0xff00];

async function mark(match: readonly string[], value: number, mask: number): Promise<void> {
  const connection = ['--match', 'conntrack', '--ctstate', 'NEW', ...match];
  await iptables(
    '--table',
    'mangle',
    '--append',
    'OUTPUT',
    ...connection,
    '--jump',
    'CONNMARK',
    '--set-xmark',
    `${value}/${mask}`,
  );
}

async function iptables(...args: readonly string[]): Promise<void> {
  await run('iptables', ['--wait', ...args], {
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  });
}
