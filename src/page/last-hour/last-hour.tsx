// The band of the last hour: spans without a route, of waiting clients, lag, drained members and switchovers; below it
// the same as lines of text.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SpanDocument } from '../../admin/schema/timeline.ts';
import { Panel } from '../components/panel.tsx';
import { incidentHref } from '../incident/place.ts';
import { serverNow } from '../state/server-time.ts';
import { usePageState } from '../state/use-store.ts';
import { barsOf, copyOf, ticksOf } from './band.ts';
import { copyText } from '../components/copy-text.ts';

/** The newest. The rest is on the band, in the copy and in /timeline. */
const MOST_LINES = 12;
const TITLES: Readonly<Record<SpanDocument['kind'], string>> = {
  no_route: 'No route',
  hold: 'Waiting',
  lag: 'Lag',
  drained: 'Drained',
  handover: 'Switchover',
};

export function LastHour(): JSX.Element {
  const state = usePageState();
  const now = serverNow(state, state.receivedAt);
  const spans = state.timeline?.spans;
  return (
    <Panel title="Last hour">
      <div class="band" aria-hidden="true">
        {now !== undefined && ticksOf(now).map(({ at, left }) => <Tick key={at} at={at} left={left} />)}
        {now !== undefined &&
          barsOf(spans ?? [], now).map(({ span, left, width, lane }) => (
            <a
              key={span.id}
              class={`band-bar band-${span.kind} band-lane-${lane}`}
              style={{ left: `${left}%`, width: `${width}%` }}
              title={span.text}
              tabIndex={-1}
              {...hrefOf(span)}
            />
          ))}
      </div>
      {spans === undefined ? <p class="quiet">Reading the last hour …</p> : <Lines spans={spans} />}
    </Panel>
  );
}

function Tick({ at, left }: { readonly at: number; readonly left: number }): JSX.Element {
  return (
    <span class={`band-tick ${left > 90 ? 'band-tick-last' : ''}`} style={{ left: `${left}%` }}>
      {clock(at).slice(0, 5)}
    </span>
  );
}

function Lines({ spans }: { readonly spans: readonly SpanDocument[] }): JSX.Element {
  const shown = spans.slice(-MOST_LINES).toReversed();
  if (shown.length === 0) return <p class="quiet">Nothing happened: every pool had a route.</p>;
  return (
    <>
      <ul class="band-lines">
        {shown.map((span) => (
          <li key={span.id}>
            <time dateTime={span.from} title={span.from}>
              {clock(Date.parse(span.from))}
            </time>
            <span class={`band-key band-${span.kind}`} aria-hidden="true" />
            <span>
              <b class={`band-word-${span.severity}`}>{TITLES[span.kind]}</b> {span.text}
              {span.to === null && <b> It lasts.</b>}
              {span.incident_id !== null && (
                <>
                  {' '}
                  <a {...hrefOf(span)}>Incident {span.incident_id}</a>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      <p class="band-foot">
        {spans.length > shown.length && (
          <span class="quiet">{spans.length - shown.length} more began before these. </span>
        )}
        <Copy text={() => copyOf(spans)} />
      </p>
    </>
  );
}

function Copy({ text }: { readonly text: () => string }): JSX.Element {
  const [said, say] = useState('');
  const copy = async (): Promise<void> => {
    say((await copyText(text())) ? 'Copied.' : 'This browser does not allow it: select the lines instead.');
  };
  return (
    <>
      <button type="button" class="button" onClick={() => void copy()}>
        Copy as text
      </button>{' '}
      <span role="status">{said}</span>
    </>
  );
}

function hrefOf({ incident_id: id }: SpanDocument): { readonly href?: string } {
  return id === null ? {} : { href: incidentHref(id) };
}

/** Of this browser's time zone: 14:03:59 */
function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB');
}
