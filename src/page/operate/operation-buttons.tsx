// The buttons of the operations. Each opens a dialog, and nothing is sent before its confirmation.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperationDocument, OperationListDocument } from '../../documents/switchover-document.ts';
import { Panel } from '../components/panel.tsx';
import { usePageState } from '../state/store.ts';
import { Refusal } from './confirmation.tsx';
import { DrainDialog, RefreshDialog, ResumeDialog } from './member-dialogs.tsx';
import { get, type RequestAnswer } from './requests.ts';
import { SwitchoverDialog } from './switchover-dialog.tsx';
import { useToken, type TokenKeeper } from './token.ts';

const BUTTONS = [
  ['switchover', 'Switch over …'],
  ['drain', 'Drain …'],
  ['resume', 'Resume …'],
  ['refresh', 'Probe now …'],
] as const;

interface OpenDialog {
  readonly kind: (typeof BUTTONS)[number][0];
  /** A switchover that runs already. */
  readonly running?: OperationDocument;
}

export function Operate(): JSX.Element | null {
  const { status } = usePageState();
  const keeper = useToken();
  const [open, setOpen] = useState<OpenDialog>();
  if (status === undefined) return null;
  const { drained, handover } = status.cluster;
  const props = { status, keeper, onClose: () => setOpen(undefined) };
  return (
    <Panel title="Operate">
      <div class="buttons">
        {BUTTONS.map(([kind, label]) => (
          <button
            key={kind}
            type="button"
            class="button"
            disabled={kind === 'resume' && drained.length === 0}
            onClick={() => setOpen({ kind })}
          >
            {label}
          </button>
        ))}
      </div>
      {handover?.operation === 'switchover' && (
        <Running onFound={(running) => setOpen({ kind: 'switchover', running })} />
      )}
      <TokenText {...keeper} />
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
    <p class="quiet operate-token">
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
