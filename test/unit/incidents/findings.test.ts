// The findings of a whole failover, from events as the program reports them.
import { expect, test } from 'vitest';
import { redacted } from '../../../src/incidents/redact.ts';
import type { Finding, FindingOf, IncidentDocument } from '../../../src/incidents/schema.ts';
import { incidentText } from '../../../src/incidents/incident-text.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { incidentLab, routeChange, storyIn } from '../../support/fakes/incident-lab.ts';
import { excluded, held, opened, probe, proven, report, reset } from '../../support/values/incident-events.ts';

function of<Name extends Finding['finding']>(document: IncidentDocument, name: Name): readonly FindingOf<Name>[] {
  return document.findings.filter((one): one is FindingOf<Name> => one.finding === name);
}

const death = [
  routeChange('write', 'pg-1'),
  probe('pg-1', 'yes'),
  1_000,
  probe('pg-1', 'yes'),
  400,
  reset('app'),
  reset('app'),
  reset('batch'),
  5,
  probe('pg-1', 'refused'),
  excluded,
  routeChange('write'),
  { kind: 'hold_started', pool: 'write', session: 9, cause: 'no_member' },
  17_000,
  probe('pg-2', 'yes'),
  proven,
  routeChange('write', 'pg-2'),
  held(17_000),
  held(2_000),
  held(1_000, 'timeout'),
  30,
  opened,
  20_000,
] as const satisfies readonly (number | ReportedEvent)[];

test('a death: every finding, with its times and its evidence', async () => {
  const document = await storyIn(incidentLab(), ...death);
  const id = (message: string): string => document.events.find((event) => event.message.includes(message))?.id ?? '';
  const [from, to] = ['2026-11-22T12:00:01.405Z', '2026-11-22T12:00:18.405Z'];
  expect(of(document, 'no_route')).toMatchObject([{ pool: 'write', write: true, from, to, seconds: 17 }]);
  expect(of(document, 'no_service')).toMatchObject([
    { from: '2026-11-22T12:00:01.400Z', to: '2026-11-22T12:00:18.435Z', seconds: 17.035 },
  ]);
  expect(of(document, 'old_primary')).toMatchObject([
    { member: 'pg-1', last_positive: '2026-11-22T12:00:01.000Z', first_negative: from, outcome: 'refused' },
  ]);
  expect(of(document, 'decision')).toMatchObject([{ member: 'pg-1', time: from, reason: 'refused' }]);
  expect(of(document, 'decision')[0]?.event_ids[0]).toBe(id('pg-1: down'));
  expect(of(document, 'next_primary')).toMatchObject([{ member: 'pg-2', time: to, same: false }]);
  expect(of(document, 'first_client')).toMatchObject([{ member: 'pg-2', time: '2026-11-22T12:00:18.435Z' }]);
  expect(of(document, 'sessions_cut')).toMatchObject([
    { total: 3, groups: [{ pool: 'write', member: 'pg-1', reason: 'backend_reset', count: 3 }] },
  ]);
  expect(of(document, 'holds')).toMatchObject([{ count: 3, released: 2, refused: 1, longest_seconds: 17 }]);
  expect(of(document, 'plan')).toMatchObject([{ planned: 'unplanned', by: null }]);
  const numbers = 'no write route for 17.00 s, 3 sessions cut, 3 clients waited at most 17.00 s';
  expect(document.summary).toBe(`primary lost (pg-1 to pg-2): ${numbers}, not planned`);
});

test('a refused login is no cut session, and its client got none: the server and its SQLSTATE are named', async () => {
  const login = { pool: 'write', session: 9, member: 'pg-2', sqlState: '53300', affectsOthers: true } as const;
  const refused = [
    { kind: 'login_refused', ...login },
    { ...reset('app'), member: 'pg-2', reason: 'backend_refused', detail: 'pg-2: FATAL 53300', waitedMs: 9 },
  ] as const;
  const document = await storyIn(incidentLab(), ...death.slice(0, -2), ...refused, ...refused, 20_000);
  expect(of(document, 'sessions_cut')).toMatchObject([{ total: 3, groups: [{ member: 'pg-1' }] }]);
  expect(of(document, 'logins_refused')).toMatchObject([
    { total: 2, groups: [{ member: 'pg-2', sqlstate: '53300', count: 2 }] },
  ]);
  expect(of(document, 'holds')).toMatchObject([{ count: 3, released: 0, refused: 3 }]);
  expect(document.summary).toContain('2 logins refused by pg-2: 53300, too many connections');
  expect(incidentText(document)).not.toContain(': backend_refused, ');
});

