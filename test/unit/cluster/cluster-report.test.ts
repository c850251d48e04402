// The operator's view of the cluster, from the documents of real members.
import { describe, expect, test } from 'vitest';
import { API_VERSION } from '../../../src/admin/answer.ts';
import { reportOf } from '../../../src/cluster/cluster-report.ts';
import type { ClusterReport } from '../../../src/documents/cluster-documents.ts';
import { orderFault, restartOrder } from '../../../src/cluster/restart-order.ts';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import type { OwnReport } from '../../../src/patroni/read-documents.ts';
import { readRestartState } from '../../../src/patroni/restart-state.ts';
import type { RestartState } from '../../../src/patroni/restart-state.ts';
import { readCapture } from '../../support/values/captures.ts';
import type { Capture } from '../../support/values/captures.ts';

function reportFrom(json: unknown, own: readonly (readonly [string, OwnReport])[] = []): ClusterReport {
  const read = readClusterDocument(json);
  if (read.kind === 'invalid') throw new Error(read.why);
  return reportOf({ document: read.cluster, members: [], refused: [], own: new Map(own) });
}

function captured(patroni: Capture['patroni'], state: string): ClusterReport {
  const document = readCapture(patroni, state).answers.find(
    ({ path, status }) => path === '/cluster' && status === 200,
  );
  return reportFrom(document?.body);
}

const member = (report: ClusterReport, name: string) => report.members.find((one) => one.name === name);

test("a Pointsman's own report is not taken for a member's document, and the reason names the right address", () => {
  const report = captured('4.1.4', 'replica-lagging');
  const { members } = report;
  const why = 'this is the admin address of a Pointsman, not a management API: give that of a member, such as';
  const sent: unknown = JSON.parse(JSON.stringify({ api_version: API_VERSION, ...report }));
  expect(readClusterDocument(sent)).toEqual({ kind: 'invalid', why: `${why} ${members[0]?.api}` });
  const empty = reportFrom({ members: [] });
  expect(readClusterDocument({ api_version: API_VERSION, ...empty })).toEqual({
    kind: 'invalid',
    why: `${why} http://HOST:8008`,
  });
});

describe('a captured cluster', () => {
  test('lag is that of replay, where the version reports it', () => {
    const report = captured('4.1.4', 'replica-lagging');
    expect(report).toMatchObject({ scope: 'lab', leader: 'n1', paused: false, scheduled_switchover: null });
    expect(report.members.map(({ name, lag_bytes: lag }) => [name, lag])).toEqual([
      ['n1', null],
      ['n2', 0],
      ['n3', 2_833_728],
    ]);
    expect(member(report, 'n3')).toEqual({
      name: 'n3',
      role: 'replica',
      state: 'streaming',
      api: 'http://127.0.1.13:7084',
      postgres: '127.0.1.13:7434',
      timeline: 1,
      lag_bytes: 2_833_728,
      wal_position: null,
      indicators: [],
      tags: { zone: 'b' },
      pending_restart: false,
    });
  });

  test.each(['3.0.2', '4.1.4'] as const)('%s: the lag of a stopped replica is not known', (version) => {
    const stopped = captured(version, 'replica-just-stopped').members.filter(({ state }) => state === 'stopped');
    expect(stopped.map(({ lag_bytes: lag }) => lag)).toEqual([null]);
  });

  test.each(['3.0.2', '4.1.4'] as const)('%s: the pause, the schedule of a switchover and of a restart', (version) => {
    expect(captured(version, 'cluster-paused').paused).toBe(true);
    const report = captured(version, 'scheduled-switchover-and-restart');
    expect(report.scheduled_switchover).toMatchObject({ at: expect.stringMatching(/[+]00:00$/) });
    expect(report.members.filter(({ scheduled_restart: at }) => at !== undefined)).toHaveLength(1);
  });

  test('4.1.4: a pending restart has its reason, and with it an order', () => {
    const report = captured('4.1.4', 'pending-restart');
    const pending = report.members.filter((one) => one.pending_restart);
    expect(pending.length).toBeGreaterThan(0);
    for (const one of pending) {
      const reason = { max_connections: { old_value: '200', new_value: '210' } };
      expect(one.pending_restart_reason).toEqual(reason);
    }
    const standbys = pending.filter(({ name }) => name !== report.leader).map(({ name }) => name);
    expect(restartOrder(report)?.[0]?.members).toEqual(standbys);
    expect(orderFault(report, report.leader ?? '')?.why).toContain('max_connections is raised');
  });

  test('3.0.2: a pending restart has no reason, and no order is chosen', () => {
    const report = captured('3.0.2', 'pending-restart');
    expect(report.members.some((one) => one.pending_restart)).toBe(true);
    expect(report.members.every((one) => one.pending_restart_reason === undefined)).toBe(true);
    expect(restartOrder(report)).toBeUndefined();
    expect(orderFault(report, report.leader ?? '')).toMatchObject({ kind: 'unknown' });
  });
});

