// Captured answers of real members of two versions in many states, and the facts that the parser finds in them.
import { describe, expect, test } from 'vitest';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { parseClusterDocument, parseHistory, parseNodeStatus } from '../../support/patroni/parse.ts';
import { bodyText, readAllCaptures, readCapture, textOf } from '../../support/values/captures.ts';
import type { Capture } from '../../support/values/captures.ts';

const STATES = [
  'running',
  'starting',
  'stopping',
  'stopped',
  'crashed',
  'creating replica',
  'start failed',
  'unknown',
  'restarting',
];
const DOCUMENTS = ['/cluster', '/history', '/config', '/failsafe', '/liveness', '/readiness'];

describe('every captured answer', () => {
  for (const capture of readAllCaptures()) {
    test(`${capture.patroni} ${capture.state}`, () => {
      expect(capture.answers.length).toBeGreaterThan(0);
      for (const answer of capture.answers) {
        const { path } = answer;
        const text = textOf(answer);
        if (path === '/cluster')
          expect(parseClusterDocument(text)).toMatchObject({ kind: 'cluster', cluster: { skipped: [] } });
        if (path === '/history') expect(parseHistory(text)).toMatchObject({ kind: 'history', skipped: 0 });
        if (DOCUMENTS.some((document) => path.startsWith(document))) continue;
        const status = readStatus(text);
        expect(status.dialect).toBe('patroni');
        expect(status.scope).toBe('lab');
        expect(status.name).toBe(capture.patroni === '4.1.4' ? answer.node : undefined);
        expect(status.role).toBeDefined();
        expect(status.role).not.toBe('unknown');
        expect(STATES).toContain(status.state);
        expect(status.location).not.toBe('invalid');
        expect(status.replayed).not.toBe('invalid');
      }
    });
  }
});

const BOTH: readonly [state: string, node: string, expected: Partial<MemberStatus>][] = [
  ['normal', 'n1', { role: 'primary', state: 'running', timeline: 1, location: 71_452_208 }],
  ['normal', 'n2', { role: 'replica', state: 'running', timeline: 1, received: 71_452_208, replayed: 71_452_208 }],
  [
    'tags',
    'n2',
    {
      noloadbalance: true,
      tags: new Map([
        ['zone', 'b'],
        ['noloadbalance', 'true'],
      ]),
    },
  ],
  ['standby-cluster', 'n3', { role: 'standby_leader', state: 'running', timeline: 7 }],
  ['cluster-paused', 'n1', { role: 'primary', pause: true }],
  ['cluster-paused-leader-postgres-stopped', 'n1', { role: 'primary', state: 'stopped', clusterUnlocked: true }],
  ['etcd-down-failsafe-25s', 'n3', { role: 'primary', state: 'running', failsafe: true, clusterUnlocked: true }],
  ['etcd-down-30s', 'n1', { role: 'replica', clusterUnlocked: true }],
  ['pending-restart', 'n1', { pendingRestart: true }],
];

const ONE: readonly [version: Capture['patroni'], state: string, node: string, expected: Partial<MemberStatus>][] = [
  ['3.0.2', 'replica-lagging', 'n3', { received: 74_295_816, replayed: 71_462_016 }],
  ['4.1.4', 'replica-lagging', 'n3', { received: 74_295_744, replayed: 71_462_016 }],
  ['4.1.4', 'normal', 'n1', { systemIdentifier: '7710475087788450636' }],
];

describe('the status document', () => {
  const rows = [
    ...BOTH.flatMap(([state, node, expected]) =>
      (['3.0.2', '4.1.4'] as const).map((v) => [v, state, node, expected] as const),
    ),
    ...ONE,
  ];
  test.each(rows)('%s %s: %s', (version, state, node, expected) => {
    expect(readStatus(bodyText(readCapture(version, state), node, '/patroni'))).toMatchObject(expected);
  });

  test('a stopped postgres has no position and no timeline', () => {
    const status = readStatus(
      bodyText(readCapture('4.1.4', 'cluster-paused-leader-postgres-stopped'), 'n1', '/patroni'),
    );
    expect(status).not.toHaveProperty('location');
    expect(status).not.toHaveProperty('timeline');
  });

  test('flags that are absent stay absent', () => {
    const status = readStatus(bodyText(readCapture('4.1.4', 'normal'), 'n1', '/primary'));
    for (const key of ['pause', 'clusterUnlocked', 'failsafe', 'noloadbalance', 'pendingRestart']) {
      expect(status).not.toHaveProperty(key);
    }
  });
});

describe('the cluster document', () => {
  test.each(['3.0.2', '4.1.4'] as const)('%s names the leader, the replicas and their addresses', (version) => {
    const cluster = readCluster(version, 'normal', 'n2');
    expect(cluster.members.map(({ name, role }) => [name, role])).toEqual([
      ['n1', 'leader'],
      ['n2', 'replica'],
      ['n3', 'replica'],
    ]);
    expect(cluster.members[0]).toMatchObject({
      state: 'running',
      host: expect.stringMatching(/^127\.0\.[12]\.11$/),
      port: expect.any(Number),
      timeline: 1,
    });
    expect(cluster.members[0]?.apiUrl).toMatch(/^http:\/\/127\.0\.[12]\.11:\d+\/patroni$/);
    expect(cluster.scope).toBe(version === '4.1.4' ? 'lab' : undefined);
    expect(cluster.pause).toBe(false);
  });

  test.each(['3.0.2', '4.1.4'] as const)('%s: a stopped member is still a member', (version) => {
    const stopped = readCluster(version, 'member-just-removed', 'n1').members.find((member) => member.name === 'n4');
    expect(stopped).toMatchObject({ role: 'replica', state: 'stopped' });
  });

  test.each(['3.0.2', '4.1.4'] as const)('%s: pause, sync standby, standby leader, schedule', (version) => {
    expect(readCluster(version, 'cluster-paused', 'n1').pause).toBe(true);
    expect(readCluster(version, 'sync-mode', 'n1').members[2]?.role).toBe('sync_standby');
    expect(readCluster(version, 'standby-cluster', 'n1').members[2]?.role).toBe('standby_leader');
    const { scheduledSwitchover } = readCluster(version, 'scheduled-switchover-and-restart', 'n1');
    expect(scheduledSwitchover).toMatchObject({ from: 'n2', to: 'n1' });
    expect(scheduledSwitchover?.atMs).toBe(Date.parse(scheduledSwitchover?.at ?? ''));
  });
});

test('history of 4.1.4', () => {
  const capture = readCapture('4.1.4', 'scheduled-switchover-and-restart');
  expect(parseHistory(bodyText(capture, 'n1', '/history'))).toMatchObject({
    entries: [{ timeline: 1, lsn: 83_185_840, reason: 'no recovery target specified', newLeader: 'n2' }],
  });
});

function readStatus(text: string): MemberStatus {
  const parsed = parseNodeStatus(text);
  if (parsed.kind !== 'status') throw new Error(parsed.why);
  return parsed.status;
}

function readCluster(version: Capture['patroni'], state: string, node: string) {
  const parsed = parseClusterDocument(bodyText(readCapture(version, state), node, '/cluster'));
  if (parsed.kind !== 'cluster') throw new Error(parsed.why);
  return parsed.cluster;
}
