// One incident: its facts, findings, pictures of the cluster, events, and what is missing.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { IncidentDocument } from '../../documents/incident-list.ts';
import { Panel } from '../components/panel.tsx';
import { useDocument } from '../state/use-document.ts';
import { dateText } from '../view/words.ts';
import { Events } from './incident-events.tsx';
import { eventHref, type IncidentPlace } from './place.ts';
import { Share } from './share.tsx';
import { Snapshots } from './snapshots.tsx';
import { findingTitle, interruptionsIn, stateText, type IncidentFinding } from './words.ts';

/** While it is open. */
const REFRESH_MS = 2000;

export function Incident({ place }: { readonly place: IncidentPlace }): JSX.Element {
  const { incident: id, event } = place;
  const { body: incident, why } = useDocument<IncidentDocument>(`incidents/${encodeURIComponent(id)}`, {
    nextMs: (answer) => (answer.kind !== 'done' || answer.body.state === 'open' ? REFRESH_MS : undefined),
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <main class="incident">
      <nav aria-label="Place">
        <a href="#">← Status</a>
      </nav>
      <h2 class="incident-name" ref={heading} tabIndex={-1}>
        Incident {id}
      </h2>
      {incident === undefined ? (
        <p role="status">{why ?? 'Reading the incident …'}</p>
      ) : (
        <>
          <Facts incident={incident} />
          <Panel title="Findings">
            <Findings incident={incident} />
          </Panel>
          {incident.missing.length > 0 && (
            <Panel title="What is missing">
              <ul class="incident-missing">
                {incident.missing.map(({ what, why }) => (
                  <li key={what}>{why}</li>
                ))}
              </ul>
            </Panel>
          )}
          <Snapshots snapshots={incident.snapshots} />
          <Events events={incident.events} chosen={event} />
        </>
      )}
    </main>
  );
}

function Facts({ incident }: { readonly incident: IncidentDocument }): JSX.Element {
  const { summary, opened_at: opened, planned, redaction, id } = incident;
  return (
    <section class="panel" aria-label="Summary">
      <p class="incident-summary">{summary}</p>
      <p class="quiet incident-facts">
        <time dateTime={opened}>{`${dateText(opened)} UTC`}</time> · {stateText(incident)} · {planned}
        {planned === 'unknown' && ' whether planned'}
        {incident.interrupted && ' · Pointsman ended meanwhile'}
      </p>
      <p class="quiet incident-facts">{redaction.note}</p>
      <Share id={id} />
    </section>
  );
}

function Findings({ incident: { id, findings } }: { readonly incident: IncidentDocument }): JSX.Element {
  const interruptions = interruptionsIn(findings);
  if (findings.length === 0) return <p>None yet.</p>;
  return (
    <dl class="findings">
      {findings.map((finding, index) => (
        // Findings have no id; their order is that of the document.
        <div class="finding" key={index}>
          <dt>{findingTitle(finding, interruptions)}</dt>
          <dd>
            {finding.text}
            <Evidence id={id} ids={finding.event_ids} title={findingTitle(finding, interruptions)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** More than these fold away. */
const SHOWN = 4;

function Evidence({
  id,
  ids,
  title,
}: {
  readonly id: string;
  readonly ids: IncidentFinding['event_ids'];
  readonly title: string;
}): JSX.Element | null {
  if (ids.length === 0) return null;
  const link = (event: string): JSX.Element => (
    <a key={event} href={eventHref(id, event)}>
      {event}
    </a>
  );
  return (
    <span class="evidence" role="group" aria-label={`Events of: ${title}`}>
      {ids.slice(0, SHOWN).map((event) => link(event))}
      {ids.length > SHOWN && (
        <details>
          <summary>{ids.length - SHOWN} more</summary>
          {ids.slice(SHOWN).map((event) => link(event))}
        </details>
      )}
    </span>
  );
}
