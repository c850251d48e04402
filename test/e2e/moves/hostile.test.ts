// No setting and no text of a session makes its move go wrong. On the PostgreSQL of the sandbox, and on that of the
// system, which is 15 on Debian 12.
import { describeHostile } from '../../support/moves/hostile-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describeHostile('18', 'embedded');
describeUnless(await whyNoSystemPostgres(), 'G24: hostile settings, with the PostgreSQL of the system', () =>
  describeHostile('of the system', 'system'),
);
