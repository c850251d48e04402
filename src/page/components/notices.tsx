// All that needs attention, and for screen readers each change of the primary.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import { usePageState } from '../state/store.ts';
import { announcement } from '../view/headline.ts';
import { clockText } from '../view/words.ts';
import { Panel } from './panel.tsx';
import { Sign } from './sign.tsx';

export function Notices({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { notices } = status;
  const isLost = usePageState().connection.kind === 'lost';
  return (
    <Panel title="Attention" place="attention">
      <p class="unseen" role="status">
        {announcement(status)}
      </p>
      {isLost && <p class="notices quiet">{`Unknown since ${clockText(Date.parse(status.time))}.`}</p>}
      {isLost ? null : notices.length === 0 ? (
        <p class="notices quiet">Nothing needs attention.</p>
      ) : (
        <ul class="notices">
          {notices.map(({ level, text }) => (
            <li class={`notice notice-${level}`} key={text}>
              <Sign kind={level === 'danger' ? 'bad' : 'warning'} />
              {text}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
