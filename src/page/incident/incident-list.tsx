// The incidents, the newest first. Each is a link to its own view.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { IncidentListDocument } from '../../documents/incident-list.ts';
import { Panel } from '../components/panel.tsx';
import { useDocument } from '../state/use-document.ts';
import { usePageState } from '../state/store.ts';
import { dateText, durationText } from '../view/words.ts';
import { incidentHref } from './place.ts';

/** Not more often, however many events there are. */
const LEAST_MS = 2000;
/** While an incident is open: it settles without an event. */
const OPEN_MS = 5000;

/** `returnedFrom`: the incident that was shown until now; its link gets the focus. */
export function IncidentList({ returnedFrom }: { readonly returnedFrom: string | undefined }): JSX.Element {
  const { events, connection } = usePageState();
  const { body, why } = useDocument<IncidentListDocument>('incidents', {
    causes: [events.at(-1)?.id, connection.kind],
    leastMs: LEAST_MS,
    nextMs: (_, newest) => (newest?.incidents.some(({ state }) => state === 'open') ? OPEN_MS : undefined),
  });
  const incidents = body?.incidents;
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => link.current?.focus(), [returnedFrom, incidents === undefined]);
  return (
    <Panel title="Incidents">
      {incidents === undefined ? (
        <p class="quiet incidents-none">{why ?? 'Reading the incidents …'}</p>
      ) : incidents.length === 0 ? (
        <p class="quiet incidents-none">None so far.</p>
      ) : (
        <ol class="incidents">
          {incidents.map((incident) => (
            <li key={incident.id} data-state={incident.state}>
              <a href={incidentHref(incident.id)} ref={incident.id === returnedFrom ? link : null}>
                {incident.id}
              </a>
              <span class="quiet">
                <time dateTime={incident.opened_at}>{`${dateText(incident.opened_at)} UTC`}</time>
                {incident.state === 'open' && <b class="bad"> · open</b>}
                {incident.state === 'settled' && incident.settled_at === null && ' · interrupted'}
                {incident.planned !== 'unknown' && ` · ${incident.planned === 'planned' ? 'change' : 'unplanned'}`}
                {incident.no_write_route_seconds !== null &&
                  ` · no writes for ${durationText(incident.no_write_route_seconds * 1000)}`}
              </span>
              <span class="incidents-summary">{incident.summary}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
