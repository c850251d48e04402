// The causal reads of one proxy: gives each session of a pool with `causal_reads` its gate, and has what they share.
import { primaryServer } from '../../core/read-index.ts';
import type { Positions } from '../../model/causal-reads.ts';
import { memoized } from '../../model/once.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { CausalReadCounts } from '../../reports/causal-reads.ts';
import { apart, sharedClock } from '../fault.ts';
import type { ProxyDependencies, ProxyPolicy } from '../options.ts';
import type { SessionRegistry } from '../session-registry.ts';
import type { SessionControl } from '../stage.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { Detours } from './detours.ts';
import { LateEpisodes } from './late-episodes.ts';
import { ReadCounts } from './read-counts.ts';
import { ReadGate } from './read-gate.ts';
import { ReadTrain } from './read-train.ts';

export interface CausalReadsOptions extends Pick<ProxyDependencies, 'clock' | 'onEvent' | 'snapshot' | 'table'> {
  readonly registry: SessionRegistry;
  /** Absent: nobody can ask, so no session is gated. */
  readonly positions: Positions | undefined;
  readonly policy: () => ProxyPolicy;
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
}

export class CausalReads {
  readonly #options: CausalReadsOptions;
  readonly #pools = new Map<PoolName, { readonly counts: ReadCounts; readonly late: LateEpisodes }>();
  readonly #train: () => ReadTrain | undefined;
  readonly #acknowledgements: () => Acknowledgements | undefined;
  readonly #detours: Detours;
  #hasTrain = false;

  constructor(options: CausalReadsOptions) {
    this.#options = options;
    this.#detours = new Detours(options);
    this.#train = memoized(() => this.#newTrain());
    this.#acknowledgements = memoized(() => this.#newAcknowledgements());
  }

  /** Undefined: the transactions of the session begin when they come. `database`: absent, it is not known. */
  gateFor(session: SessionControl, { name, causalReads }: PoolPolicy, database?: string): ReadGate | undefined {
    const { positions, pool, policy, clock } = this.#options;
    const train = causalReads === undefined ? undefined : this.#train();
    if (train === undefined || positions === undefined) return undefined;
    return new ReadGate({
      session,
      train,
      clock,
      counts: this.#countsOf(name),
      holdMs: () => policy().hold.clientTimeoutMs,
      newestQuestion: () => positions.newestQuestion(),
      acknowledged: () => this.#acknowledgements()?.demand(database),
      detours: this.#detours,
      keepsDetour: () => pool(name)?.onLeave.fallback_over === 'keep',
      policy: () => pool(name)?.causalReads,
    });
  }

  /** Undefined: no session of the pool was gated. */
  counts(pool: PoolName): CausalReadCounts | undefined {
    return this.#pools.get(pool)?.counts.counts();
  }

  tableChanged(): void {
    if (this.#hasTrain) this.#train()?.tableChanged();
  }

  stop(): void {
    if (this.#hasTrain) this.#train()?.stop();
    for (const { late } of this.#pools.values()) late.stop();
  }

  #countsOf(pool: PoolName): ReadCounts {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known.counts;
    const { clock, onEvent } = this.#options;
    const late = new LateEpisodes({
      pool,
      scope: () => this.#options.pool(pool)?.causalReads?.scope,
      clock: sharedClock(clock),
      onEvent,
    });
    const counts = new ReadCounts({ clock, late });
    this.#pools.set(pool, { counts, late });
    return counts;
  }

  #newAcknowledgements(): Acknowledgements | undefined {
    const { positions, snapshot, registry, policy, clock } = this.#options;
    if (positions === undefined || snapshot === undefined) return undefined;
    return new Acknowledgements({
      positions,
      snapshot,
      proven: () => {
        const { pools, probe } = policy();
        return primaryServer({ pools, snapshot: snapshot(), since: clock.now() - (probe?.writeMaxAgeMs ?? 0) });
      },
      forwarded: (database) => registry.forwarded(database),
    });
  }

  #newTrain(): ReadTrain | undefined {
    const { positions, snapshot, policy, clock } = this.#options;
    if (positions === undefined || snapshot === undefined) return undefined;
    this.#hasTrain = true;
    return new ReadTrain({
      positions,
      snapshot,
      clock: sharedClock(clock),
      apart: (run) => apart(run)(),
      pools: () => policy().pools,
      questions: () => policy().questions,
      maxAgeMs: () => policy().probe?.writeMaxAgeMs ?? 0,
    });
  }
}
