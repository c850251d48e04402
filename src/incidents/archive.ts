// Where incidents are kept: in a directory if there is one and it works, else in memory. Writes go one after the other
// and nobody waits for them; of an incident that changes faster than the disk writes, only its newest state is written.
import type { FileStore, StoreLimits } from './file-store.ts';
import { entryOf } from './incident-views.ts';
import { byId, nextId } from './ids.ts';
import type { IncidentDocument, IncidentEntry, MissingEvidence } from './schema.ts';

export interface ArchiveOptions extends StoreLimits {
  /** Undefined: memory only. */
  readonly directory: string | undefined;
  /** Called when the directory cannot be used, and not again until it could. */
  readonly onFailing: (why: string) => void;
}

/** Without a disk: enough for the story of a bad day, and little memory. */
const MOST_IN_MEMORY = 10;

const ENDED: MissingEvidence = {
  what: 'process_ended',
  why: 'Pointsman ended while the incident was open: what came later is not recorded.',
};

export class Archive {
  readonly #options: ArchiveOptions;
  /** Not written, or not yet. */
  readonly #memory = new Map<string, IncidentDocument>();
  /** The limit on files, and on memory. */
  readonly #entries = new Map<string, IncidentEntry>();
  #files: FileStore | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<string>();
  #isFailing = false;

  constructor(options: ArchiveOptions) {
    this.#options = options;
  }

  /** Reads which incidents there are, and marks those that were open when the last run ended. Never rejects. */
  async open(): Promise<void> {
    const { directory } = this.#options;
    if (directory === undefined) return;
    const { FileStore: Store } = await import('./file-store.ts');
    const files = new Store(directory, this.#options);
    await this.#try(async () => {
      const interrupted = await files.open();
      for (const entry of await files.entries()) this.#entries.set(entry.id, entry);
      this.#files = files;
      for (const id of interrupted) {
        const document = await files.read(id);
        const entry = this.#entries.get(id);
        if (document !== undefined) this.saveEnded(document);
        // Another version wrote it.
        else if (entry !== undefined) this.#entries.set(id, { ...entry, state: 'settled' });
      }
    });
    await this.written();
  }

  /** An id that no incident has. */
  newId(day: string): string {
    return nextId(day, this.#entries.keys());
  }

  /** Newest first. */
  list(): readonly IncidentEntry[] {
    return [...this.#entries.values()].toSorted((a, b) => byId(b.id, a.id));
  }

  async get(id: string): Promise<IncidentDocument | undefined> {
    return this.#memory.get(id) ?? (await this.#files?.read(id));
  }

  save(document: IncidentDocument): void {
    this.#memory.set(document.id, document);
    this.#entries.set(document.id, entryOf(document));
    this.#forget();
    this.#queue(document.id);
  }

  /** An incident that is open goes on without Pointsman. */
  saveEnded(document: IncidentDocument): void {
    this.save(document.state === 'open' ? endedDocument(document) : document);
  }

  /** Resolves when everything is written, or could not be. */
  async written(): Promise<void> {
    let seen: Promise<void>;
    do {
      seen = this.#writing;
      await seen;
    } while (seen !== this.#writing);
  }

  async #write(id: string): Promise<void> {
    this.#waiting.delete(id);
    const document = this.#memory.get(id);
    const files = this.#files;
    if (document === undefined || files === undefined) return;
    await this.#try(async () => {
      const gone = await files.write(document, this.list());
      for (const one of gone) this.#entries.delete(one);
      // A newer state may have come meanwhile.
      if (this.#memory.get(id) === document) this.#memory.delete(id);
      this.#isFailing = false;
      // Those that the disk refused before.
      for (const other of this.#memory.keys()) this.#queue(other);
    });
  }

  #queue(id: string): void {
    if (this.#files === undefined || this.#waiting.has(id)) return;
    this.#waiting.add(id);
    this.#writing = this.#writing.then(() => this.#write(id));
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#isFailing) return;
      this.#isFailing = true;
      this.#options.onFailing(error instanceof Error ? error.message : String(error));
    }
  }

  #forget(): void {
    const most = Math.min(this.#options.keep, MOST_IN_MEMORY);
    for (const id of [...this.#memory.keys()].toSorted(byId).slice(0, -most)) {
      this.#memory.delete(id);
      this.#entries.delete(id);
    }
  }
}

function endedDocument(document: IncidentDocument): IncidentDocument {
  return { ...document, state: 'settled', interrupted: true, missing: [...document.missing, ENDED] };
}
