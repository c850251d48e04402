// Every driver keeps every feature of its session through a move, with TLS on both legs: the PostgreSQL of the sandbox.
import { describe } from 'vitest';
import { describeDrivers } from '../../support/moves/driver-tests.ts';

describe('G24: every driver, with TLS on both legs', () => describeDrivers('18', 'embedded', ['encrypted']));
