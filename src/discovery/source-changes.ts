// Reports a change of a source of contact points: other addresses, a failure, a recovery.
import type { ContactSourceEvent } from '../reports/monitor-events.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import type { ContactSource } from '../model/cluster-config.ts';

/** Called with all sources each time. */
export function createSourceChanges(
  onChange: (source: ContactSource) => void,
): (sources: readonly ContactSource[]) => void {
  const reported = new Map<string, string>();
  return (sources) => {
    for (const source of sources) {
      const text = JSON.stringify([source.contactPoints, source.failing?.why]);
      if (reported.get(source.name) === text) continue;
      reported.set(source.name, text);
      onChange(source);
    }
  };
}

export function contactSourceEvent({ name, contactPoints, failing }: ContactSource, now: Instant): ContactSourceEvent {
  const known = {
    kind: 'contact_source_changed',
    source: name,
    contactPoints: contactPoints.map(addressText),
  } as const;
  if (failing === undefined) return known;
  const { why, since } = failing;
  return { ...known, failing: since === undefined ? { why } : { why, forMs: now - since } };
}
