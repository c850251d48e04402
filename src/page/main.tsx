// The status page: a store that follows Pointsman, and the components that show it.
import { render } from 'preact';
import { Page } from './components/page.tsx';
import { connect } from './state/connect.ts';
import { createStore } from './state/store.ts';
import { StoreContext } from './state/use-store.ts';

const store = createStore();
const root = document.createElement('div');
document.body.append(root);
render(
  <StoreContext.Provider value={store}>
    <Page />
  </StoreContext.Provider>,
  root,
);
connect(store);
