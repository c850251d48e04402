// Keeps the last result of each source of contact points. Reports a change: other addresses, a failure, a recovery.
import type { ContactSourceEvent } from '../reports/events.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import type { SeedSource } from './seeds.ts';

export interface SourceChanges {
  readonly update: (sources: readonly SeedSource[]) => void;
  readonly latest: () => readonly SeedSource[];
}

export function createSourceChanges(onChange: (source: SeedSource) => void): SourceChanges {
  const reported = new Map<string, string>();
  let latest: readonly SeedSource[] = [];

  function updateOne(source: SeedSource): void {
    const { name, contactPoints, failing } = source;
    const text = JSON.stringify([contactPoints, failing?.why]);
    if (reported.get(name) === text) return;
    reported.set(name, text);
    onChange(source);
  }

  return {
    update: (sources) => {
      latest = sources;
      for (const source of sources) updateOne(source);
    },
    latest: () => latest,
  };
}

export function contactSourceEvent({ name, contactPoints, failing }: SeedSource, now: Instant): ContactSourceEvent {
  const known = {
    kind: 'contact_source_changed',
    source: name,
    contactPoints: contactPoints.map(addressText),
  } as const;
  if (failing === undefined) return known;
  const { why, since } = failing;
  return { ...known, failing: since === undefined ? { why } : { why, forMs: now - since } };
}
