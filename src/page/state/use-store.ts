// The store for components. A component that uses it is drawn again at each change.
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { PageState } from './next-state.ts';
import type { PageStore } from './store.ts';

export const StoreContext = createContext<PageStore | undefined>(undefined);

export function usePageState(): PageState {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error('there is no store around this component');
  const [state, setState] = useState(store.get);
  useEffect(() => {
    setState(store.get());
    return store.subscribe(() => setState(store.get()));
  }, [store]);
  return state;
}
