// The status page: its components, and the stream that keeps their state current.
import { render } from 'preact';
import { Page } from './components/page.tsx';
import { connect } from './state/connect.ts';

const root = document.createElement('div');
document.body.append(root);
render(<Page />, root);
connect();
