// Whatever cannot go along with a session keeps it where it is.
import { describe } from 'vitest';
import { describePinned } from '../../support/moves/pinned-tests.ts';

describe('G24: what cannot go along stays', () => describePinned('18', 'embedded'));
