// The series of each member: its report, its lag, its cluster.
import { expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { MB, aList, aPolicy, isPrimary, isReplica, silent } from '../../support/values/builders.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aStatusSource, decidedAt } from '../../support/values/status-source.ts';

async function samplesOf(name: RegExp, ...seen: readonly Observation[]) {
  const source = aStatusSource(decidedAt(aPolicy(), 3000, ...seen));
  const text = await createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source }).text();
  return withoutScope(text)
    .split('\n')
    .filter((line) => name.test(line));
}

const list = aList(0, 'pg-1', 'pg-2', 'pg-3');

test('a member without an answer is down and has no time, a silent one is down and has one', async () => {
  const seen = [list, isPrimary('pg-1', 1000), silent({ at: 2000 }), isReplica('pg-2', 2000)];
  expect(await samplesOf(/^pointsman_member_(?:up|last)/, ...seen)).toEqual([
    'pointsman_member_up{member="pg-1"} 0',
    'pointsman_member_up{member="pg-2"} 1',
    'pointsman_member_up{member="pg-3"} 0',
    'pointsman_member_last_answer_timestamp_seconds{member="pg-1"} 1',
    'pointsman_member_last_answer_timestamp_seconds{member="pg-2"} 2',
  ]);
});

test('role, state and timeline are those of a current answer: a silent primary is not shown as one', async () => {
  const seen = [list, isPrimary('pg-1', 1000), isReplica('pg-2', 2000, { state: 'creating replica' })];
  const info = /^pointsman_member_info/;
  expect(await samplesOf(info, ...seen)).toEqual([
    'pointsman_member_info{member="pg-1",role="primary",state="running",timeline="1"} 1',
    'pointsman_member_info{member="pg-2",role="replica",state="creating_replica",timeline="1"} 1',
    'pointsman_member_info{member="pg-3",role="unknown",state="unknown",timeline="unknown"} 1',
  ]);
  expect((await samplesOf(info, ...seen, silent({ at: 2000 })))[0]).toBe(
    'pointsman_member_info{member="pg-1",role="unknown",state="unknown",timeline="unknown"} 1',
  );
  expect((await samplesOf(info, list, isReplica('pg-2', 1, { state: `"x"\n` })))[1]).toContain('state="other"');
});

test('lag is exposed of replicas that answer, while the position of the primary is known', async () => {
  const lag = /^pointsman_member_replication_lag_bytes/;
  const behind = isReplica('pg-2', 2000, { replayed: 60 * MB });
  const seen = [list, isPrimary('pg-1', 1000), behind, isReplica('pg-3', 2000)];
  expect(await samplesOf(lag, ...seen)).toEqual([
    `pointsman_member_replication_lag_bytes{member="pg-2"} ${40 * MB}`,
    'pointsman_member_replication_lag_bytes{member="pg-3"} 0',
  ]);
  expect(await samplesOf(lag, ...seen, silent({ member: 'pg-2', at: 2500 }))).toHaveLength(1);
  expect(await samplesOf(lag, list, behind)).toEqual([]);
});

test('so is the age of what they have not replayed', async () => {
  const staleness = /^pointsman_member_staleness_seconds/;
  const written = [1000, 3500].map((at) => isPrimary('pg-1', at, { location: 100 * MB + 8 }));
  const seen = [list, ...written, isReplica('pg-2', 3400), isReplica('pg-3', 3400, { replayed: 100 * MB + 8 })];
  expect(await samplesOf(staleness, ...seen)).toEqual([
    'pointsman_member_staleness_seconds{member="pg-2"} 2.4',
    'pointsman_member_staleness_seconds{member="pg-3"} 0',
  ]);
  expect(await samplesOf(staleness, ...seen, silent({ member: 'pg-2', at: 3500 }))).toHaveLength(1);
  expect(await samplesOf(staleness, list, isReplica('pg-2', 3400))).toEqual([]);
});

test('every series has the name of the cluster', async () => {
  const source = aStatusSource(decidedAt(aPolicy(), 3000, list, isPrimary('pg-1', 1000)));
  const text = await createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source }).text();
  const all = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(all.filter((line) => !line.includes('scope="lab"'))).toEqual([]);
});
