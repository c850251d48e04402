// The first answers of an incident: which member is primary, on which timeline, and whether this page is current.
import type { JSX } from 'preact';
import { usePageState } from '../state/use-store.ts';

export function Header(): JSX.Element {
  const { status, connection } = usePageState();
  return (
    <header class="header">
      <h1 class="header-name">Pointsman</h1>
      {status !== undefined && (
        <p class="header-facts">
          cluster <b>{status.cluster.scope ?? 'unknown'}</b> · timeline <b>{status.cluster.timeline ?? '–'}</b>
        </p>
      )}
      <p class="header-state" role="status" data-connection={connection.kind}>
        {connection.kind}
        {status !== undefined && ` · ${status.version}`}
      </p>
    </header>
  );
}
