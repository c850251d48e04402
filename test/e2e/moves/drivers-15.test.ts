// Every driver keeps every feature of its session through a move: the PostgreSQL that the system has, which is 15 on
// Debian 12.
import { describeDrivers } from '../../support/moves/driver-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describeUnless(await whyNoSystemPostgres(), 'G24: every driver, with the PostgreSQL of the system', () =>
  describeDrivers('of the system', 'system'),
);
