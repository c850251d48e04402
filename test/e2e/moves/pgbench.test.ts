// pgbench in full load while its sessions move again and again from the server to the same server: each acknowledged
// transaction is there, and none is there twice.
import { expect } from 'vitest';
import { describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import { whyNoTool } from '../../support/applications/client-tools.ts';
import { listSessions, moveSession } from '../../support/moves/move.ts';
import { movingLab } from '../../support/moves/moving-lab.ts';
import { PGBENCH_MODES, rowsOf, startPgbench } from '../../support/moves/pgbench.ts';
import { rounds } from '../../support/runner/ci.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';

const CLIENTS = 8;
const SECONDS = rounds(4, 10);

describeOnSandbox('pgbench through moves', (on) => {
  const lab = movingLab(on);

  for (const mode of PGBENCH_MODES) {
    itUnless(whyNoTool('pgbench'), `acknowledged rows are stored once: ${mode}`, async () => {
      const { directory } = lab;
      const to = await lab.target(lab.moving);
      const over = new AbortController();
      const run = startPgbench(to, { mode, clients: CLIENTS, seconds: SECONDS, directory, source: mode });
      const ended = run.finally(() => over.abort());
      const outcomes = new Map<string, number>();
      await lab.moving.waitFor(
        'the clients',
        async () => over.signal.aborted || (await pgbenchSessions()).length === CLIENTS,
      );
      const clients = (await pgbenchSessions()).map(async ({ id }) => {
        while (!over.signal.aborted) {
          // Its client may have ended before the end of the program.
          const { result, reason } = await moveSession(lab.moving, id).catch(() => ({ result: 'gone', reason: null }));
          if (result === 'gone') break;
          const outcome = reason === null ? result : `${result}: ${reason}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      });
      const [result] = await Promise.all([ended, ...clients]);
      console.log(`pgbench, ${mode}:`, result, Object.fromEntries(outcomes));
      expect(result.errors).toEqual([]);
      expect(await stored(mode)).toBe(rowsOf(mode, result));
      expect(outcomes.get('moved') ?? 0).toBeGreaterThanOrEqual(CLIENTS);
      // At the end of its time pgbench leaves, perhaps amid a move.
      const failed = [...outcomes.keys()].filter((outcome) => outcome.startsWith('failed'));
      expect(failed.filter((outcome) => outcome !== 'failed: client_closed')).toEqual([]);
    });
  }

  async function pgbenchSessions() {
    return (await listSessions(lab.moving)).filter(
      ({ application, state }) => application === 'pgbench' && state !== 'closing',
    );
  }

  async function stored(source: string): Promise<number> {
    const { name } = await lab.cluster.leader();
    const [row] = await lab.cluster.sql(name, `select count(*)::int as n from loaded where source = '${source}'`);
    return Number(row?.['n']);
  }
});
