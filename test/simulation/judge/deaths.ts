// A member counts as dead only when both of its ports have refused (G12): a fault of Pointsman's host does not count.
import type { Scene } from '../scene/scene.ts';
import type { Law } from './law.ts';

const IDENTIFIER = /"database_system_identifier": ?"(\d+)"/;
const DOCUMENTS: ReadonlySet<string> = new Set(['/cluster', '/health']);

export const DEATHS: Law = { guarantee: 'G12', broken: unprovenDeaths };

function unprovenDeaths({ events, observer, cluster }: Scene): readonly string[] {
  return events.flatMap(({ at, run, event }) => {
    if (event.kind !== 'standing_changed' || event.to.kind !== 'leave' || event.to.cause !== 'dead') return [];
    const { member, pool } = event;
    const told = observer.answers.filter((one) => one.run === run && one.member === member && one.at <= at);
    // It said yes to no check since then. A document that an operation reads is no sign of life, nor is another server.
    const isYes = ({ path, result }: (typeof told)[number]): boolean =>
      result.kind === 'answered' && result.status === 200 && !DOCUMENTS.has(path) && isOf(cluster, result.body);
    const refusal = told.findLastIndex(({ result }) => result.kind === 'refused');
    const yes = told.findLastIndex(isYes);
    const isProven = refusal > yes;
    return isProven ? [] : [`pointsman ${run} takes ${member} for dead in pool ${pool}, and no port of it refused`];
  });
}

function isOf({ systemIdentifier }: Scene['cluster'], body: string): boolean {
  const [, identifier = systemIdentifier] = IDENTIFIER.exec(body) ?? [];
  return identifier === systemIdentifier;
}