test('the text tells what happened, for how long, which sessions were cut, and what is unknown', async () => {
  const text = incidentText(redacted(await storyIn(incidentLab(), ...death)));
  for (const expected of [
    'Pool write had no route from 12:00:01.405 to 12:00:18.405: 17.00 s.',
    'New sessions go to pg-2, the next primary, from 12:00:18.405 on',
    '2 sessions, pool write, member pg-1, user user-1, database database-1, application application-1: backend_reset',
    '1 session, pool write, member pg-1, user user-2, database database-1, application application-2: backend_reset',
    'Planned: no.',
    '## What is unknown, and why',
  ]) {
    expect(text).toContain(expected);
  }
});

test('two causes of one incident: the members stand beside the loss of the primary', async () => {
  const { summary } = await storyIn(incidentLab(), routeChange('read', 'pg-2'), ...death, routeChange('read'));
  expect(summary).toMatch(
    /^primary lost \(pg-1 to pg-2\), the read pool fell back to the primary: no write route for /,
  );
});

test('the reports of a member that does not answer are marked as old', async () => {
  const document = await storyIn(incidentLab(), ...death);
  const silent = document.snapshots.map((one) => ({
    ...one,
    members: one.members.map((member) => (member.name === 'pg-1' ? { ...member, failing: 'refused' } : member)),
  }));
  const text = incidentText({ ...document, snapshots: silent });
  expect(text).toMatch(/member pg-1: no answer \(refused\); .* before: role primary, .*; write: eligible/);
});

test('nothing of a redacted document names a client, a user, a database or an application', async () => {
  const document = redacted(await storyIn(incidentLab(), ...death));
  const all = JSON.stringify(document);
  expect(['10.9.8.7', 'shop', 'batch', '"app"', 'host-7'].filter((secret) => all.includes(secret))).toEqual([]);
  expect(document.redaction.redacted).toBe(true);
  expect(redacted(document)).toBe(document);
});

test('a fault of our own machine is no answer of the old primary', async () => {
  const local = [routeChange('write', 'pg-1'), probe('pg-1', 'yes'), 500, probe('pg-1', 'local'), 500] as const;
  const document = await storyIn(
    incidentLab(),
    ...local,
    probe('pg-1', 'yes'),
    500,
    probe('pg-1', 'refused'),
    excluded,
    routeChange('write'),
  );
  expect(of(document, 'old_primary')).toMatchObject([
    { last_positive: '2026-11-22T12:00:01.000Z', first_negative: '2026-11-22T12:00:01.500Z', outcome: 'refused' },
  ]);
  expect(of(document, 'no_route')).toMatchObject([{ from: '2026-11-22T12:00:01.500Z', to: null, seconds: null }]);
});

const lost = [excluded, routeChange('write'), 1_000] as const;
const next = [proven, routeChange('write', 'pg-2'), 1_000] as const;
const start = [routeChange('write', 'pg-1'), probe('pg-1', 'yes'), 2_000] as const;

const operation = { operation: 'op-1', what: 'switchover' } as const;
const switchover: ReportedEvent = {
  kind: 'route_changed',
  pool: 'write',
  from: undefined,
  to: { kind: 'hold', cause: 'switchover' },
};
const due: ReportedEvent = {
  ...excluded,
  to: { kind: 'leave', cause: 'switchover', why: { code: 'switchover_due' } },
};
const unread: ReportedEvent = {
  kind: 'discovery_finished',
  source: undefined,
  detail: 'no seed returned a member list',
  members: 0,
  durationMs: 5,
};
const drained: ReportedEvent = { ...switchover, to: { kind: 'hold', cause: 'drained' } };
const restarting: ReportedEvent = { ...switchover, to: { kind: 'hold', cause: 'restart' } };

