// The store: one immutable state, replaced as a whole at each message.
import { firstState, nextState, type PageMessage, type PageState } from './next-state.ts';

export interface PageStore {
  readonly get: () => PageState;
  /** Changes the state, and calls every listener. */
  readonly send: (message: PageMessage) => void;
  /** Returns the end of the subscription. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore(): PageStore {
  const listeners = new Set<() => void>();
  let state = firstState();
  return {
    get: () => state,
    send(message) {
      state = nextState(state, message);
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
