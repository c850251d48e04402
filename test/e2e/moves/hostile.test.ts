// No setting and no text of a session makes its move go wrong.
import { describe } from 'vitest';
import { describeHostile } from '../../support/moves/hostile-tests.ts';

describe('G24: hostile settings', () => describeHostile('18', 'embedded'));
