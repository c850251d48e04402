// Every driver keeps its session through a move: the PostgreSQL that the system has, which is 15 on Debian 12. One
// driver of libpq and one of its own protocol have every feature, the others the main ones.
import { describeDrivers } from '../../support/moves/driver-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describeUnless(await whyNoSystemPostgres(), 'G24: every driver, with the PostgreSQL of the system', () =>
  describeDrivers('of the system', 'system', { thorough: ['psycopg2', 'pgjdbc'] }),
);
