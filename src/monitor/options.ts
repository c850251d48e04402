// The options of a monitor.
import type { Action } from '../core/actions.ts';
import type { MonitorEvent } from '../reports/monitor-events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { Probe } from '../model/observation.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import type { DeciderOptions } from './decider.ts';
import type { Discover } from './discovery-loop.ts';
import type { ReadHistory } from './timeline-history.ts';

export interface MonitorOptions {
  /** The first policy; reconfigure() changes it. */
  readonly policy: RoutingPolicy;
  /** The name of the cluster. Undefined: the first answers set it. */
  readonly scope: string | undefined;
  readonly probe: Probe;
  readonly discover: Discover;
  /** Read at each observation. Absent or undefined: no session needs the history of timelines. */
  readonly readHistory?: () => ReadHistory | undefined;
  readonly clock: Clock;
  /** Epoch milliseconds, only to place a scheduled switchover; never compared with evidence. */
  readonly wallClock: () => number;
  readonly random: () => number;
  /** Called synchronously with each decision, when table() already returns the new table. Must not throw. */
  readonly onTable: (actions: readonly Action[]) => void;
  /** `at`: when it happened, if that was before this call. */
  readonly onEvent: (event: MonitorEvent, at?: Instant) => void;
  readonly onStall?: DeciderOptions['onStall'];
}
