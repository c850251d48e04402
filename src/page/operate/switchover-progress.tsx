// A switchover while it runs and after its end: its phases with their durations, its sessions, and the button that
// cancels it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { OperationDocument } from '../../documents/switchover-document.ts';
import { Confirmation, Refusal } from './confirmation.tsx';
import { CloseButton } from './dialog.tsx';
import { get, type RequestAnswer } from './requests.ts';
import type { TokenKeeper } from './token.ts';
import { durationText } from '../view/words.ts';
import { sessionsText } from './progress-text.ts';

const PHASES = ['check', 'hold', 'drain', 'switch', 'confirm', 'release'] as const satisfies readonly OperationPhase[];
type OperationPhase = OperationDocument['phase'];

const MEANING: Readonly<Record<OperationPhase, string>> = {
  check: 'the cluster can switch',
  hold: 'new clients wait',
  drain: 'sessions end or are parked',
  switch: 'the cluster promotes the next primary',
  confirm: 'the next primary is proven',
  release: 'the clients are served',
};

const POLL_MS = 250;

interface SwitchoverProgressProps {
  readonly started: OperationDocument;
  readonly keeper: TokenKeeper;
}

export function SwitchoverProgress({ started, keeper }: SwitchoverProgressProps): JSX.Element {
  const answer = useOperation(started);
  const [last, setLast] = useState(started);
  useEffect(() => {
    if (answer.kind === 'done') setLast(answer.body);
  }, [answer]);
  const isRunning = last.state === 'running';
  return (
    <>
      <ol class="phases">
        {PHASES.map((phase) => (
          <PhaseLine key={phase} phase={phase} operation={last} />
        ))}
      </ol>
      <p role="status">{isRunning ? `Phase ${last.phase}: ${MEANING[last.phase]}.` : endText(last)}</p>
      <p>{sessionsText(last)}</p>
      <Refusal answer={answer} />
      {isRunning ? (
        <Confirmation
          keeper={keeper}
          path={`operations/${encodeURIComponent(last.id)}/cancel`}
          action="Cancel the switchover"
          isPossible
          needsStatus={false}
          isDangerous
          onDone={() => {}}
        >
          <p>{cancelConsequence(last)}</p>
        </Confirmation>
      ) : (
        <div class="buttons">
          <CloseButton label="Close" />
        </div>
      )}
    </>
  );
}

/** Reads it until its end. */
function useOperation(started: OperationDocument): RequestAnswer<OperationDocument> {
  const [answer, setAnswer] = useState<RequestAnswer<OperationDocument>>({ kind: 'done', body: started });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const read = async (): Promise<void> => {
      const given = await get<OperationDocument>(`operations/${encodeURIComponent(started.id)}`);
      if (isGone) return;
      setAnswer(given);
      if (given.kind !== 'done' || given.body.state === 'running') timer = setTimeout(() => void read(), POLL_MS);
    };
    void read();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [started.id]);
  return answer;
}

interface PhaseLineProps {
  readonly phase: OperationPhase;
  readonly operation: OperationDocument;
}

function PhaseLine({ phase, operation }: PhaseLineProps): JSX.Element {
  const entry = operation.phases.find((one) => one.phase === phase);
  const isRunning = entry !== undefined && entry.duration_ms === null;
  const state = entry === undefined ? 'ahead' : isRunning ? 'running' : 'over';
  return (
    <li class="phase" data-phase={phase} data-state={state} aria-current={isRunning ? 'step' : undefined}>
      <span class="phase-name">{phase}</span>
      <span class="phase-meaning">{MEANING[phase]}</span>
      <span class="phase-duration">{entry === undefined ? '–' : durationText(durationOf(entry, operation))}</span>
    </li>
  );
}

/** A phase that runs lasts until now, by Pointsman's clock. */
function durationOf(
  { started_at: startedAt, duration_ms: ms }: OperationDocument['phases'][number],
  operation: OperationDocument,
): number {
  return ms ?? Math.max(0, Date.parse(operation.started_at) + operation.duration_ms - Date.parse(startedAt));
}

function endText({ outcome, why, primary, without_primary_ms: gap }: OperationDocument): string {
  const serving = primary === null ? 'No primary takes clients now.' : `${primary} takes clients of the primary now.`;
  const gapText = gap === null ? '' : ` The cluster had no primary for ${durationText(gap)}.`;
  return `${outcome ?? 'ended'}: ${why ?? ''}.${outcome === 'done' ? '' : ` ${serving}`}${gapText}`;
}

/** A request that the cluster has received cannot be taken back. */
function cancelConsequence({ phase, from }: OperationDocument): string {
  return phase === 'switch' || phase === 'confirm'
    ? 'The cluster was asked and may still switch. A second cancellation releases all clients at once.'
    : `Cancel: all clients are released at once${from === null ? '' : `, and ${from} stays the primary`}.`;
}
