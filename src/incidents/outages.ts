// When an outage is summed up: as soon as its pool has a route again and no client of it waits; and once more when the
// incident settles, if its numbers have changed since.
import type { WaitingClients } from '../history/waiting-clients.ts';
import type { PoolName } from '../model/policy.ts';
import type { OutageEvent, ReportedEvent } from '../reports/events.ts';
import { outageSummary, restoredPools } from './outage-summary.ts';
import type { FlightRecorder } from './recorder.ts';
import type { IncidentDocument } from './schema.ts';

export interface OutagesOptions {
  /** They have each event before it comes here. */
  readonly waiting: Pick<WaitingClients, 'of'>;
  readonly incidents: Pick<FlightRecorder, 'currentId' | 'get' | 'subscribe'>;
  readonly tell: (event: OutageEvent) => void;
}

export class Outages {
  readonly #options: OutagesOptions;
  /** Pools without a route; and pools that have one again, whose last clients still wait. */
  readonly #lost = new Set<PoolName>();
  readonly #restored = new Set<PoolName>();
  /** The text that was told last, by pool. All are of one incident. */
  readonly #told = new Map<PoolName, string>();
  #incident: string | undefined;

  constructor(options: OutagesOptions) {
    this.#options = options;
    options.incidents.subscribe((change, document) => {
      if (change !== 'settled') return;
      for (const pool of restoredPools(document)) this.#tell(document, pool, true);
    });
  }

  take(event: ReportedEvent): void {
    if (event.kind === 'route_changed') this.#route(event.pool, event.to.kind === 'open');
    else if (event.kind === 'hold_ended') this.#look(event.pool);
  }

  #route(pool: PoolName, isOpen: boolean): void {
    if (!isOpen) {
      this.#lost.add(pool);
      this.#restored.delete(pool);
      return;
    }
    if (this.#lost.delete(pool)) this.#restored.add(pool);
    this.#look(pool);
  }

  #look(pool: PoolName): void {
    if ((this.#options.waiting.of(pool)?.now() ?? 0) > 0 || !this.#restored.delete(pool)) return;
    const id = this.#options.incidents.currentId();
    if (id !== undefined) void this.#sumUp(id, pool);
  }

  async #sumUp(id: string, pool: PoolName): Promise<void> {
    const document = await this.#options.incidents.get(id, { isUnredacted: true });
    if (document !== undefined) this.#tell(document, pool, false);
  }

  #tell(document: IncidentDocument, pool: PoolName, isFinal: boolean): void {
    const event = outageSummary(document, pool, isFinal);
    if (event === undefined) return;
    if (this.#incident !== document.id) this.#told.clear();
    this.#incident = document.id;
    if (this.#told.get(pool) === event.text) return;
    const isCorrection = isFinal && this.#told.has(pool);
    this.#told.set(pool, event.text);
    this.#options.tell(isCorrection ? { ...event, text: `${event.text} (corrected)` } : event);
  }
}
