// The buttons of the operations. Each opens a dialog, and nothing is sent before its confirmation.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperationDocument, OperationListDocument } from '../../documents/switchover-document.ts';
import { Panel } from '../components/panel.tsx';
import { usePageState } from '../state/use-store.ts';
import { Refusal } from './confirmation.tsx';
import { DrainDialog, RefreshDialog, ResumeDialog } from './member-dialogs.tsx';
import { get, type RequestAnswer } from './requests.ts';
import { SwitchoverDialog } from './switchover-dialog.tsx';
import { useToken, type TokenKeeper } from './token.ts';

type OpenDialog =
  | { readonly kind: 'switchover'; readonly running?: OperationDocument }
  | { readonly kind: 'drain' | 'resume' | 'refresh' };

export function Operate(): JSX.Element | null {
  const { status } = usePageState();
  const { token, keep } = useToken();
  const [open, setOpen] = useState<OpenDialog>();
  if (status === undefined) return null;
  const { drained, handover } = status.cluster;
  const props = {
    status,
    keeper: { token, keep },
    onClose: () => setOpen(undefined),
  };
  return (
    <Panel title="Operate">
      <div class="buttons">
        <button type="button" class="button" onClick={() => setOpen({ kind: 'switchover' })}>
          Switch over …
        </button>
        <button type="button" class="button" onClick={() => setOpen({ kind: 'drain' })}>
          Drain …
        </button>
        <button
          type="button"
          class="button"
          disabled={drained.length === 0}
          onClick={() => setOpen({ kind: 'resume' })}
        >
          Resume …
        </button>
        <button type="button" class="button" onClick={() => setOpen({ kind: 'refresh' })}>
          Probe now …
        </button>
      </div>
      {handover?.operation === 'switchover' && (
        <Running onFound={(running) => setOpen({ kind: 'switchover', running })} />
      )}
      <TokenText token={token} keep={keep} />
      {open?.kind === 'switchover' && <SwitchoverDialog {...props} {...(open.running && { running: open.running })} />}
      {open?.kind === 'drain' && <DrainDialog {...props} />}
      {open?.kind === 'resume' && <ResumeDialog {...props} />}
      {open?.kind === 'refresh' && <RefreshDialog {...props} />}
    </Panel>
  );
}

/** A switchover from elsewhere, or one whose dialog was closed. */
function Running({ onFound }: { readonly onFound: (operation: OperationDocument) => void }): JSX.Element {
  const [answer, setAnswer] = useState<RequestAnswer<OperationListDocument>>();
  async function find(): Promise<void> {
    const given = await get<OperationListDocument>('operations');
    setAnswer(given);
    const running = given.kind === 'done' ? given.body.operations.find(({ state }) => state === 'running') : undefined;
    if (running !== undefined) onFound(running);
  }
  return (
    <p>
      A switchover runs.{' '}
      <button type="button" class="button" onClick={() => void find()}>
        Show its progress …
      </button>
      <Refusal answer={answer} />
    </p>
  );
}

function TokenText({ token, keep }: TokenKeeper): JSX.Element {
  return (
    <p class="operate-token">
      {token === undefined ? (
        'Needs the admin token. Each action first says what it will do.'
      ) : (
        <>
          This tab has the admin token until it is reloaded.{' '}
          <button type="button" class="button" onClick={() => keep(undefined)}>
            Forget the token
          </button>
        </>
      )}
    </p>
  );
}
