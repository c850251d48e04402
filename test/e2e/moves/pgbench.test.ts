// pgbench in full load while its sessions move.
import { describePgbench } from '../../support/moves/pgbench-tests.ts';

describePgbench('18', 'embedded');
