// The form at the end of each dialog: it asks for the token if there is none, sends the request at its confirmation,
// and shows the reason when Pointsman refuses.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { usePageState } from '../state/store.ts';
import { CloseButton } from './dialog.tsx';
import { post, type RequestAnswer } from './requests.ts';
import type { TokenKeeper } from './token.ts';

interface ConfirmationProps<Body> {
  readonly keeper: TokenKeeper;
  readonly path: string;
  readonly body?: object;
  /** The label of the button. */
  readonly action: string;
  /** Nothing speaks against it. */
  readonly isPossible: boolean;
  /** False: it is possible while the status on screen is old. */
  readonly needsStatus?: boolean;
  readonly isDangerous?: boolean;
  readonly onDone: (body: Body) => void;
  /** The consequences. */
  readonly children: ComponentChildren;
}

export function Confirmation<Body>(props: ConfirmationProps<Body>): JSX.Element {
  const { keeper, path, body = {}, action, isPossible, needsStatus = true, isDangerous = false } = props;
  const isOld = usePageState().connection.kind !== 'live' && needsStatus;
  const isDisabled = !isPossible || isOld;
  const [typed, setTyped] = useState('');
  const [isSending, setSending] = useState(false);
  const [answer, setAnswer] = useState<RequestAnswer<Body>>();

  const tokenField = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (answer?.kind === 'unauthorized') tokenField.current?.focus();
  }, [answer]);

  async function confirm(event: Event): Promise<void> {
    event.preventDefault();
    const token = keeper.token ?? typed;
    if (isSending || isDisabled) return;
    setSending(true);
    const given = await post<Body>(path, body, token);
    setSending(false);
    setAnswer(given);
    if (given.kind === 'unauthorized') setTyped('');
    keeper.keep(given.kind === 'unauthorized' ? undefined : token);
    if (given.kind === 'done') props.onDone(given.body);
  }

  return (
    <form class="confirmation" onSubmit={(event) => void confirm(event)}>
      {props.children}
      {keeper.token === undefined && (
        <label class="confirmation-token">
          Admin token
          <input
            ref={tokenField}
            type="password"
            autocomplete="off"
            required
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </label>
      )}
      <Refusal answer={answer} />
      {isOld && <p class="refusal">The connection to Pointsman is lost: these facts are old.</p>}
      <div class="buttons">
        <CloseButton />
        <button class={`button ${isDangerous ? 'button-danger' : 'button-primary'}`} disabled={isDisabled || isSending}>
          {isSending ? 'Sending …' : action}
        </button>
      </div>
    </form>
  );
}

/** Always there, so that a screen reader speaks its text when it comes. */
export function Refusal({ answer }: { readonly answer: RequestAnswer<unknown> | undefined }): JSX.Element {
  return (
    <div class="refusal" role="alert">
      {answer?.kind === 'unauthorized' && `${answer.why}. Type the admin token again.`}
      {answer?.kind === 'refused' && answer.why}
      {answer?.kind === 'refused' && answer.problems.length > 0 && <Sentences of={answer.problems} />}
    </div>
  );
}

export function Sentences({ of }: { readonly of: readonly string[] }): JSX.Element {
  return (
    <ul class="sentences">
      {of.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
