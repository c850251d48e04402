// All that the page knows: one immutable value, replaced as a whole at each message from Pointsman.
import type { RecentEvent } from '../../admin/schema/events.ts';
import type { StatusDocument } from '../../admin/schema/status.ts';

export interface PageState {
  /** Undefined before the first answer. */
  readonly status: StatusDocument | undefined;
  /** The arrival of `status`, from which ages tick. Milliseconds of performance.now(). */
  readonly receivedAt: number;
  /** The newest last. */
  readonly events: readonly RecentEvent[];
  readonly connection: Connection;
}

/** `lost`: what is on screen is old. `why`: one sentence. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly why: string };

export interface Store {
  readonly get: () => PageState;
  /** Replaces these parts, and calls every listener. */
  readonly set: (change: Partial<PageState>) => void;
  /** Returns the end of the subscription. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore(): Store {
  const listeners = new Set<() => void>();
  let state: PageState = { status: undefined, receivedAt: 0, events: [], connection: { kind: 'connecting' } };
  return {
    get: () => state,
    set(change) {
      state = { ...state, ...change };
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
