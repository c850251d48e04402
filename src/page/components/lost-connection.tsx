// Says that everything on screen is old.
import type { JSX } from 'preact';
import { clockText } from '../view/words.ts';
import { usePageState } from '../state/store.ts';

export function LostConnection(): JSX.Element | null {
  const { status, connection } = usePageState();
  if (connection.kind !== 'lost') return null;
  const seen = status === undefined ? '' : ` What you see is from ${clockText(Date.parse(status.time))}.`;
  return (
    <p class="page-lost" role="alert">
      No connection to Pointsman ({connection.why}).{seen} This page tries again by itself.
    </p>
  );
}
