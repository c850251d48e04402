// Makes the documents of incidents, keeps them in the archive, and tells the listeners of each change.
import type { Clock, Instant } from '../model/instant.ts';
import { takingTurns } from '../model/taking-turns.ts';
import type { EventIds } from '../reports/event-ids.ts';
import { Archive, type ArchiveOptions } from './archive.ts';
import type { DocumentWords } from './incident-document.ts';
import type { OpenIncident } from './open-incident.ts';
import type { IncidentDocument } from './schema.ts';

export interface PublisherOptions {
  readonly clock: Clock;
  /** Epoch milliseconds: to show times. */
  readonly wallClock: () => number;
  readonly ids: EventIds;
  readonly words: Pick<DocumentWords, 'message' | 'fields'>;
  readonly archive: ArchiveOptions;
  /** A bug: routing goes on. */
  readonly onFault: (error: unknown) => void;
}

export type IncidentChange = 'opened' | 'reopened' | 'settled';

type IncidentListener = (change: IncidentChange, document: IncidentDocument) => void;

export class Publisher {
  readonly archive: Archive;
  readonly #options: PublisherOptions;
  /** Wall-clock time of the instant 0, as it was when the current incident began. */
  #epoch = 0;
  readonly #inTurn = takingTurns();
  #work: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<IncidentListener>();

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.archive = new Archive(options.archive);
    this.setClock();
  }

  /** Times are shown by the wall clock as it is now. */
  setClock(): void {
    const { wallClock, clock } = this.#options;
    this.#epoch = wallClock() - clock.now();
  }

  time(at: Instant): string {
    return new Date(this.#epoch + at).toISOString();
  }

  subscribe(listener: IncidentListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Makes the document after the events of this turn; one after the other. `isLast`: the program ends. */
  publish(incident: OpenIncident, change?: IncidentChange, isLast = false): void {
    this.#work = this.#inTurn(async () => {
      try {
        const document = await this.documentOf(incident);
        if (isLast) this.archive.saveEnded(document);
        else this.archive.save(document);
        if (change !== undefined) for (const listener of this.#listeners) listener(change, document);
      } catch (error) {
        this.#options.onFault(error);
      }
    });
  }

  async documentOf(incident: OpenIncident): Promise<IncidentDocument> {
    const { documentOf } = await import('./incident-document.ts');
    const { words, ids } = this.#options;
    return documentOf(incident.recorded(), {
      ...words,
      time: (at) => this.time(at),
      id: (number) => ids.idOf(number),
    });
  }

  /** Resolves when nothing waits to be written. */
  async written(): Promise<void> {
    await this.#work;
    await this.archive.written();
  }
}
