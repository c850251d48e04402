// Health checks of an ordinary cluster: each path on a primary and on a replica, each method, and the answer's body.
import { expect } from 'vitest';
import type { ItemId } from '../../../support/contract/checklist.ts';
import type { Area } from '../../../support/contract/contract.ts';
import { parse, rawBody, record } from '../../../support/contract/questions.ts';

interface Check {
  readonly path: string;
  readonly item: ItemId;
  /** The status in an ordinary cluster without synchronous standbys. */
  readonly primary: number;
  readonly replica: number;
}

const CHECKS: readonly Check[] = [
  { path: '/', item: 'health./', primary: 200, replica: 503 },
  { path: '/primary', item: 'health./primary', primary: 200, replica: 503 },
  { path: '/read-write', item: 'health./read-write', primary: 200, replica: 503 },
  { path: '/leader', item: 'health./leader', primary: 200, replica: 503 },
  { path: '/standby-leader', item: 'health./standby-leader', primary: 503, replica: 503 },
  { path: '/replica', item: 'health./replica', primary: 503, replica: 200 },
  { path: '/read-only', item: 'health./read-only', primary: 200, replica: 200 },
  { path: '/synchronous', item: 'health./synchronous', primary: 503, replica: 503 },
  { path: '/sync', item: 'health./sync', primary: 503, replica: 503 },
  { path: '/read-only-sync', item: 'health./read-only-sync', primary: 200, replica: 503 },
  { path: '/quorum', item: 'health./quorum', primary: 503, replica: 503 },
  { path: '/read-only-quorum', item: 'health./read-only-quorum', primary: 200, replica: 503 },
  { path: '/asynchronous', item: 'health./asynchronous', primary: 503, replica: 200 },
  { path: '/async', item: 'health./async', primary: 503, replica: 200 },
  { path: '/health', item: 'health./health', primary: 200, replica: 200 },
  { path: '/liveness', item: 'health./liveness', primary: 200, replica: 200 },
  { path: '/readiness', item: 'health./readiness', primary: 200, replica: 200 },
];

const PROBES = ['/liveness', '/readiness'];
const ORDINARY = CHECKS.map(({ path }) => path).filter((path) => !PROBES.includes(path));

export const healthChecks: Area = {
  name: 'health checks',
  define: (contract) => {
    for (const { path, item, primary, replica } of CHECKS) {
      contract(item, `${path}: ${primary} on the primary, ${replica} on a replica`, async (on) => {
        const [leader, [first]] = [await on.leader(), await on.replicas()];
        const statuses = { primary: await on.status(leader, path), replica: await on.status(first, path) };
        expect(statuses).toEqual(on.expected(item, { primary, replica }));
      });
    }

    for (const [method, item] of [
      ['HEAD', 'health.head'],
      ['OPTIONS', 'health.options'],
    ] as const) {
      contract(item, `${method} gives the status of GET and no body`, async (on) => {
        for (const member of [await on.leader(), (await on.replicas())[0]]) {
          for (const path of ORDINARY) {
            expect(`${path} ${await on.status(member, path, method)}`).toBe(`${path} ${await on.status(member, path)}`);
            expect(await rawBody(member, method, path), path).toBe('');
          }
        }
      });

      contract(`${item}.probes`, `${method} of /liveness and /readiness`, async (on) => {
        const leader = await on.leader();
        const statuses = await Promise.all(PROBES.map((path) => on.status(leader, path, method)));
        expect(statuses).toEqual(on.expected(`${item}.probes`, [200, 200]));
        for (const path of PROBES) expect(await rawBody(leader, method, path), path).toBe('');
      });
    }

    contract(['health.get', 'health.body'], 'GET: both 200 and 503 have JSON with the node state', async (on) => {
      for (const member of [await on.leader(), (await on.replicas())[0]]) {
        const { role, state, database_system_identifier: identifier } = await on.node(member);
        for (const path of ORDINARY) {
          const answer = await on.ask(member, path);
          expect(answer.contentType, path).toContain('application/json');
          expect(record(parse(answer)), path).toMatchObject({ role, state, database_system_identifier: identifier });
        }
      }
    });

    contract('health.body.probes', 'GET of /liveness and /readiness has the same JSON', async (on) => {
      const leader = await on.leader();
      const bodies = await Promise.all(PROBES.map((path) => on.ask(leader, path)));
      const carryState = bodies.map(({ text }) => text.includes('"state"'));
      expect(carryState).toEqual(on.expected('health.body.probes', [true, true]));
    });

    contract(
      'health.rule-2',
      '/health is 200 on a replica, which takes no writes; /primary and /read-write are not',
      async (on) => {
        const [first] = await on.replicas();
        expect(await on.sql(first, 'select pg_is_in_recovery()')).toBe(true);
        const statuses = await Promise.all(
          ['/health', '/primary', '/read-write'].map((path) => on.status(first, path)),
        );
        expect(statuses).toEqual([200, 503, 503]);
      },
    );
  },
};
