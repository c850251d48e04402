// The dialogs of operations on this Pointsman: drain, resume, and a round of probes.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DrainedDocument, RefreshedDocument } from '../../documents/action-answers.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import { servesWrites } from '../view/standing.ts';
import { Confirmation, Sentences } from './confirmation.tsx';
import { drainConsequences, refreshConsequences, resumeConsequences } from './consequences.ts';
import { CloseButton, Dialog } from './dialog.tsx';
import type { TokenKeeper } from './token.ts';

export interface OperationProps {
  readonly status: StatusDocument;
  readonly keeper: TokenKeeper;
  readonly onClose: () => void;
}

export function DrainDialog(props: OperationProps): JSX.Element {
  const { status } = props;
  const names = status.members.map(({ name }) => name).filter((name) => !status.cluster.drained.includes(name));
  const first = names.find((name) => !servesWrites(status.pools, name));
  return <MemberDialog {...props} names={names} first={first} verb="drain" consequences={drainConsequences} />;
}

export function ResumeDialog(props: OperationProps): JSX.Element {
  const [names] = useState(props.status.cluster.drained);
  return <MemberDialog {...props} names={names} verb="resume" consequences={resumeConsequences} />;
}

interface MemberDialogProps extends OperationProps {
  readonly names: readonly string[];
  /** Default: the first of the names. */
  readonly first?: string | undefined;
  readonly verb: 'drain' | 'resume';
  readonly consequences: (member: string, status: StatusDocument) => readonly string[];
}

function MemberDialog({ status, keeper, onClose, names, first, verb, consequences }: MemberDialogProps): JSX.Element {
  const [done, setDone] = useState<DrainedDocument>();
  const [chosen, setChosen] = useState(first ?? names[0] ?? '');
  const title = verb === 'drain' ? 'Drain' : 'Resume';
  return (
    <Dialog title={`${title} a member`} onClose={onClose}>
      {done === undefined ? (
        <Confirmation<DrainedDocument>
          keeper={keeper}
          path={`members/${encodeURIComponent(chosen)}/${verb}`}
          action={`${title} ${chosen}`}
          isPossible={chosen !== ''}
          isDangerous={verb === 'drain' && servesWrites(status.pools, chosen)}
          onDone={setDone}
        >
          <label>
            Member{' '}
            <select value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <Sentences of={consequences(chosen, status)} />
        </Confirmation>
      ) : (
        <Done
          sentences={[
            `${done.member} is ${verb === 'drain' ? 'drained' : 'resumed'}.`,
            ...Object.entries(done.pools).map(([name, sentence]) => `Pool ${name}: ${sentence}.`),
          ]}
        />
      )}
    </Dialog>
  );
}

export function RefreshDialog({ status, keeper, onClose }: OperationProps): JSX.Element {
  const [done, setDone] = useState<RefreshedDocument>();
  return (
    <Dialog title="Probe all members now" onClose={onClose}>
      {done === undefined ? (
        <Confirmation<RefreshedDocument> keeper={keeper} path="refresh" action="Probe now" isPossible onDone={setDone}>
          <Sentences of={refreshConsequences(status)} />
        </Confirmation>
      ) : (
        <Done
          sentences={[
            done.merged ? 'A round of probes was requested a moment ago already.' : 'All members are probed.',
          ]}
        />
      )}
    </Dialog>
  );
}

function Done({ sentences }: { readonly sentences: readonly string[] }): JSX.Element {
  return (
    <>
      <div role="status">
        <Sentences of={sentences} />
      </div>
      <div class="buttons">
        <CloseButton />
      </div>
    </>
  );
}
