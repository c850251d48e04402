// The recent events, the newest first: the lines of the log.
import type { JSX } from 'preact';
import type { RecentEvent } from '../../documents/events-document.ts';
import { clockText } from '../view/words.ts';
import { Panel } from './panel.tsx';
import { Sign } from './sign.tsx';

const MOST = 20;

export function Events({ events }: { readonly events: readonly RecentEvent[] }): JSX.Element {
  return (
    <Panel title="Events">
      {events.length === 0 ? (
        <p class="quiet">None since the start.</p>
      ) : (
        <ol class="events" tabIndex={0} aria-label="Recent events, the newest first">
          {events
            .slice(-MOST)
            .toReversed()
            .map(({ id, time, level, message }) => (
              <li key={id}>
                <time class="quiet number" dateTime={time} title={time}>
                  {clockText(Date.parse(time))}
                </time>
                {level === 'info' ? <span /> : <Sign kind={level === 'warn' ? 'warning' : 'bad'} />}
                <span>
                  {level !== 'info' && <span class="unseen">{level}: </span>}
                  {message}
                </span>
              </li>
            ))}
        </ol>
      )}
    </Panel>
  );
}
