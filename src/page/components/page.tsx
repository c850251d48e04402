// The regions of the page. A new component is one line here: in the main column, or beside it.
import type { JSX } from 'preact';
import { usePageState } from '../state/use-store.ts';
import { Header } from './header.tsx';
import { Members } from './members.tsx';
import { Operate } from '../operate/operate.tsx';

export function Page(): JSX.Element {
  const { status, connection } = usePageState();
  return (
    <>
      <Header />
      {status === undefined ? (
        <p class="page-empty">{connection.kind === 'lost' ? connection.why : 'Reading the status …'}</p>
      ) : (
        <main class="page-columns" data-connection={connection.kind}>
          <div class="page-column">
            <Members status={status} />
          </div>
          <div class="page-column">
            <Operate />
          </div>
        </main>
      )}
    </>
  );
}
