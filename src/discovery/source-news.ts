// What the sources of contact points give, kept for whoever asks, and told when it changes: other addresses, or an answer that
// could no longer be had, or could again.
import type { ContactSourceEvent } from '../reports/events.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import type { Source } from './contact-points.ts';

export interface SourceNews {
  readonly tell: (sources: readonly Source[]) => void;
  readonly latest: () => readonly Source[];
}

export function createSourceNews(onChange: (source: Source) => void): SourceNews {
  const told = new Map<string, string>();
  let latest: readonly Source[] = [];

  function tellOne(source: Source): void {
    const { name, contactPoints, failing } = source;
    const text = JSON.stringify([contactPoints, failing?.why]);
    if (told.get(name) === text) return;
    told.set(name, text);
    onChange(source);
  }

  return {
    tell: (sources) => {
      latest = sources;
      for (const source of sources) tellOne(source);
    },
    latest: () => latest,
  };
}

export function contactSourceEvent({ name, contactPoints, failing }: Source, now: Instant): ContactSourceEvent {
  const known = {
    kind: 'contact_source_changed',
    source: name,
    contactPoints: contactPoints.map(addressText),
  } as const;
  if (failing === undefined) return known;
  const { why, since } = failing;
  return { ...known, failing: since === undefined ? { why } : { why, forMs: now - since } };
}
