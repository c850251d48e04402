// A switchover by Pointsman ends, and its hold with it; none begins without one (G22).
import { stoppedMs } from '../scene/plan.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import type { Scene, TimedEvent } from '../scene/scene.ts';
import type { Law } from './law.ts';

/** A step of the procedure, and a busy process. Milliseconds. */
const LATE_MS = 1_000;

export const SWITCHOVERS: Law = {
  guarantee: 'G22',
  broken: (scene) =>
    scene.pointsmen.flatMap((pointsman, run) => {
      const own = scene.events.filter((one) => one.run === run);
      const operations = operationsIn(own);
      return [...(pointsman.isKilled ? [] : endless(operations)), ...strayHolds(scene, own, operations)].map(
        (sentence) => `pointsman ${run}: ${sentence}`,
      );
    }),
};

interface Operation {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

function operationsIn(events: readonly TimedEvent[]): readonly Operation[] {
  return events.flatMap(({ at, event }) => {
    if (event.kind !== 'operation_started') return [];
    const end = events.find((one) => one.event.kind === 'operation_ended' && one.event.operation === event.operation);
    return [{ id: event.operation, from: at, to: end?.at ?? Infinity }];
  });
}

function endless(operations: readonly Operation[]): readonly string[] {
  return operations.filter(({ to }) => to === Infinity).map(({ id }) => `the operation ${id} has not ended`);
}

/** The write pool waits for a switchover only while one runs. */
function strayHolds({ world, plan }: Scene, events: readonly TimedEvent[], operations: readonly Operation[]) {
  const frozenMs = stoppedMs(plan);
  const changes = events.filter(({ event }) => event.kind === 'route_changed' && event.pool === 'write');
  return changes.flatMap(({ at, event }, index) => {
    if (!isHeld(event)) return [];
    const until = changes[index + 1]?.at ?? world.now();
    const own = operations.find(({ from, to }) => from <= at && at <= to);
    if (own === undefined) return [`the pool waits for a switchover at ${at.toFixed(1)}, and there is none`];
    const lateMs = until - own.to;
    return lateMs > LATE_MS + frozenMs ? [`the pool waits for ${own.id}, ${lateMs.toFixed(0)} ms after its end`] : [];
  });
}

function isHeld(event: ReportedEvent): boolean {
  return event.kind === 'route_changed' && event.to.kind === 'hold' && event.to.cause === 'switchover';
}