test("a member's own report of its restart counts more than the document", () => {
  const json = { members: [{ name: 'a', pending_restart: true, pending_restart_reason: { x: { old_value: 1 } } }] };
  expect(member(reportFrom(json), 'a')).toMatchObject({
    pending_restart: true,
    pending_restart_reason: { x: { old_value: '1', new_value: null } },
  });
  const restarted = member(reportFrom(json, [['a', { status: {}, restart: { isPending: false } }]]), 'a');
  expect(restarted?.pending_restart).toBe(false);
  expect(restarted).not.toHaveProperty('pending_restart_reason');
});

test('the own reports have what the document may lack', () => {
  const restart = { isPending: false };
  const report = reportFrom({ members: [{ name: 'a' }, { name: 'b' }] }, [
    ['a', { status: { scope: 'lab', location: 70, clusterUnlocked: true, failsafe: true }, restart }],
    ['b', { status: { pause: true, location: 70, replayed: 60 }, restart }],
  ]);
  expect(report).toMatchObject({ scope: 'lab', paused: true, reports_restarts: false });
  expect(member(report, 'a')).toMatchObject({
    wal_position: 70,
    indicators: ['cluster_unlocked', 'failsafe_mode_is_active'],
  });
  expect(member(report, 'b')).toMatchObject({ wal_position: 60, indicators: ['pause'] });
});

test.each<[string, object, OwnReport]>([
  ['Patroni leaves them out', {}, { status: { dialect: 'patroni' }, restart: { isPending: false } }],
  ['a member has one', {}, { status: { pendingRestart: false }, restart: { isPending: false } }],
  ['the document has one', { pending_restart: true }, { status: {}, restart: { isPending: false } }],
])('the fields of restarts are known: %s', (_, entry, own) => {
  const members = [{ name: 'a', ...entry }];
  expect(reportFrom({ members }, [['a', own]]).reports_restarts).toBe(true);
});

test('the URL of an API has no path and no credentials', () => {
  const urls = ['http://root:secret@10.0.0.9:8008/patroni?x=1', 'no url', 7];
  const reports = urls.map((url) => reportFrom({ members: [{ name: 'a', api_url: url }] }));
  expect(reports.map(({ members: [one] }) => one?.api)).toEqual(['http://10.0.0.9:8008', null, null]);
});

describe('the state of restarts', () => {
  test.each<[unknown, RestartState]>([
    [undefined, { isPending: false }],
    [[], { isPending: false }],
    [{ pending_restart: 1, scheduled_restart: { schedule: 5 } }, { isPending: true }],
    [{ pending_restart_reason: 'x' }, { isPending: false }],
    [
      { pending_restart: true, pending_restart_reason: { 'a\nb': { old_value: {}, new_value: true }, c: 7 } },
      {
        isPending: true,
        reason: { 'a b': { old_value: null, new_value: 'true' }, c: { old_value: null, new_value: null } },
      },
    ],
  ])('%j', (json, state) => {
    expect(readRestartState(json)).toEqual(state);
  });

  test('is limited in size', () => {
    const reason = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`p${i}`, { old_value: 'x'.repeat(500) }]),
    );
    const { reason: read = {} } = readRestartState({ pending_restart: true, pending_restart_reason: reason });
    expect(Object.keys(read)).toHaveLength(200);
    expect(read['p0']?.old_value).toHaveLength(128);
  });
});
