// The view that the composition and the surfaces have of this room.
import type { Plan } from '../reports/events.ts';
import type { IncidentDocument, IncidentKind } from './schema.ts';

/** One row of a list of incidents. */
export interface IncidentEntry {
  readonly id: string;
  readonly state: IncidentDocument['state'];
  readonly openedAt: string;
  readonly settledAt: string | null;
  readonly kinds: readonly IncidentKind[];
  readonly planned: Plan;
  /** Without a route for pools of the primary, all interruptions together. Null: none, or not over yet. */
  readonly noWriteRouteSeconds: number | null;
  readonly summary: string;
}

export type IncidentChange = 'opened' | 'reopened' | 'settled';

export interface Incidents {
  /** Newest first. */
  list(): readonly IncidentEntry[];
  /** Undefined: no incident has this id, or its file cannot be read. Never rejects. */
  get(id: string, options: ShowOptions): Promise<IncidentDocument | undefined>;
  /** At most 64 kB for a ticket. Undefined as for get(). Never rejects. */
  text(id: string, options: ShowOptions): Promise<string | undefined>;
  /** The incident that is open, or has settled and may open again. */
  currentId(): string | undefined;
  /** Calls `listener` with each change of state. Returns a function that ends it. */
  subscribe(listener: (change: IncidentChange, document: IncidentDocument) => void): () => void;
}

export interface ShowOptions {
  /** Shows client addresses, users and databases. Default: names such as `client-1` stand for them. */
  readonly isUnredacted?: boolean;
}

/** The row of a list for one incident. */
export function entryOf(document: IncidentDocument): IncidentEntry {
  const writes = document.findings.flatMap((one) => (one.finding === 'no_route' && one.write ? [one.seconds] : []));
  const known = writes.filter((seconds) => seconds !== null);
  const isKnown = writes.length > 0 && known.length === writes.length;
  return {
    id: document.id,
    state: document.state,
    openedAt: document.opened_at,
    settledAt: document.settled_at,
    kinds: document.kinds,
    planned: document.planned,
    noWriteRouteSeconds: isKnown ? Math.round(known.reduce((sum, one) => sum + one, 0) * 1000) / 1000 : null,
    summary: document.summary,
  };
}

/** As documents show it. */
export function entryDocument(entry: IncidentEntry): Pick<
  IncidentDocument,
  'id' | 'state' | 'opened_at' | 'settled_at' | 'kinds' | 'planned' | 'summary'
> & {
  readonly no_write_route_seconds: number | null;
} {
  return {
    id: entry.id,
    state: entry.state,
    opened_at: entry.openedAt,
    settled_at: entry.settledAt,
    kinds: entry.kinds,
    planned: entry.planned,
    no_write_route_seconds: entry.noWriteRouteSeconds,
    summary: entry.summary,
  };
}

/** The newest incident that shares a moment with the time. Milliseconds since 1970; `to` undefined: it goes on. */
export function incidentAt(
  entries: readonly IncidentEntry[],
  from: number,
  to: number | undefined,
): string | undefined {
  return entries.find(({ openedAt, settledAt }) => {
    const isBefore = to !== undefined && to < Date.parse(openedAt);
    return !isBefore && (settledAt === null || from <= Date.parse(settledAt));
  })?.id;
}
