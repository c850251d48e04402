// The parts of a proxy that its relayed sessions share.
import type { Clock } from '../../model/instant.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { Trigger } from '../../reports/trigger.ts';
import type { Cancels } from '../cancel/cancel.ts';
import type { BackendConnector } from '../connect/connect-backend.ts';
import type { SessionHandle } from '../stage.ts';
import type { Traffic } from '../../reports/counts.ts';
import type { StallGate } from './stall-gate.ts';
import type { OpenPipes } from './stream-pipe.ts';

export interface RelayServices {
  readonly clock: Clock;
  readonly onTrigger: (trigger: Trigger) => void;
  readonly cancels: Cancels;
  readonly stallGate: StallGate;
  readonly openPipes: OpenPipes;
  /** Has the counters of a pool. */
  readonly registry: { traffic(pool: PoolName): Traffic };
  readonly connector: Pick<BackendConnector, 'noteRefusal'>;
  /** Ends the session when it reaches a limit of its pool. Returns the cancel function. */
  readonly watchLimits: (session: SessionHandle, pool: PoolPolicy) => () => void;
}
