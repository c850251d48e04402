// Events about operations on the cluster that take a while.
import type { MemberName } from '../model/member.ts';
import type { EventClass } from './event-parts.ts';

/**
 * `refused`: nothing was changed. `failed`: the primary did not change. `unknown`: the request was sent, and the result
 * was not seen in time. `cancelled`: by the operator, a reload or the shutdown.
 */
export const OPERATION_OUTCOMES = ['done', 'refused', 'failed', 'cancelled', 'unknown'] as const;
export type OperationOutcome = (typeof OPERATION_OUTCOMES)[number];

/** About an operation that takes a while. `operation`: its id. */
export type OperationEvent =
  | {
      readonly kind: 'operation_started';
      readonly operation: string;
      readonly what: 'switchover';
      /** Undefined: the cluster chooses the next primary. */
      readonly to: MemberName | undefined;
    }
  /** A phase begins. `before`: the phase that ended. */
  | {
      readonly kind: 'operation_phase';
      readonly operation: string;
      readonly what: 'switchover';
      readonly phase: string;
      readonly before?: string;
      readonly beforeMs?: number;
    }
  | {
      readonly kind: 'operation_ended';
      readonly operation: string;
      readonly what: 'switchover';
      readonly outcome: OperationOutcome;
      readonly why: string;
      readonly durationMs: number;
      /** In which it was decided. */
      readonly phase: string;
      readonly from: MemberName | undefined;
      /** The primary at the end. */
      readonly primary: MemberName | undefined;
      /** Clients that waited; sessions that ended between two transactions, that were cut, and that were moved. */
      readonly held: number;
      readonly ended: number;
      readonly cut: number;
      readonly moved: number;
    };

export const OPERATION_EVENT_CLASSES = {
  operation_started: 'story',
  operation_phase: 'story',
  operation_ended: 'story',
} as const satisfies Readonly<Record<OperationEvent['kind'], EventClass>>;
