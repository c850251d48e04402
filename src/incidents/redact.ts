// Takes the addresses of clients, users, databases and applications out of a document. Each gets a name of its own
// (`client-1`), so that a reader can still tell them apart. Pure.
import type { IncidentDocument, IncidentEvent } from './schema.ts';

const NOTE =
  'client-1, user-1, database-1 and application-1 stand for clients, users, databases and applications: ' +
  'one name for each, within this document.';

/** The fields of the log that tell who a client is. */
const PRIVATE = ['client', 'user', 'database', 'application'] as const;

export function redacted(document: IncidentDocument): IncidentDocument {
  if (document.redaction.redacted) return document;
  const names = { client: new Map(), user: new Map(), database: new Map(), application: new Map() };
  return {
    ...document,
    redaction: { redacted: true, note: NOTE },
    events: document.events.map((event) => redactedEvent(event, names)),
  };
}

/** By kind, the name for each value. */
type Names = Readonly<Record<(typeof PRIVATE)[number], Map<string, string>>>;

/** Two connections of one client have one address: the port is left out. */
function nameOf(what: keyof Names, value: string, { [what]: known }: Names): string {
  const key = what === 'client' ? value.replace(/:\d+$/, '') : value;
  const name = known.get(key) ?? `${what}-${known.size + 1}`;
  known.set(key, name);
  return name;
}

function redactedEvent(event: IncidentEvent, names: Names): IncidentEvent {
  const found = PRIVATE.flatMap((what) => {
    const value = event.fields[what];
    return typeof value === 'string' ? [{ what, value, name: nameOf(what, value, names) }] : [];
  });
  if (found.length === 0) return event;
  const fields: Record<string, unknown> = { ...event.fields };
  for (const { what, name } of found) fields[what] = name;
  // The server's or our own words may name them, too.
  if (typeof fields['detail'] === 'string') fields['detail'] = without(fields['detail'], found);
  const { repeated } = event;
  return {
    ...event,
    message: without(event.message, found),
    fields,
    // The last one is another client.
    ...(repeated === undefined ? {} : { repeated: { ...repeated, last_message: '' } }),
  };
}

function without(text: string, found: readonly { readonly value: string; readonly name: string }[]): string {
  return found.reduce((left, { value, name }) => (value === '' ? left : left.replaceAll(value, name)), text);
}
