// The regions of the page. A new component is one line here: in the main column, or beside it.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Charts } from '../charts/charts.tsx';
import { Incident } from '../incident/incident.tsx';
import { IncidentList } from '../incident/incident-list.tsx';
import { usePlace } from '../incident/place.ts';
import { LastHour } from '../last-hour/last-hour.tsx';
import { Operate } from '../operate/operation-buttons.tsx';
import { usePageState } from '../state/store.ts';
import { titleOf } from '../view/headline.ts';
import { Branches } from './branch-panel.tsx';
import { CausalReads } from './reads-panel.tsx';
import { Events } from './event-panel.tsx';
import { Header } from './header.tsx';
import { Latency } from './latency-panel.tsx';
import { Limits } from './limits.tsx';
import { LostConnection } from './lost-connection.tsx';
import { Members } from './member-table.tsx';
import { Notices } from './notices.tsx';
import { Routes } from './routes.tsx';
import { Waiting } from './waiting.tsx';

export function Page(): JSX.Element {
  const { status, events, connection } = usePageState();
  const place = usePlace();
  const lastIncident = useRef<string>(undefined);
  if (place !== undefined) lastIncident.current = place.incident;
  const title = status === undefined ? 'Pointsman' : titleOf(status, connection.kind === 'lost');
  // With the page: a reader of the tab sees both change at once.
  useLayoutEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <Header />
      <LostConnection />
      {place !== undefined ? (
        <Incident key={place.incident} place={place} />
      ) : status === undefined ? (
        <p class="page-empty">{connection.kind === 'lost' ? '' : 'Reading the status …'}</p>
      ) : (
        <main class={connection.kind === 'live' ? undefined : 'page-old'}>
          <div class="page-columns">
            <div class="page-column">
              <Routes status={status} />
              <Members status={status} />
              <Branches status={status} />
              <LastHour />
              <IncidentList returnedFrom={lastIncident.current} />
              <Events events={events} />
            </div>
            <div class="page-column">
              <Notices status={status} />
              <Waiting status={status} />
              <CausalReads status={status} />
              <Latency status={status} />
              <Charts status={status} />
              <Limits status={status} />
              <Operate />
            </div>
          </div>
        </main>
      )}
    </>
  );
}
