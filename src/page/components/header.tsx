// The first answers of an incident: which member is primary, on which timeline, and whether this page is current.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../admin/schema/status.ts';
import { usePageState } from '../state/use-store.ts';
import { primaryText } from '../view/headline.ts';
import { Changing } from './changing.tsx';
import { Age } from './ticking.tsx';

const CONNECTION = { connecting: 'connecting', live: 'live', lost: 'connection lost' };

export function Header(): JSX.Element {
  const { status, connection } = usePageState();
  return (
    <header class="header">
      <h1>Pointsman</h1>
      {status !== undefined && <Facts status={status} />}
      <p class="header-state" data-connection={connection.kind}>
        <span class={`header-dot header-${connection.kind}`} aria-hidden="true" />
        <span role="status">{CONNECTION[connection.kind]}</span>
        {status !== undefined && (
          <>
            <span>{status.version}</span>
            <span>
              up <Age seconds={status.uptime_seconds} />
            </span>
          </>
        )}
      </p>
    </header>
  );
}

function Facts({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { scope, timeline } = status.cluster;
  const primary = primaryText(status);
  return (
    <dl class="header-facts">
      <div>
        <dt>cluster</dt>
        <dd>{scope ?? 'unknown'}</dd>
      </div>
      <div>
        <dt>primary</dt>
        <dd class={primary === undefined ? 'header-none' : 'header-primary'}>
          <Changing value={primary ?? 'none'} />
        </dd>
      </div>
      <div>
        <dt>timeline</dt>
        <dd>
          <Changing value={String(timeline ?? '–')} />
        </dd>
      </div>
    </dl>
  );
}
