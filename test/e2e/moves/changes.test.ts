// A move is a login: what an administrator changed since the first one decides.
import { describe } from 'vitest';
import { describeChanges } from '../../support/moves/change-tests.ts';

describe('G24: a move is a login', () => describeChanges('18', 'embedded'));
