// The events of an incident. The event that the address names is marked and brought into view.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { IncidentDocument } from '../../documents/incident-list.ts';
import { Panel } from '../components/panel.tsx';
import { clockText } from './words.ts';

interface EventsProps {
  readonly events: IncidentDocument['events'];
  readonly chosen: string | undefined;
}

export function Events({ events, chosen }: EventsProps): JSX.Element {
  const row = useRef<HTMLTableRowElement>(null);
  const hasChosen = events.some(({ id }) => id === chosen);
  useEffect(() => {
    row.current?.scrollIntoView({ block: 'center' });
    row.current?.focus({ preventScroll: true });
  }, [chosen, hasChosen]);
  return (
    <Panel title="Events">
      <table class="table incident-events">
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Event</th>
            <th scope="col">What happened</th>
          </tr>
        </thead>
        <tbody>
          {events.map(({ id, time, message, event, repeated }) => (
            <tr
              key={id}
              ref={id === chosen ? row : null}
              tabIndex={id === chosen ? -1 : undefined}
              aria-current={id === chosen ? 'true' : undefined}
            >
              <td>
                <time dateTime={time}>{clockText(time)}</time>
              </td>
              <td class="incident-event-id">{id}</td>
              <td>
                {message || event.replaceAll('_', ' ')}
                {repeated !== undefined && (
                  <span class="quiet">
                    {' '}
                    ({repeated.count} times, the last at {clockText(repeated.last_time)})
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
