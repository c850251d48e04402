// The files of incidents: one JSON document each, in one directory, within a number and a size. A file is written
// beside its place and renamed, so that a reader sees a whole document or none. Loaded where a directory is configured.
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { entryOf } from './incident-views.ts';
import { byId, ID } from './ids.ts';
import { incidentDocument, incidentEntry, type IncidentDocument, type IncidentEntry } from './schema.ts';

export interface StoreLimits {
  readonly maxBytes: number;
  readonly keep: number;
}

/** Only the user that runs Pointsman reads them: they name clients. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** The state is among the first keys of a document. */
const HEAD_BYTES = 256;
/** No incident is near it: it keeps at most 900 events. A larger file is not ours. */
const MOST_BYTES = 16 * 1024 * 1024;

const INDEX = 'index.json';

const indexFile = z.object({ entries: z.array(incidentEntry) });

/** The note of a command that has stored the incident on a model platform. It is beside the incident. */
export function uploadNote(id: string): string {
  return `${id}.upload.json`;
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text, { mode: FILE_MODE, flush: true });
  await rename(`${path}.tmp`, path);
}

export class FileStore {
  readonly #directory: string;
  readonly #limits: StoreLimits;

  constructor(directory: string, limits: StoreLimits) {
    this.#directory = directory;
    this.#limits = limits;
  }

  /** Newest first. Only ordinary files: to open a pipe may take for ever. */
  async #ids(): Promise<readonly string[]> {
    const files = (await readdir(this.#directory, { withFileTypes: true })).filter((file) => file.isFile());
    return files
      .flatMap(({ name }) => (name.endsWith('.json') && ID.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
      .toSorted(byId)
      .toReversed();
  }

  /** Makes the directory, and removes what an interrupted write has left. Returns the ids of open incidents. */
  async open(): Promise<readonly string[]> {
    await mkdir(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
    const files = await readdir(this.#directory);
    for (const file of files.filter((one) => one.endsWith('.json.tmp'))) await unlink(join(this.#directory, file));
    const found: string[] = [];
    for (const id of await this.#ids()) if (/"state":\s*"open"/.test(await this.#head(id))) found.push(id);
    return found;
  }

  /** Undefined: there is no such file, or it is no incident of this version. */
  async read(id: string): Promise<IncidentDocument | undefined> {
    if (!ID.test(id)) return undefined;
    try {
      const about = await stat(this.#pathOf(id));
      if (!about.isFile() || about.size > MOST_BYTES) return undefined;
      const parsed = incidentDocument.safeParse(JSON.parse(await readFile(this.#pathOf(id), 'utf8')));
      return parsed.data;
    } catch {
      return undefined;
    }
  }

  /** Reads the index, and the files that it does not name. */
  async entries(): Promise<readonly IncidentEntry[]> {
    const known = new Map((await this.#index()).map((entry) => [entry.id, entry]));
    const entries: IncidentEntry[] = [];
    for (const id of await this.#ids()) {
      const document = known.has(id) ? undefined : await this.read(id);
      const entry = known.get(id) ?? (document && entryOf(document));
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  /** Rejects if it cannot be written. Older incidents make room: their ids are returned. */
  async write(document: IncidentDocument, entries: readonly IncidentEntry[]): Promise<readonly string[]> {
    const path = this.#pathOf(document.id);
    await replace(path, JSON.stringify(document));
    const gone = await this.#makeRoom(document.id);
    const index = { entries: entries.filter(({ id }) => !gone.includes(id)) };
    await replace(join(this.#directory, INDEX), JSON.stringify(index));
    return gone;
  }

  async #makeRoom(written: string): Promise<readonly string[]> {
    let bytes = 0;
    const gone: string[] = [];
    for (const [index, id] of (await this.#ids()).entries()) {
      bytes += (await stat(this.#pathOf(id))).size;
      const isTooMuch = index >= this.#limits.keep || bytes > this.#limits.maxBytes;
      if (!isTooMuch || id === written) continue;
      await unlink(this.#pathOf(id));
      await rm(join(this.#directory, uploadNote(id)), { force: true });
      gone.push(id);
    }
    return gone;
  }

  /** Empty if it is absent or broken: the files have everything. */
  async #index(): Promise<readonly IncidentEntry[]> {
    try {
      return indexFile.parse(JSON.parse(await readFile(join(this.#directory, INDEX), 'utf8'))).entries;
    } catch {
      return [];
    }
  }

  async #head(id: string): Promise<string> {
    await using file = await open(this.#pathOf(id), 'r');
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  }

  #pathOf(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}
