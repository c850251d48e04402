// Every driver keeps its session through a move, with TLS on both legs: the PostgreSQL of the sandbox. One driver of
// libpq and one of its own protocol have every feature, the others the main ones.
import { describe } from 'vitest';
import { describeDrivers } from '../../support/moves/driver-tests.ts';

describe('G24: every driver, with TLS on both legs', () => {
  describeDrivers('18', 'embedded', { legs: ['encrypted'], thorough: ['psql', 'asyncpg'] });
});
