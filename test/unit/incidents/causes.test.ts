// The causes that Pointsman knows itself: its own configuration, and operations.
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { holdChange, incidentLab, routeChange, storyIn } from '../../support/fakes/incident-lab.ts';
import { aList, aPolicy, aSnapshot } from '../../support/values/builders.ts';

const yes: ReportedEvent = {
  kind: 'probe_finished',
  member: 'pg-1',
  check: '/primary',
  outcome: 'yes',
  detail: undefined,
  durationMs: 2,
};

const policy = aPolicy();
const snapshot = aSnapshot(policy, aList(0));
const nothingKnown = { table: decideRoutes(policy, snapshot, 0), snapshot, pools: policy.pools };

test('members that Pointsman may not contact are the reason that is told, not PostgreSQL', async () => {
  const why = 'port 8009 is not allowed: add 8009 to cluster.allow.ports';
  const refused = { name: 'pg-1', reason: 'api_port', why } as const;
  const told: ReportedEvent = { kind: 'members_refused', refused: [refused] };
  const document = await storyIn(incidentLab({ known: () => nothingKnown }), told, routeChange('write'), 15_000);
  expect(document.summary).toContain('no usable primary since the start: ');
  expect(document.summary).toContain(`not used: pg-1 (${why})`);
  expect(document.summary).not.toContain('planned');
  expect(document.findings).toContainEqual(
    expect.objectContaining({ finding: 'members_refused', members: [{ member: 'pg-1', why }] }),
  );
  expect(document.missing.map(({ what }) => what)).not.toContain('cause');
});

test('an operation is a change or a pause, no loss; a member that answers yes has no last answer', async () => {
  const held = [{ kind: 'member_drained', member: 'pg-1' }, holdChange('write', 'drained')] as const;
  const changed = await storyIn(
    incidentLab(),
    routeChange('write', 'pg-1'),
    yes,
    ...held,
    2_000,
    routeChange('write', 'pg-2'),
  );
  expect(changed.summary).toMatch(/^change of the primary \(pg-1 to pg-2\): /);
  const paused = await storyIn(
    incidentLab(),
    routeChange('write', 'pg-1'),
    yes,
    ...held,
    2_000,
    yes,
    routeChange('write', 'pg-1'),
    yes,
  );
  expect(paused.summary).toMatch(/^pause of writes \(pg-1\): /);
  expect(paused.findings).toContainEqual(expect.objectContaining({ text: 'pg-1 answered yes all the time.' }));
  expect(paused.missing.map(({ what }) => what)).not.toContain('evidence_gap');
});

test('of a decision that changes several routes there is one snapshot', async () => {
  const open = [routeChange('write', 'pg-1'), routeChange('read', 'pg-2')];
  const { snapshots } = await storyIn(incidentLab(), ...open, 1_000, routeChange('write'), routeChange('read'));
  expect(snapshots.map(({ when }) => when)).toEqual(['before', 'during']);
});

test('Pointsman that starts during the trouble says that the beginning is missing', async () => {
  const document = await storyIn(incidentLab(), routeChange('write'), 15_000);
  expect(document.kinds).toEqual(['no_primary_usable']);
  expect(document.missing.map(({ what }) => what)).toContain('other_clients');
});
