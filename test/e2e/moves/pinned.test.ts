// Whatever cannot go along with a session keeps it where it is: on the PostgreSQL of the sandbox, and on that of the
// system, which is 15 on Debian 12.
import { describePinned } from '../../support/moves/pinned-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describePinned('18', 'embedded');
describeUnless(await whyNoSystemPostgres(), 'G24: what cannot go along stays, with the PostgreSQL of the system', () =>
  describePinned('of the system', 'system'),
);
