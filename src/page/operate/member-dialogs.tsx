// The dialogs of operations on this Pointsman: drain, resume, and a round of probes.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DrainedDocument, RefreshedDocument } from '../../documents/action-answers.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import { Confirmation, Sentences } from './confirmation.tsx';
import { drainConsequences, primaryOf, refreshConsequences, resumeConsequences } from './consequences.ts';
import { CloseButton, Dialog } from './dialog.tsx';
import type { TokenKeeper } from './token.ts';

export interface OperationProps {
  readonly status: StatusDocument;
  readonly keeper: TokenKeeper;
  readonly onClose: () => void;
}

export function DrainDialog({ status, onClose, ...more }: OperationProps): JSX.Element {
  const names = status.members.map(({ name }) => name).filter((name) => !status.cluster.drained.includes(name));
  const [done, setDone] = useState<DrainedDocument>();
  const [chosen, setChosen] = useState(names.find((name) => name !== primaryOf(status)) ?? names[0] ?? '');
  return (
    <Dialog title="Drain a member" onClose={onClose}>
      {done === undefined ? (
        <MemberForm
          {...more}
          names={names}
          chosen={chosen}
          onChoose={setChosen}
          verb="drain"
          consequences={drainConsequences(chosen, status)}
          isDangerous={chosen === primaryOf(status)}
          onDone={setDone}
        />
      ) : (
        <Done sentences={[`${done.member} is drained.`, ...poolSentences(done)]} />
      )}
    </Dialog>
  );
}

export function ResumeDialog({ status, onClose, ...more }: OperationProps): JSX.Element {
  const [names] = useState(status.cluster.drained);
  const [done, setDone] = useState<DrainedDocument>();
  const [chosen, setChosen] = useState(names[0] ?? '');
  return (
    <Dialog title="Resume a member" onClose={onClose}>
      {done === undefined ? (
        <MemberForm
          {...more}
          names={names}
          chosen={chosen}
          onChoose={setChosen}
          verb="resume"
          consequences={resumeConsequences(chosen, status)}
          isDangerous={false}
          onDone={setDone}
        />
      ) : (
        <Done sentences={[`${done.member} is resumed.`, ...poolSentences(done)]} />
      )}
    </Dialog>
  );
}

interface MemberFormProps extends Pick<OperationProps, 'keeper'> {
  readonly names: readonly string[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
  readonly verb: 'drain' | 'resume';
  readonly consequences: readonly string[];
  readonly isDangerous: boolean;
  readonly onDone: (body: DrainedDocument) => void;
}

function MemberForm({ names, chosen, onChoose, verb, consequences, ...more }: MemberFormProps): JSX.Element {
  const action = verb === 'drain' ? `Drain ${chosen}` : `Resume ${chosen}`;
  return (
    <Confirmation<DrainedDocument>
      {...more}
      path={`members/${encodeURIComponent(chosen)}/${verb}`}
      action={action}
      isPossible={chosen !== ''}
    >
      <label>
        Member{' '}
        <select value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <Sentences of={consequences} />
    </Confirmation>
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
        <CloseButton label="Close" />
      </div>
    </>
  );
}

function poolSentences({ pools }: DrainedDocument): readonly string[] {
  return Object.entries(pools).map(([name, sentence]) => `Pool ${name}: ${sentence}.`);
}
