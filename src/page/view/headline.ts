// The state of the whole cluster in a few words.
import type { StatusDocument } from '../../documents/status-document.ts';

/** From one time to a later one, both ISO 8601. */
export function secondsAfter(time: string, later: string): number {
  return Math.max(0, Date.parse(later) - Date.parse(time)) / 1000;
}

/** For the browser's tab. An old status names no primary: nobody knows it now. */
export function titleOf({ cluster: { primary, scope } }: StatusDocument, isLost: boolean): string {
  const first = isLost ? 'no connection' : (primary?.member ?? 'no primary');
  return [first, scope, 'Pointsman'].filter((part) => part !== null).join(' · ');
}

/** For a screen reader, which says it when it changes: no number that moves by itself. */
export function announcement(status: StatusDocument): string {
  const { primary } = status.cluster;
  const routeless = status.pools.filter(({ route }) => route.kind !== 'open');
  return [
    primary === null ? 'No member is primary.' : `${primary.member} is the primary.`,
    ...routeless.map(({ name, why }) => `Pool ${name}: ${why}.`),
  ].join(' ');
}

/** An operation holds the clients of the primary: it is not lost. */
export function isHeldAsPlanned({ pools }: StatusDocument): boolean {
  return pools.some(({ exclusive, route }) => exclusive && route.kind === 'hold' && route.planned === true);
}
