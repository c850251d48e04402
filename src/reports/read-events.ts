// Events about causal reads that were late.
import type { ReadScope } from '../model/causal-reads.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { LateResult } from './causal-reads.ts';
import type { EventClass } from './event-parts.ts';

interface OfLateMember {
  readonly pool: PoolName;
  /** It did not show in time what the reads had to see. */
  readonly member: MemberName;
  readonly count: number;
}

export type ReadEvent =
  /** `isFirst`: none was late there for 10 s before. After it they are told once in a second. */
  | (OfLateMember & {
      readonly kind: 'reads_late';
      readonly result: LateResult;
      /** Undefined: a reload has just switched causal reads off. */
      readonly readsScope: ReadScope | undefined;
      /** The newest one waited for this. A sentence. */
      readonly why: string;
      readonly isFirst?: true;
    })
  /** For 10 s none was late. `count`: all that were before, from the first to the last in `durationMs`. */
  | (OfLateMember & { readonly kind: 'reads_in_time'; readonly durationMs: number });

export const READ_EVENT_CLASSES = {
  reads_late: 'story',
  reads_in_time: 'story',
} as const satisfies Readonly<Record<ReadEvent['kind'], EventClass>>;
