// Facts in the documents of the management API that Patroni leaves out: the location of a replica, and the last report
// of a server that is down.
import { expect, test } from 'vitest';
import { clusterDocument } from '../../../../src/sandbox/api/cluster-document.ts';
import { dialectOf } from '../../../../src/sandbox/api/dialect.ts';
import { nodeDocument } from '../../../../src/sandbox/api/node-document.ts';
import type { PublishedMember } from '../../../../src/sandbox/manager/view.ts';
import { aCluster, aPublished, aReplica, aReplicasWal, MB, POSITION } from '../../../support/sandbox/api/views.ts';

const ABOUT = { version: '1.2.3', scope: 'demo', name: 'n1' };
const MANAGER = dialectOf('manager');
const PATRONI = dialectOf('patroni');

function entryOf(member: PublishedMember): unknown {
  return clusterDocument(aCluster({ members: [member] }), MANAGER)['members'];
}

test('a replica has a location in the management API, the further one of its positions, and none in Patroni', () => {
  const member = aReplica({ wal: aReplicasWal({ received: MB, replayed: 2 * MB }) });
  expect(nodeDocument(member, ABOUT, MANAGER)['xlog']).toMatchObject({ location: POSITION - MB });
  expect(nodeDocument(member, ABOUT, PATRONI)['xlog']).not.toHaveProperty('location');
});

test('in the management API a replica that is down has its last positions, and no word instead of a number', () => {
  const stopped = aPublished('n2', {
    state: 'stopped',
    timeline: undefined,
    received: undefined,
    replayed: undefined,
  });
  const wal = aReplicasWal({ received: MB, replayed: 2 * MB });
  if (wal === undefined) throw new Error('no positions');
  expect(entryOf({ ...stopped, lastKnown: { timeline: 1, wal } })).toMatchObject([
    { timeline: 1, receive_lag: MB, receive_lsn: '0/6300000', replay_lag: 2 * MB, replay_lsn: '0/6200000', lag: MB },
  ]);
  const former = { timeline: 1, wal: { kind: 'primary', location: POSITION } } as const;
  expect(entryOf({ ...stopped, lastKnown: former })).toMatchObject([{ receive_lag: 0, replay_lag: 0, lag: 0 }]);
  expect(JSON.stringify(entryOf(stopped))).not.toContain('unknown');
});
