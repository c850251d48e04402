// How fast the members of a pool with `balance: latency` answer, as one process, or all together, observed it.
import type { MemberName } from '../model/member.ts';
import { sumOf } from '../model/sums.ts';

export interface MemberLatency {
  /** From a request to the first byte of its reply. Undefined: none was observed. Milliseconds. */
  readonly requestMs: number | undefined;
  /** From the start of the connect to the first byte of the server's answer to the login. Milliseconds. */
  readonly loginMs: number | undefined;
  /** The part of its weight that the member has for new sessions. */
  readonly share: number;
}

export type Latencies = ReadonlyMap<MemberName, MemberLatency>;

/** The means over all processes. */
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
          share: mean(known.map(({ share }) => share)) ?? 1,
        },
      ];
    }),
  );
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : sumOf(values, (value) => value) / values.length;
}
