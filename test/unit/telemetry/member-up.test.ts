// A member's answers and its cluster: both are exposed before its first answer.
import { expect, test } from 'vitest';
import { isAnswering } from '../../../src/core/snapshot.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica, silent } from '../../support/values/builders.ts';

test('a member without an answer is down and has no age, a silent one is down and has one', async () => {
  const policy = aPolicy();
  const list = aList(0, 'pg-1', 'pg-2', 'pg-3');
  const snapshot = aSnapshot(policy, list, isPrimary('pg-1', 1000), silent({ at: 2000 }), isReplica('pg-2', 2000));
  const table = decideRoutes(policy, snapshot, 3000);
  const source = {
    now: () => 3000,
    wallClock: () => 3000,
    routingTable: () => table,
    counts: () => new Map(),
    lastAnswerAt: (member: string) => snapshot.members.get(member)?.answeredAt,
    isUp: (member: string) => isAnswering(snapshot.members.get(member)),
    scope: () => snapshot.scope,
    isDrained: () => false,
    certificate: () => undefined,
  };
  const text = await createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], source }).text();
  expect(text.split('\n').filter((line) => /^pointsman_(member_up|member_last|cluster_info)/.test(line))).toEqual([
    'pointsman_member_up{member="pg-1"} 0',
    'pointsman_member_up{member="pg-2"} 1',
    'pointsman_member_up{member="pg-3"} 0',
    'pointsman_member_last_answer_timestamp_seconds{member="pg-1"} 1',
    'pointsman_member_last_answer_timestamp_seconds{member="pg-2"} 2',
    'pointsman_cluster_info{scope="lab"} 1',
  ]);
});
