// Connections that move, and connections that stay, by their kind. On the PostgreSQL of the sandbox, and on that of the
// system, which is 15 on Debian 12.
import { describeConnections } from '../../support/moves/connection-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describeConnections('18', 'embedded');
describeUnless(await whyNoSystemPostgres(), 'G24: every kind of connection, with the PostgreSQL of the system', () =>
  describeConnections('of the system', 'system'),
);
