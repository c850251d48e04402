// pgbench in full load while its sessions move again and again from the server to the same server: each acknowledged
// transaction is there, and none is there twice.
import { expect, onTestFinished } from 'vitest';
import { describeOnSandbox, type Legs } from '../clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { whyNoTool } from '../applications/client-tools.ts';
import { lostSessions } from './expect-kept.ts';
import { listSessions, moveSession } from './move.ts';
import { type MovingLab, movingLab } from './moving-lab.ts';
import { PGBENCH_MODES, rowsOf, startPgbench, storedRows } from './pgbench.ts';
import { rounds } from '../runner/ci.ts';
import { itUnless } from '../runner/unless-missing.ts';

const CLIENTS = 8;
const ROUNDS = rounds(10, 25);
/** Its first connection, which ends before the load begins, sends less. */
const LOADED_BYTES = 8192;

export function describePgbench(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  legs?: readonly Legs[],
): void {
  describeOnSandbox({ name: `pgbench through moves, PostgreSQL ${version}`, legs }, (on) =>
    pgbenchTests(movingLab(on, { cluster: { postgres } })),
  );
}

function pgbenchTests(lab: MovingLab): void {
  for (const mode of PGBENCH_MODES) {
    itUnless(whyNoTool('pgbench'), `acknowledged rows are stored once: ${mode}`, async () => {
      const { directory } = lab;
      // Those of the mode before may be known for a moment.
      await lab.moving.waitFor('no clients', async () => (await pgbenchSessions()).length === 0);
      const bench = startPgbench(await lab.target(lab.moving), { mode, clients: CLIENTS, directory, source: mode });
      onTestFinished(() => void bench.finish().catch(() => {}));
      const loaded = await lab.moving.waitFor('the clients', async () => {
        const sessions = (await pgbenchSessions()).filter((session) => session.to_backend_bytes > LOADED_BYTES);
        return sessions.length === CLIENTS ? sessions : undefined;
      });
      const outcomes = new Map<string, number>();
      const clients = loaded.map(async ({ id }) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const { result, reason } = await moveSession(lab.moving, id);
          const outcome = reason === null ? result : `${result}: ${reason}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      });
      await Promise.all(clients);
      const result = await bench.finish();
      console.log(`pgbench, ${mode}:`, result, Object.fromEntries(outcomes));
      expect(result.errors, lostSessions(lab.moving)).toEqual([]);
      expect(await storedRows(lab.cluster, mode)).toBe(rowsOf(mode, result));
      expect(outcomes.get('moved') ?? 0).toBeGreaterThanOrEqual(CLIENTS);
      const failures = [...outcomes.keys()].filter((outcome) => outcome.startsWith('failed'));
      expect(failures, lostSessions(lab.moving)).toEqual([]);
    });
  }

  async function pgbenchSessions() {
    return (await listSessions(lab.moving)).filter(
      ({ application, state }) => application === 'pgbench' && state !== 'closing',
    );
  }
}
