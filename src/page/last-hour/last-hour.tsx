// The band of the last hour: spans without a route, of waiting clients, lag, drained members and switchovers; below it
// the same as lines of text.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SpanDocument } from '../../documents/timeline-document.ts';
import { Panel } from '../components/panel.tsx';
import { incidentHref } from '../incident/place.ts';
import { usePageState } from '../state/store.ts';
import { barsOf, copyOf, ticksOf, unknownPercent } from './band.ts';
import { clockText } from '../view/words.ts';
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
const SEVERITIES: Readonly<Record<SpanDocument['severity'], string>> = { error: 'bad', warn: 'warning', info: '' };

export function LastHour(): JSX.Element {
  const { status, timeline } = usePageState();
  const spans = timeline?.spans;
  // By Pointsman's clock: the one of this computer may differ from it by minutes.
  const now = status && Date.parse(status.time);
  const startedAt = status && Date.parse(status.time) - status.uptime_seconds * 1000;
  const before = now === undefined || startedAt === undefined ? 0 : unknownPercent(startedAt, now);
  return (
    <Panel title="Last hour">
      <div class="band" aria-hidden="true">
        {before > 0 && (
          <span class="band-unknown" style={{ width: `${before}%` }} title="Pointsman was not running yet" />
        )}
        {now !== undefined &&
          ticksOf(now).map(({ at, left }) => (
            <span key={at} class={`band-tick ${left > 90 ? 'band-tick-last' : ''}`} style={{ left: `${left}%` }}>
              {clockText(at).slice(0, 5)}
            </span>
          ))}
        {now !== undefined &&
          barsOf(spans ?? [], now).map(({ span, left, width, top }) => (
            <a
              key={span.id}
              class={`band-bar band-${span.kind}`}
              style={{ left: `${left}%`, width: `${width}%`, top: `${top}px` }}
              title={span.text}
              tabIndex={-1}
              {...hrefOf(span)}
            />
          ))}
      </div>
      {spans === undefined ? (
        <p class="quiet">Reading the last hour …</p>
      ) : (
        <Lines spans={spans} since={before > 0 ? startedAt : undefined} />
      )}
    </Panel>
  );
}

interface LinesProps {
  readonly spans: readonly SpanDocument[];
  /** The start of Pointsman, if it was within the hour. */
  readonly since: number | undefined;
}

function Lines({ spans, since }: LinesProps): JSX.Element {
  const shown = spans.slice(-MOST_LINES).toReversed();
  if (shown.length === 0) {
    const from = since === undefined ? '' : ` since the start at ${clockText(since)}`;
    return <p class="quiet">{`Nothing happened${from}: every pool had a route.`}</p>;
  }
  return (
    <>
      <ul class="band-lines">
        {shown.map((span) => (
          <li key={span.id}>
            <time class="quiet number" dateTime={span.from} title={span.from}>
              {clockText(Date.parse(span.from))}
            </time>
            <span class={`band-key band-${span.kind}`} aria-hidden="true" />
            <span>
              <b class={SEVERITIES[span.severity]}>{TITLES[span.kind]}</b> {span.text}
              {span.to === null && <b> ongoing</b>}
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
