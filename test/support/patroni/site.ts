// Where one cluster lives: its temporary directory, ports and addresses, and how its processes are launched.
import { chownSync, copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Installation, patroniAvailability } from './availability.ts';
import { findFreePorts } from '../sockets/free-ports.ts';
import { type ApiAuthentication, type ApiTls, type ClusterOptions, dynamicConfig } from './settings.ts';
import { makeSiteTls, type SiteTls } from './site-tls.ts';
import type { SupervisedCommand } from './supervised-process.ts';

const SUPERVISOR = join(import.meta.dirname, 'supervise.py');
export const ETCD_ADDRESS = '127.0.0.10';
/** No system has accounts there. */
const FIRST_GROUP = 64_000;

export type Site = {
  readonly scope: string;
  readonly directory: string;
  readonly installation: Installation;
  readonly launch: Pick<SupervisedCommand, 'python' | 'script' | 'account' | 'clusterDir'>;
  readonly etcd: string;
  readonly etcdPeer: string;
  /** The same for every member: each has an address of its own. */
  readonly apiPort: number;
  readonly port: number;
  readonly dynamic: Readonly<Record<string, unknown>>;
  readonly callbacks: Readonly<Record<string, string>>;
  readonly apiAuthentication: ApiAuthentication | undefined;
  /** Undefined: no TLS. */
  readonly tls: SiteTls | undefined;
  readonly apiTls: ApiTls | undefined;
  readonly hasHostGroups: boolean;
};

/** 127.0.0.11 for the first member, and so on. */
export function memberAddress(index: number): string {
  return `127.0.0.${11 + index}`;
}

export async function prepareSite(options: ClusterOptions, memberCount: number): Promise<Site> {
  const availability = patroniAvailability();
  if (!availability.available) throw new Error(`Patroni is not installed: ${availability.howToInstall}`);
  const { installation } = availability;
  const addresses = Array.from({ length: memberCount }, (_, index) => memberAddress(index));
  const [apiPort, port] = await findFreePorts(2, addresses);
  const [etcdPort, etcdPeerPort] = await findFreePorts(2, [ETCD_ADDRESS]);
  if (apiPort === undefined || port === undefined) throw new Error('no ports for the members');
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-patroni-'));
  giveTo(installation, directory);
  const script = join(directory, 'supervise.py');
  copyFileSync(SUPERVISOR, script);
  giveTo(installation, script);
  return {
    scope: basename(directory).toLowerCase(),
    directory,
    installation,
    launch: { python: installation.python, script, account: installation.account, clusterDir: directory },
    etcd: `${ETCD_ADDRESS}:${etcdPort}`,
    etcdPeer: `${ETCD_ADDRESS}:${etcdPeerPort}`,
    apiPort,
    port,
    dynamic: dynamicConfig(options),
    callbacks: options.callbacks ?? {},
    apiAuthentication: options.apiAuthentication,
    tls: options.tls === true ? makeSiteTls(directory, (path) => giveTo(installation, path)) : undefined,
    apiTls: options.apiTls,
    hasHostGroups: options.hostGroups ?? false,
  };
}

/** The group of a member's processes, where each has its own. */
export function hostGroup(host: string): number {
  return FIRST_GROUP + Number(host.slice(host.lastIndexOf('.') + 1));
}

export function giveTo(installation: Installation, path: string): void {
  if (installation.account !== undefined) chownSync(path, installation.account.uid, installation.account.gid);
}
