// Tables of random histories, each with the facts of the bare observations at that point.
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import { momentsOf } from './histories.ts';
import type { World } from './histories.ts';
import { tell } from './oracle.ts';

/** Calls `judge` with every table of a history. */
export function everyTable(
  world: World,
  judge: (table: RoutingTable, told: ReturnType<typeof tell>, now: number) => void,
): void {
  const observations = world.history.map(({ observation }) => observation);
  let [told, upTo] = [tell([]), 0];
  for (const { snapshot, now, seen } of momentsOf(world)) {
    if (seen > upTo) [told, upTo] = [tell(observations.slice(0, seen)), seen];
    judge(decideRoutes(world.policy, snapshot, now), told, now);
  }
}
