// The time of Pointsman's clock. The clock of this computer may differ from it by minutes.
import type { PageState } from './next-state.ts';

/** Milliseconds since 1970. `now`: performance.now(). Undefined before the first status. */
export function serverNow({ status, receivedAt }: PageState, now: number): number | undefined {
  return status && Date.parse(status.time) + Math.max(0, now - receivedAt);
}
