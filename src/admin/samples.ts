// The last hour in numbers, for charts: a ring of samples. Memory is bounded in time and in names; a name that was away
// for an hour is forgotten.
import type { Instant } from '../model/instant.ts';
import type { SamplesDocument } from '../documents/samples-document.ts';

export interface PoolSample {
  /** Those that are parked included. */
  readonly sessions: number;
  readonly waiting: number;
  /** Parked, or moving. */
  readonly parked: number;
}

export interface MemberSample {
  /** Undefined: unknown, or it is the primary. */
  readonly lagBytes: number | undefined;
  readonly sessions: number;
}

export interface Sample {
  readonly at: Instant;
  readonly pools: ReadonlyMap<string, PoolSample>;
  readonly members: ReadonlyMap<string, MemberSample>;
}

export const SAMPLE_MS = 5000;
const KEPT = 3_600_000 / SAMPLE_MS;
/** Pools, and members. 9 kB and 6 kB each. */
const MOST_NAMES = 100;

interface SampleSeries<Field extends string> {
  readonly values: Readonly<Record<Field, Float32Array>>;
  /** The number of its newest sample. */
  last: number;
}

/** Series of names that come and go. */
class NamedSeries<Field extends string> {
  readonly #fields: readonly Field[];
  readonly #series = new Map<string, SampleSeries<Field>>();

  constructor(...fields: readonly Field[]) {
    this.#fields = fields;
  }

  /** `number`: of the sample. Undefined values are unknown. */
  put(number: number, rows: ReadonlyMap<string, Readonly<Record<Field, number | undefined>>>): void {
    const index = number % KEPT;
    for (const [name, series] of this.#series) {
      if (number - series.last >= KEPT) this.#series.delete(name);
      else for (const field of this.#fields) series.values[field][index] = NaN;
    }
    for (const [name, row] of rows) {
      const series = this.#series.get(name) ?? this.#added(name, rows);
      if (series === undefined) continue;
      series.last = number;
      for (const field of this.#fields) series.values[field][index] = row[field] ?? NaN;
    }
  }

  document(indexes: readonly number[]): Record<string, Record<Field, (number | null)[]>> {
    const listed = (values: Float32Array): (number | null)[] =>
      indexes.map((index) => {
        const value = values[index] ?? NaN;
        return Number.isNaN(value) ? null : value;
      });
    return Object.fromEntries(
      [...this.#series].map(([name, { values }]) => [name, this.#record((field) => listed(values[field]))]),
    );
  }

  /** At the limit it replaces a name that is gone. Undefined if all are in use. */
  #added(name: string, present: ReadonlyMap<string, unknown>): SampleSeries<Field> | undefined {
    if (this.#series.size >= MOST_NAMES) {
      const [gone] = [...this.#series]
        .filter(([known]) => !present.has(known))
        .toSorted((a, b) => a[1].last - b[1].last);
      if (gone === undefined) return undefined;
      this.#series.delete(gone[0]);
    }
    const series = { values: this.#record(() => new Float32Array(KEPT).fill(NaN)), last: 0 };
    this.#series.set(name, series);
    return series;
  }

  #record<Value>(valueOf: (field: Field) => Value): Record<Field, Value> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field has its entry
    return Object.fromEntries(this.#fields.map((field) => [field, valueOf(field)])) as Record<Field, Value>;
  }
}

export class Samples {
  readonly #times = new Float64Array(KEPT);
  readonly #pools = new NamedSeries<keyof PoolSample>('sessions', 'waiting', 'parked');
  readonly #members = new NamedSeries<keyof MemberSample>('lagBytes', 'sessions');
  #count = 0;

  /** Every SAMPLE_MS, with ascending instants. */
  put({ at, pools, members }: Sample): void {
    this.#times[this.#count % KEPT] = at;
    this.#pools.put(this.#count, pools);
    this.#members.put(this.#count, new Map(members));
    this.#count += 1;
  }

  /** `wallClock`: milliseconds since 1970, of the same moment as `now`. Oldest first. */
  document(now: Instant, wallClock: number): SamplesDocument {
    const first = Math.max(0, this.#count - KEPT);
    const indexes = Array.from({ length: this.#count - first }, (_, index) => (first + index) % KEPT);
    return {
      interval_seconds: SAMPLE_MS / 1000,
      times: indexes.map((index) => Math.round(wallClock - now + (this.#times[index] ?? 0)) / 1000),
      pools: this.#pools.document(indexes),
      members: Object.fromEntries(
        Object.entries(this.#members.document(indexes)).map(([name, { lagBytes, sessions }]) => [
          name,
          { lag_bytes: lagBytes, sessions },
        ]),
      ),
    };
  }
}
