// A switchover while it runs and after its end: its phases with their durations, its sessions, and the button that
// cancels it.
import type { JSX } from 'preact';
import type { OperationDocument } from '../../documents/switchover-document.ts';
import { Confirmation, Refusal } from './confirmation.tsx';
import { CloseButton } from './dialog.tsx';
import type { TokenKeeper } from './token.ts';
import { useDocument } from '../state/use-document.ts';
import { durationText } from '../view/words.ts';
import { sessionsText } from './progress-text.ts';

type OperationPhase = OperationDocument['phase'];

/** In their order. */
const MEANINGS: Readonly<Record<OperationPhase, string>> = {
  check: 'the cluster can switch',
  schedule: 'each Pointsman reads the schedule of the cluster',
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
  const { answer, body: last = started } = useDocument<OperationDocument>(
    `operations/${encodeURIComponent(started.id)}`,
    // Until its end.
    { nextMs: (given) => (given.kind !== 'done' || given.body.state === 'running' ? POLL_MS : undefined) },
  );
  const isRunning = last.state === 'running';
  return (
    <>
      <ol class="phases">
        {Object.entries(MEANINGS)
          .filter(([phase]) => phase !== (last.fleet ? 'drain' : 'schedule'))
          .map(([phase, meaning]) => (
            <PhaseLine key={phase} phase={phase} meaning={meaning} operation={last} />
          ))}
      </ol>
      <p role="status">{isRunning ? `Phase ${last.phase}: ${MEANINGS[last.phase]}.` : endText(last)}</p>
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
          <CloseButton />
        </div>
      )}
    </>
  );
}

interface PhaseLineProps {
  readonly phase: string;
  readonly meaning: string;
  readonly operation: OperationDocument;
}

function PhaseLine({ phase, meaning, operation }: PhaseLineProps): JSX.Element {
  const entry = operation.phases.find((one) => one.phase === phase);
  const isRunning = entry !== undefined && entry.duration_ms === null;
  const state = entry === undefined ? 'ahead' : isRunning ? 'running' : 'over';
  return (
    <li class="phase" data-phase={phase} data-state={state} aria-current={isRunning ? 'step' : undefined}>
      <span class="phase-name">{phase}</span>
      <span class="quiet">{meaning}</span>
      <span class="number end">{entry === undefined ? '–' : durationText(durationOf(entry, operation))}</span>
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
