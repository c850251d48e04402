// A modal dialog of the browser: it keeps the focus inside, and Escape closes it.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 class="dialog-title" id={id}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** Closing by the dialog itself returns the focus to the button that opened it. */
export function CloseButton(): JSX.Element {
  return (
    <button type="button" class="button" onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}>
      Close
    </button>
  );
}
