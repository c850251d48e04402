// The fragment of the page's address: #incident/ID shows an incident, #incident/ID/EVENT one event of it.
import { useEffect, useState } from 'preact/hooks';

export interface IncidentPlace {
  readonly incident: string;
  /** The id of an event of the incident. */
  readonly event: string | undefined;
}

export function incidentHref(id: string): string {
  return `#incident/${encodeURIComponent(id)}`;
}

export function eventHref(id: string, event: string): string {
  return `${incidentHref(id)}/${encodeURIComponent(event)}`;
}

/** Undefined: the fragment names no incident. */
export function placeOf(fragment: string): IncidentPlace | undefined {
  const [, incident, event] = /^#incident\/([^/]+)(?:\/([^/]+))?$/.exec(fragment) ?? [];
  if (incident === undefined) return undefined;
  try {
    return { incident: decodeURIComponent(incident), event: event && decodeURIComponent(event) };
  } catch {
    return undefined;
  }
}

export function usePlace(): IncidentPlace | undefined {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const onChange = (): void => setFragment(location.hash);
    addEventListener('hashchange', onChange);
    // It may have changed since the first drawing.
    onChange();
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return placeOf(fragment);
}
