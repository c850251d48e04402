// pgbench in full load while its sessions move again and again from the server to the same server: each acknowledged
// transaction is there, and none is there twice. On the PostgreSQL of the sandbox, and on that of the system.
import { expect } from 'vitest';
import { describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../../support/clusters/sandbox-cluster.ts';
import { whyNoTool } from '../../support/applications/client-tools.ts';
import { listSessions, moveSession } from '../../support/moves/move.ts';
import { type MovingLab, movingLab } from '../../support/moves/moving-lab.ts';
import { PGBENCH_MODES, rowsOf, startPgbench, storedRows } from '../../support/moves/pgbench.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { rounds } from '../../support/runner/ci.ts';
import { describeUnless, itUnless } from '../../support/runner/unless-missing.ts';

const CLIENTS = 8;
const ROUNDS = rounds(10, 25);

describePgbench('18', 'embedded');
describeUnless(await whyNoSystemPostgres(), 'with the PostgreSQL of the system', () =>
  describePgbench('of the system', 'system'),
);

function describePgbench(version: string, postgres: NonNullable<SandboxClusterOptions['postgres']>): void {
  describeOnSandbox(`pgbench through moves, PostgreSQL ${version}`, (on) =>
    pgbenchTests(movingLab(on, { cluster: { postgres } })),
  );
}

function pgbenchTests(lab: MovingLab): void {
  for (const mode of PGBENCH_MODES) {
    itUnless(whyNoTool('pgbench'), `acknowledged rows are stored once: ${mode}`, async () => {
      const { directory } = lab;
      const bench = startPgbench(await lab.target(lab.moving), { mode, clients: CLIENTS, directory, source: mode });
      await lab.moving.waitFor('the clients', async () => (await pgbenchSessions()).length === CLIENTS);
      const outcomes = new Map<string, number>();
      const clients = (await pgbenchSessions()).map(async ({ id }) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const { result, reason } = await moveSession(lab.moving, id);
          const outcome = reason === null ? result : `${result}: ${reason}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      });
      await Promise.all(clients);
      const result = await bench.finish();
      console.log(`pgbench, ${mode}:`, result, Object.fromEntries(outcomes));
      expect(result.errors).toEqual([]);
      expect(await storedRows(lab.cluster, mode)).toBe(rowsOf(mode, result));
      expect(outcomes.get('moved') ?? 0).toBeGreaterThanOrEqual(CLIENTS);
      expect([...outcomes.keys()].filter((outcome) => outcome.startsWith('failed'))).toEqual([]);
    });
  }

  async function pgbenchSessions() {
    return (await listSessions(lab.moving)).filter(
      ({ application, state }) => application === 'pgbench' && state !== 'closing',
    );
  }
}