test.each<[string, (number | ReportedEvent)[], string, string | null]>([
  [
    'a switchover of Pointsman',
    [{ kind: 'operation_started', ...operation, to: undefined }, switchover, 1_000, ...next],
    'planned',
    'pointsman_switchover',
  ],
  ['a scheduled one', [due, switchover, 1_000, ...next], 'planned', 'scheduled_switchover'],
  ['a drain', [{ kind: 'member_drained', member: 'pg-1' }, drained, 1_000], 'planned', 'operator_drain'],
  [
    'a restart of Pointsman',
    [restarting, 100, report('pg-1', 'stopping'), probe('pg-1', 'refused'), 1_000],
    'planned',
    'pointsman_restart',
  ],
  [
    'a stop in order with answers throughout',
    [report('pg-1', 'stopping'), probe('pg-1', 'no'), ...lost, report('pg-2', 'running', true), ...next],
    'planned',
    'cluster_manager',
  ],
  [
    'a stop in order, then silence',
    [report('pg-1', 'stopping'), ...lost, probe('pg-1', 'refused'), ...next],
    'unknown',
    null,
  ],
  [
    'a stop in order, and one probe that the member missed',
    [report('pg-1', 'stopping'), ...lost, probe('pg-1', 'timeout'), 300, probe('pg-1', 'no'), ...next],
    'planned',
    'cluster_manager',
  ],
  [
    'a stop in order, and one probe that its ports refused',
    [report('pg-1', 'stopping'), ...lost, probe('pg-1', 'refused'), 300, probe('pg-1', 'no'), ...next],
    'unknown',
    null,
  ],
  [
    'a stop in order, and probes that it missed for more than a second',
    [report('pg-1', 'stopping'), ...lost, probe('pg-1', 'timeout'), 1_100, probe('pg-1', 'no'), ...next],
    'unknown',
    null,
  ],
  [
    'a stop in the same report as the loss of the lock',
    [report('pg-1', 'stopping', true), probe('pg-1', 'no'), ...lost, ...next],
    'unknown',
    null,
  ],
  [
    'a stop in the same report as the loss of the lock, some time after the last contact with the store',
    [report('pg-1', 'stopping', true, 1_501), probe('pg-1', 'no'), ...lost, ...next],
    'unknown',
    null,
  ],
  [
    'a stop in the same report as the loss of the lock, just after a contact with the store',
    [report('pg-1', 'stopping', true, 900), probe('pg-1', 'no'), ...lost, ...next],
    'planned',
    'cluster_manager',
  ],
  [
    'a stop in order while the member list cannot be read',
    [unread, 100, report('pg-1', 'stopping'), probe('pg-1', 'no'), ...lost, ...next],
    'unknown',
    null,
  ],
  [
    'a stop in order, and a read of the member list that fails after it',
    [report('pg-1', 'stopping'), probe('pg-1', 'no'), ...lost, 100, unread, ...next],
    'unknown',
    null,
  ],
  [
    'a stop in order without a next primary',
    [report('pg-1', 'stopping'), probe('pg-1', 'no'), ...lost],
    'unknown',
    null,
  ],
  ['no report of a stop', [probe('pg-1', 'no'), ...lost, ...next], 'unknown', null],
  ['silence', [probe('pg-1', 'timeout'), ...lost, ...next], 'unplanned', null],
  ['a crash', [report('pg-1', 'crashed'), probe('pg-1', 'no'), ...lost, ...next], 'unplanned', null],
  [
    'the leader lock is lost first',
    [report('pg-2', 'running', true), 50, probe('pg-1', 'yes'), report('pg-1', 'stopping'), ...lost, ...next],
    'unplanned',
    null,
  ],
  [
    'the leader lock was lost before, as one member reported late, and the same primary was proven again',
    [
      report('pg-2', 'running', true),
      50,
      report('pg-2', 'running'),
      50,
      probe('pg-1', 'yes'),
      900,
      report('pg-1', 'stopping'),
      probe('pg-1', 'no'),
      ...lost,
      ...next,
    ],
    'planned',
    'cluster_manager',
  ],
  [
    'the leader lock is lost first, and another member holds it before the old primary is proven again',
    [report('pg-2', 'running', true), 50, report('pg-2', 'running'), report('pg-1', 'stopping'), ...lost, ...next],
    'unknown',
    null,
  ],
  [
    'the leader lock is lost between two probes of the old primary',
    [report('pg-2', 'running', true), 50, report('pg-1', 'stopping'), probe('pg-1', 'no'), ...lost, ...next],
    'unknown',
    null,
  ],
])('planned or not: %s', async (_, steps, planned, by) => {
  const document = await storyIn(incidentLab(), ...start, ...steps);
  expect(of(document, 'plan')).toMatchObject([{ planned, by }]);
  expect(document.planned).toBe(planned);
});

test('hidden logins, dead workers and an overrun are said', async () => {
  const { user: _, database: __, ...hidden } = { user: '', database: '', ...reset('app') };
  const died: ReportedEvent = {
    kind: 'worker_ended',
    worker: 1,
    pid: 5,
    why: 'killed',
    sessions: 2,
    replacedInMs: undefined,
  };
  const reports = Array.from({ length: 400 }, (_each, index) => report('pg-2', `state ${index}`));
  const document = await storyIn(incidentLab(), ...start, hidden, ...lost, died, ...reports);
  expect(document.missing).toMatchObject([
    { what: 'short_record', why: 'Pointsman started 2.00 s before the incident: nothing earlier is recorded.' },
    { what: 'events_dropped' },
    { what: 'worker_died', count: 1 },
    { what: 'logins_hidden', count: 1 },
    { what: 'evidence_gap' },
    { what: 'cause' },
    { what: 'transactions' },
    { what: 'other_clients' },
  ]);
});
