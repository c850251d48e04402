// The one state of the page, replaced as a whole at each message.
import { useEffect, useState } from 'preact/hooks';
import { firstState, nextState, type PageMessage, type PageState } from './next-state.ts';

const listeners = new Set<() => void>();
let state = firstState();

export function pageState(): PageState {
  return state;
}

export function send(message: PageMessage): void {
  state = nextState(state, message);
  for (const listener of listeners) listener();
}

/** A component that uses it is drawn again at each change. */
export function usePageState(): PageState {
  const [shown, show] = useState(state);
  useEffect(() => {
    const listener = (): void => show(state);
    listeners.add(listener);
    // It may have changed since the first drawing.
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return shown;
}
