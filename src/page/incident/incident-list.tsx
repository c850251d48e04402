// The incidents, the newest first. Each is a link to its own view.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { IncidentListDocument } from '../../documents/incident-list.ts';
import { Panel } from '../components/panel.tsx';
import { get } from '../operate/requests.ts';
import { usePageState } from '../state/use-store.ts';
import { incidentHref } from './place.ts';
import { dateText, lengthText } from './words.ts';

type IncidentRows = IncidentListDocument['incidents'];

/** Not more often, however many events there are. */
const LEAST_MS = 2000;
/** While an incident is open: it settles without an event. */
const OPEN_MS = 5000;

/** `returnedFrom`: the incident that was shown until now; its link gets the focus. */
export function IncidentList({ returnedFrom }: { readonly returnedFrom: string | undefined }): JSX.Element {
  const { incidents, why } = useIncidents();
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => link.current?.focus(), [returnedFrom, incidents === undefined]);
  return (
    <Panel title="Incidents">
      {incidents === undefined ? (
        <p class="incidents-none">{why ?? 'Reading the incidents …'}</p>
      ) : incidents.length === 0 ? (
        <p class="incidents-none">None so far.</p>
      ) : (
        <ol class="incidents">
          {incidents.map((incident) => (
            <li key={incident.id} data-state={incident.state}>
              <a href={incidentHref(incident.id)} ref={incident.id === returnedFrom ? link : null}>
                {incident.id}
              </a>
              <span class="incidents-facts">
                <time dateTime={incident.opened_at}>{dateText(incident.opened_at)}</time>
                {incident.state === 'open' && <b> · open</b>}
                {incident.state === 'settled' && incident.settled_at === null && ' · interrupted'}
                {incident.planned !== 'unknown' && ` · ${incident.planned === 'planned' ? 'change' : 'unplanned'}`}
                {incident.no_write_route_seconds !== null &&
                  ` · no writes for ${lengthText(incident.no_write_route_seconds)}`}
              </span>
              <span class="incidents-summary">{incident.summary}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

/** Reads them again after events, and from time to time while one is open. */
function useIncidents(): { readonly incidents: IncidentRows | undefined; readonly why: string | undefined } {
  const { events, connection } = usePageState();
  const [incidents, setIncidents] = useState<IncidentRows>();
  const [why, setWhy] = useState<string>();
  const [tick, setTick] = useState(0);
  const readAt = useRef(-Infinity);
  const newest = events.at(-1)?.id;
  const isOpen = incidents?.some(({ state }) => state === 'open') ?? false;
  useEffect(() => {
    let isGone = false;
    const read = async (): Promise<void> => {
      readAt.current = performance.now();
      const answer = await get<IncidentListDocument>('incidents');
      if (isGone) return;
      if (answer.kind === 'done') setIncidents(answer.body.incidents);
      else setWhy(answer.why);
    };
    const timer = setTimeout(() => void read(), Math.max(0, readAt.current + LEAST_MS - performance.now()));
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [newest, connection.kind, tick]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(() => setTick((before) => before + 1), OPEN_MS);
    return () => clearInterval(timer);
  }, [isOpen]);
  return { incidents, why };
}
