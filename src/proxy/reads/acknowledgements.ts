// With the scope `proxy` the reads of a database must see everything that may have been acknowledged through this
// process before. While nothing is, they share one demand and one word of the primary.
import {
  countBytes,
  isStillReached,
  mayHaveAcknowledged,
  type CountedBytes,
  type ForwardedBytes,
} from '../../core/acknowledgements.ts';
import type { PrimaryServer } from '../../core/read-index.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { Positions, PrimaryWord, QuestionNumber } from '../../model/causal-reads.ts';

export interface AcknowledgementsOptions {
  readonly positions: Pick<Positions, 'newestQuestion' | 'lastPrimary'>;
  readonly snapshot: () => Snapshot;
  readonly proven: () => PrimaryServer | undefined;
  /** Undefined: of any database. */
  readonly forwarded: (database: string | undefined) => readonly ForwardedBytes[];
}

/** The first word of the primary that counts for reads. A later one would only be further ahead. */
export interface SharedWord {
  word: PrimaryWord | undefined;
}

/** All that a read must see. */
export interface ReadDemand {
  /** The primary must be asked behind this question. */
  readonly arrived: QuestionNumber;
  readonly shared: SharedWord;
}

interface DatabaseReads {
  readonly counted: CountedBytes;
  readonly demand: ReadDemand;
}

/** Clients choose the names. With more of them, all are forgotten: then their next reads ask. */
const MOST_DATABASES = 1000;

export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  readonly #databases = new Map<string | undefined, DatabaseReads>();

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  /** The demand of a read that arrives now. A question under way does not cover what was acknowledged meanwhile. */
  demand(database: string | undefined): ReadDemand {
    const { positions, snapshot, proven, forwarded } = this.#options;
    const [known, sources, now, primary] = [this.#databases.get(database), forwarded(database), snapshot(), proven()];
    if (known === undefined || mayHaveAcknowledged(known.counted, sources, now, primary)) {
      return this.#keep(database, countBytes(sources, now, primary), positions.newestQuestion());
    }
    const { counted, demand } = known;
    const { word } = demand.shared;
    const isReached = word === undefined || isStillReached(word, primary && positions.lastPrimary(primary));
    return isReached ? demand : this.#keep(database, counted, demand.arrived);
  }

  #keep(database: string | undefined, counted: CountedBytes, arrived: QuestionNumber): ReadDemand {
    const demand = { arrived, shared: { word: undefined } };
    if (this.#databases.size >= MOST_DATABASES) this.#databases.clear();
    this.#databases.set(database, { counted, demand });
    return demand;
  }
}
