// The data directory of one server: the files that the sandbox writes there, and what is left in it after a death. It
// outlives each postmaster.
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { takeBaseBackup } from './base-backup.ts';
import { clearAfterDeath } from './postmaster-file.ts';
import { killAll } from './process-tree.ts';
import { postgresProcessesIn } from './processes.ts';
import type { RunAs } from './run-as.ts';
import type { Parameters, RecoveryRole, ServerRole, Upstream } from './server-types.ts';
import { PARAMETERS_FILE, UPSTREAM_FILE, hbaText, parametersText, upstreamText } from './settings-files.ts';
import type { Credentials } from './settings-files.ts';
import { writeOwned } from './template.ts';

/** A running server. */
export interface CopySource extends Upstream {
  readonly dataDirectory: string;
}

const HBA_FILE = 'pg_hba.conf';

export class DataDirectory {
  readonly path: string;
  readonly #runAs: RunAs;
  readonly #superuser: Credentials;
  /** No server streams from this one. In force with the next `writeAccess`. */
  isCut = false;
  /** In force with the next `follow`. */
  replayDelayMs = 0;
  #upstream: Upstream | undefined;

  constructor(path: string, runAs: RunAs, superuser: Credentials) {
    this.path = path;
    this.#runAs = runAs;
    this.#superuser = superuser;
  }

  /** Writes what a start in this role reads. */
  async prepare(role: ServerRole | RecoveryRole, parameters: Parameters): Promise<void> {
    await this.writeAccess();
    await this.configure(parameters);
    await this.follow(role.kind === 'standby' ? role.upstream : undefined);
    await rm(join(this.path, 'standby.signal'), { force: true });
    if (role.kind !== 'primary') await this.#write(`${role.kind}.signal`, '');
  }

  configure(parameters: Parameters): Promise<void> {
    return this.#write(PARAMETERS_FILE, parametersText(parameters));
  }

  follow(upstream: Upstream | undefined): Promise<void> {
    this.#upstream = upstream;
    return this.#write(UPSTREAM_FILE, upstreamText(upstream, this.#superuser, this.replayDelayMs));
  }

  upstream(): Upstream | undefined {
    return this.#upstream;
  }

  writeAccess(): Promise<void> {
    return this.#write(HBA_FILE, hbaText(this.isCut, this.#superuser.authority !== undefined));
  }

  /** Removes the remains of a postmaster that died: orphaned children, shared memory, its pid file. */
  async clearAway(): Promise<void> {
    await killAll(await postgresProcessesIn(this.path));
    await clearAfterDeath(this.path);
  }

  async copyFrom(source: CopySource, signal: AbortSignal): Promise<void> {
    await this.clearAway();
    await rm(this.path, { recursive: true, force: true });
    await mkdir(dirname(this.path), { recursive: true });
    const address = { host: source.host, port: source.port, ...this.#superuser };
    await takeBaseBackup({ address, dataDirectory: source.dataDirectory }, this.path, this.#runAs.user, signal);
  }

  async #write(file: string, text: string): Promise<void> {
    await writeOwned(join(this.path, file), text, this.#runAs);
  }
}
