// The dialog of a switchover: the plan that Pointsman makes, the confirmation, and then the progress.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperationDocument, PlanOfPrimary } from '../../documents/switchover-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import { useDocument } from '../state/use-document.ts';
import { Confirmation, Refusal, Sentences } from './confirmation.tsx';
import { switchoverConsequences } from './consequences.ts';
import { Dialog } from './dialog.tsx';
import type { OperationProps } from './member-dialogs.tsx';
import { SwitchoverProgress } from './switchover-progress.tsx';

const TRANSACTION_SECONDS = { default: 10, most: 3600 };

interface SwitchoverDialogProps extends OperationProps {
  /** An operation that runs already: only its progress is shown. */
  readonly running?: OperationDocument;
}

export function SwitchoverDialog({ running, status, keeper, onClose }: SwitchoverDialogProps): JSX.Element {
  const [started, setStarted] = useState(running);
  return (
    <Dialog title="Switch over to another primary" onClose={onClose}>
      {started === undefined ? (
        <SwitchoverForm status={status} keeper={keeper} onStarted={setStarted} />
      ) : (
        <SwitchoverProgress started={started} keeper={keeper} />
      )}
    </Dialog>
  );
}

interface SwitchoverFormProps extends Pick<OperationProps, 'status' | 'keeper'> {
  readonly onStarted: (operation: OperationDocument) => void;
}

function SwitchoverForm({ status, keeper, onStarted }: SwitchoverFormProps): JSX.Element {
  const [to, setTo] = useState('');
  const [seconds, setSeconds] = useState(TRANSACTION_SECONDS.default);
  const choice = new URLSearchParams({ ...(to === '' ? {} : { to }), transaction_timeout_ms: String(seconds * 1000) });
  // The last plan stays on screen while the next one is made.
  const { answer } = useDocument<PlanOfPrimary>(`switchover?${choice}`);
  const plan = answer?.kind === 'done' ? answer.body : undefined;
  const isOfChoice = plan?.to === (to === '' ? null : to) && plan.transaction_timeout_ms === seconds * 1000;
  return (
    <Confirmation<OperationDocument>
      keeper={keeper}
      path="switchover"
      body={{ ...(to === '' ? {} : { to }), transaction_timeout_ms: seconds * 1000 }}
      action="Switch over"
      isPossible={isOfChoice && plan.problems.length === 0}
      isDangerous
      onDone={onStarted}
    >
      <label>
        Next primary{' '}
        <select value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)}>
          <option value="">the cluster chooses</option>
          {plan?.candidates.map(({ name, eligible, why }) => (
            <option key={name} value={name} disabled={!eligible}>
              {eligible ? name : `${name}: ${why}`}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time for running transactions{' '}
        <input
          type="number"
          min="0"
          max={TRANSACTION_SECONDS.most}
          required
          value={seconds}
          onChange={({ currentTarget }) => setSeconds(currentTarget.valueAsNumber || 0)}
        />{' '}
        seconds
      </label>
      {answer === undefined ? <p>Reading the plan …</p> : <PlanText plan={plan} status={status} />}
      <Refusal answer={answer} />
    </Confirmation>
  );
}

interface PlanTextProps {
  readonly plan: PlanOfPrimary | undefined;
  readonly status: StatusDocument;
}

function PlanText({ plan, status }: PlanTextProps): JSX.Element | null {
  if (plan === undefined) return null;
  if (plan.problems.length === 0) return <Sentences of={[...switchoverConsequences(plan, status), ...plan.warnings]} />;
  return (
    <div class="refusal">
      The switchover cannot begin:
      <Sentences of={plan.problems} />
    </div>
  );
}
