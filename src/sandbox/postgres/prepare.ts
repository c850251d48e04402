// Prepares a row of servers that only need to be started: binaries, one initdb, a cold copy for each member, ports, and
// a guard that removes everything when this process is killed.
import { mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findBinaries, type Binaries, type BinariesChoice } from './binaries.ts';
import { copyTree } from './copy-tree.ts';
import { takeFreePort } from './free-ports.ts';
import { startGuard } from './guard.ts';
import { SandboxServer, type PostgresServer } from './postgres-server.ts';
import { findServerUser, give, whyUnreachable, type RunAs, type ServerUser } from './run-as.ts';
import type { Parameters } from './server-types.ts';
import { archiveSettings, tlsSettings, type Credentials } from './settings-files.ts';
import { SUPERUSER, initdb, makeTemplate, readSystemIdentifier, type Initialize } from './template.ts';
import { makeCertificates, type LabCertificates } from './certificates.ts';
import { makeUsable } from './usable-binaries.ts';

export interface PrepareOptions {
  /** Absolute, existing and empty: the caller creates it (mkdtemp), close() removes it. */
  readonly directory: string;
  /**
   * One server for each name. It is the directory's name and cluster_name, and so the application_name of the WAL
   * receiver.
   */
  readonly names: readonly string[];
  /** Default `embedded`. */
  readonly postgres?: BinariesChoice;
  /** Default: initdb. */
  readonly initialize?: Initialize;
  /** A directory below `directory` that keeps every finished WAL file of these servers. Default: they are not kept. */
  readonly walArchive?: string;
  /** They take TLS alone, with a certificate of an authority of their own. Default: no TLS. */
  readonly tls?: boolean;
  /** Called with one readable line. */
  readonly onProgress?: (text: string) => void;
}

export interface PreparedServers {
  /**
   * In the order of `names`; none is started. Each can be started as the primary, and the others then stream from it,
   * because their data directories are copies of one.
   */
  readonly servers: readonly PostgresServer[];
  readonly superuser: Credentials;
  /** Undefined: without TLS. */
  readonly certificates: LabCertificates | undefined;
  /** From pg_control, the same for all. */
  readonly systemIdentifier: string;
  /** In PostgreSQL's format: 18.4. */
  readonly version: string;
  /** One more server, for a data directory that the caller makes. Finished WAL files are kept in `wal` beside it. */
  add(name: string): Promise<SandboxServer>;
  /** Ends a server that was added, and removes its files. */
  remove(server: SandboxServer): Promise<void>;
  /** Owns the files of the servers. Undefined: our own user. */
  readonly owner: ServerUser | undefined;
  /** Ends every running server at once, and removes the directory. Idempotent. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** Rejects with a message for people: no binaries, no user to run them as, or a directory that is not empty. */
export async function preparePostgres(options: PrepareOptions): Promise<PreparedServers> {
  const directory = await realpath(options.directory);
  // The directory is removed at the end with its contents, so it must be empty now.
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty`);
  const dismissGuard = startGuard(directory);
  const servers: SandboxServer[] = [];
  let closing: Promise<void> | undefined;
  async function clear(): Promise<void> {
    await Promise.all(servers.map((server) => server.close()));
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    await dismissGuard();
  }
  const close = (): Promise<void> => (closing ??= clear());
  try {
    return { ...(await fill(directory, options, servers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `servers` has those that close() ends. */
async function fill(
  directory: string,
  options: PrepareOptions,
  servers: SandboxServer[],
): Promise<Omit<PreparedServers, 'close'>> {
  const { names, postgres = 'embedded', initialize = initdb, walArchive, onProgress = () => {} } = options;
  const runAs: RunAs = { user: await findServerUser(), directory };
  await give(directory, runAs.user);
  const why = await whyUnreachable(runAs);
  if (why !== undefined) throw new Error(why);
  const { bin, version } = await programs(postgres, runAs);
  const source = postgres === 'embedded' ? 'npm' : dirname(bin.postgres);
  onProgress(`PostgreSQL ${version} from ${source}${runAs.user === undefined ? '' : `, run as ${runAs.user.name}`}`);
  const certificates = options.tls === true ? await makeCertificates(runAs) : undefined;
  const template = join(directory, 'template');
  const password = await initialize(bin, runAs, template);
  await makeTemplate(runAs, template, certificates !== undefined);
  const superuser: Credentials = { user: SUPERUSER, password, authority: certificates?.authority };
  onProgress(`database cluster made; ${names.length} members begin as copies of it`);
  const systemIdentifier = await readSystemIdentifier(template);
  const homeOf = (name: string): string => join(directory, name);
  async function addServer(name: string, settings: Parameters): Promise<SandboxServer> {
    const place = { name, host: HOST, port: await takeFreePort(), directory: homeOf(name) };
    const own = certificates === undefined ? settings : { ...settings, ...tlsSettings(certificates.server) };
    const server = new SandboxServer({ bin, runAs, superuser, ...place, settings: own });
    servers.push(server);
    return server;
  }
  if (walArchive !== undefined) await makeOwned(join(directory, walArchive), runAs);
  const settings = walArchive === undefined ? {} : archiveSettings(`../../${walArchive}`);
  for (const name of names) await addServer(name, settings);
  await handOut(template, servers, runAs);
  return {
    servers: [...servers],
    superuser,
    certificates,
    systemIdentifier,
    version,
    owner: runAs.user,
    async add(name) {
      await makeOwned(homeOf(name), runAs);
      await makeOwned(join(homeOf(name), 'wal'), runAs);
      return addServer(name, archiveSettings('../wal'));
    },
    async remove(server) {
      await server.close();
      servers.splice(servers.indexOf(server), 1);
      await rm(homeOf(server.name), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

async function makeOwned(directory: string, { user }: RunAs): Promise<void> {
  await mkdir(directory, { mode: 0o700 });
  await give(directory, user);
}

async function programs(choice: BinariesChoice, runAs: RunAs): Promise<{ bin: Binaries; version: string }> {
  const found = await findBinaries(choice);
  if (found.kind === 'missing') throw new Error(`no PostgreSQL to run: ${found.why}`);
  const usable = await makeUsable(found.bin, runAs);
  if (usable.kind === 'unusable') throw new Error(`no PostgreSQL to run: ${usable.why}`);
  return usable;
}

/** A copy for each member but the last, which gets the template itself. */
async function handOut(template: string, servers: readonly SandboxServer[], runAs: RunAs): Promise<void> {
  await Promise.all(
    servers.map(async ({ dataDirectory }, at) => {
      await makeOwned(join(dataDirectory, '..'), runAs);
      if (at < servers.length - 1) await copyTree(template, dataDirectory, { owner: runAs.user });
    }),
  );
  const last = servers.at(-1);
  if (last !== undefined) await rename(template, last.dataDirectory);
}
