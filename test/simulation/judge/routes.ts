// Routing follows facts: it does not flap (G20), and when the faults have been over for a while each Pointsman, however
// it was killed and started, routes to the true primary and to true replicas (G16).
import type { Scene, TimedEvent } from '../scene/scene.ts';
import type { Law } from './law.ts';
import { mayTakeAStranger } from './strangers.ts';

/** From the decision by a new configuration to the event of the reload. Milliseconds. */
const RELOAD_MS = 50;

export const ROUTES: Law = {
  guarantee: 'G16, G20',
  broken: (scene) => [...wrongRoutes(scene), ...scene.pointsmen.flatMap((_, run) => flaps(scene, run))],
};

function wrongRoutes({ observer, cluster, plan }: Scene): readonly string[] {
  const member = cluster.primary();
  if (member === undefined || mayTakeAStranger(plan)) return [];
  if (cluster.isBelowGivenUpTimeline(member)) return [];
  const primary = member.name;
  return observer.lastRoutes.flatMap(({ run, pool, route }) => {
    const targets = route?.kind === 'open' ? route.targets.map(({ member }) => member) : [];
    const isRight =
      pool === 'write' ? targets.join(' ') === primary : targets.every((name) => observer.served.has(name));
    if (isRight) return [];
    return [`pointsman ${run} routes ${pool} to ${JSON.stringify(route)} after the quiet time, and ${primary} leads`];
  });
}

/** A route that comes back has a reason that is younger than the route between: an answer, or another configuration. */
function flaps({ events, observer, plan }: Scene, run: number): readonly string[] {
  if (plan.shape.workers > 1) return [];
  const changes = events.filter((one) => one.run === run && one.event.kind === 'route_changed');
  const reloads = events.filter((one) => one.run === run && one.event.kind === 'config_reloaded');
  const found: string[] = [];
  for (const pool of ['write', 'read']) {
    const own = changes.filter(({ event }) => event.kind === 'route_changed' && event.pool === pool);
    for (const [index, { at }] of own.entries()) {
      const before = own[index - 1];
      if (before === undefined || targetsOf(own[index - 2]) !== targetsOf(own[index])) continue;
      if (targetsOf(own[index]) === '') continue;
      if (reloads.some((reload) => Math.abs(reload.at - at) < RELOAD_MS)) continue;
      const isTold = observer.answers.some((one) => one.run === run && one.at > before.at && one.at <= at);
      if (!isTold)
        found.push(
          `pointsman ${run} routes ${pool} back at ${at.toFixed(1)}, and nobody answered since ${before.at.toFixed(1)}`,
        );
    }
  }
  return found;
}

function targetsOf(change: TimedEvent | undefined): string {
  if (change?.event.kind !== 'route_changed' || change.event.to.kind !== 'open') return '';
  return change.event.to.targets.map(({ member }) => member).join(' ');
}
