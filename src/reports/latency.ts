// How fast the members of a pool with `balance: latency` answer, as one process, or all together, observed it.
import type { MemberLatency } from '../core/latency.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { sumOf } from '../model/sums.ts';

export type Latencies = ReadonlyMap<MemberName, MemberLatency>;

/** The means over all processes; the newest observation of any. */
export function meanOfLatencies(all: readonly Latencies[]): Latencies {
  const members = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map(
    [...members].map((member) => {
      const known = all.flatMap((one) => one.get(member) ?? []);
      return [
        member,
        {
          requestMs: mean(known.flatMap(({ requestMs }) => requestMs ?? [])),
          loginMs: mean(known.flatMap(({ loginMs }) => loginMs ?? [])),
          at: newest(known.flatMap(({ at }) => at ?? [])),
          share: mean(known.map(({ share }) => share)) ?? 1,
        },
      ];
    }),
  );
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : sumOf(values, (value) => value) / values.length;
}

function newest(instants: readonly Instant[]): Instant | undefined {
  return instants.length === 0 ? undefined : Math.max(...instants);
}
