// Bounds the disk space of the cluster's past: after so much WAL it takes a new base copy. Older copies and WAL files
// go when neither the last two copies nor a branch needs them.
import { takeBaseCopy, type CopyUse, type BaseCopyPlan } from './base-copy.ts';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Root } from './ancestor.ts';
import { firstSegment, lastSegment, segmentOfFile } from './wal-files.ts';

export interface WalKeeperOptions extends Pick<BaseCopyPlan, 'superuser' | 'owner'> {
  readonly root: Root;
  /** Base copies are made here, the archive is given. */
  readonly directory: string;
  readonly archive: string;
  readonly uses: () => readonly CopyUse[];
  /** Bytes of WAL between two base copies. Default 256 MB. */
  readonly stride?: number;
}

const STRIDE = 256 * 1024 * 1024;
const RECENT = 2;

export class WalKeeper {
  readonly #options: WalKeeperOptions;
  readonly #ending = new AbortController();
  #copies = 0;
  #running: Promise<void> | undefined;

  constructor(options: WalKeeperOptions) {
    this.#options = options;
  }

  /** Rejects when the cluster has no primary, or the copy fails. */
  async takeCopy(): Promise<void> {
    const { root, superuser, owner } = this.#options;
    this.#copies += 1;
    const directory = join(this.#options.directory, `base-${this.#copies}`);
    const { signal } = this.#ending;
    try {
      root.addCopy(await takeBaseCopy({ server: root.primary(), directory, superuser, owner, signal }));
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** Does what is due. Never rejects: the next call tries again. */
  check(): Promise<void> {
    return (this.#running ??= this.#check()
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      }));
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #check(): Promise<void> {
    const { root, stride = STRIDE } = this.#options;
    const newest = root.recentCopies(1)[0]?.consistentAt ?? 0;
    const { position } = await root.position();
    if (position - newest < stride || this.#ending.signal.aborted) return;
    await this.takeCopy();
    await this.#clear();
  }

  async #clear(): Promise<void> {
    const { root, archive } = this.#options;
    const uses = this.#options.uses();
    for (const { directory } of root.retire(RECENT, uses)) await rm(directory, { recursive: true, force: true });
    const from = firstSegment(root.recentCopies(RECENT)[0]?.from ?? 0);
    for (const file of await readdir(archive)) {
      const segment = segmentOfFile(file);
      if (segment === undefined || segment >= from || uses.some((use) => isUsed(segment, use))) continue;
      await rm(join(archive, file), { force: true });
    }
  }
}

function isUsed(segment: number, { base, upTo }: CopyUse): boolean {
  return segment >= firstSegment(base.from) && segment <= lastSegment(upTo);
}
