// Sessions move on the PostgreSQL that the system has, which is 15 on Debian 12. The same tests run on that of the
// sandbox, each in a file of its own, most of them in plain text. Here they have TLS on both legs.
import { BOTH_LEGS } from '../../support/clusters/describe-on-clusters.ts';
import { describeChanges } from '../../support/moves/change-tests.ts';
import { describeConnections } from '../../support/moves/connection-tests.ts';
import { describeHostile } from '../../support/moves/hostile-tests.ts';
import { describePgbench } from '../../support/moves/pgbench-tests.ts';
import { describePinned } from '../../support/moves/pinned-tests.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

describeUnless(await whyNoSystemPostgres(), 'G24: moves, with the PostgreSQL of the system', () => {
  describeConnections('of the system', 'system', BOTH_LEGS);
  for (const describeTests of [describeChanges, describeHostile, describePgbench, describePinned])
    describeTests('of the system', 'system', ['encrypted']);
});
