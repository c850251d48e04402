// A move is a login: what an administrator changed since the first one decides. On the PostgreSQL of the sandbox, and
// on that of the system, which is 15 on Debian 12.
import { describeChanges } from '../../support/moves/change-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describeChanges('18', 'embedded');
describeUnless(await whyNoSystemPostgres(), 'G24: a move is a login, with the PostgreSQL of the system', () =>
  describeChanges('of the system', 'system'),
);
