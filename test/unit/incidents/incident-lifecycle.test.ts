// When an incident opens, settles, opens again and rolls over.
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { holdChange, incidentLab, routeChange } from '../../support/fakes/incident-lab.ts';
import { aList, aPolicy, aSnapshot, isPrimary } from '../../support/values/builders.ts';

const lost = routeChange('write');
const onFirst = routeChange('write', 'pg-1');
const onSecond = routeChange('write', 'pg-2');

test('the loss of the primary opens an incident, which settles after ten quiet seconds', async () => {
  const { clock, recorder, changes, take } = incidentLab();
  take(onFirst);
  take(lost);
  await clock.advance(30_000);
  expect(recorder.list()).toMatchObject([{ id: '2026-11-22-1', state: 'open', kinds: ['primary_lost'] }]);
  take(onSecond);
  await clock.advance(9_000);
  expect(changes.map(({ change }) => change)).toEqual(['opened']);
  await clock.advance(11_000);
  expect(changes.map(({ change }) => change)).toEqual(['opened', 'settled']);
  expect(recorder.list()).toMatchObject([
    { state: 'settled', kinds: ['primary_lost', 'primary_changed'], no_write_route_seconds: 30 },
  ]);
});

test('trouble that returns within a minute opens it again: three failovers are one incident', async () => {
  const { clock, recorder, changes, take } = incidentLab();
  take(onFirst);
  for (const next of [onSecond, onFirst, onSecond]) {
    take(lost);
    await clock.advance(4_000);
    take(next);
    await clock.advance(55_000);
  }
  expect(changes.map(({ change }) => change)).toEqual([
    'opened',
    'settled',
    'reopened',
    'settled',
    'reopened',
    'settled',
  ]);
  expect(recorder.list()).toMatchObject([{ id: '2026-11-22-1', no_write_route_seconds: 12 }]);
  const document = await recorder.get('2026-11-22-1', {});
  expect(document?.reopened_at.length).toBe(2);
  const text = (await recorder.text('2026-11-22-1', {})) ?? '';
  expect(text.match(/^## (?:What happened|Interruption.*)$/gm)).toEqual([
    '## What happened',
    '## Interruption 1',
    '## Interruption 2',
    '## Interruption 3',
  ]);
  expect(document?.findings.filter((one) => one.finding === 'no_route').map(({ seconds }) => seconds)).toEqual([
    4, 4, 4,
  ]);
});

test('trouble after more than a minute is another incident', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take(lost);
  take(onSecond);
  await clock.advance(90_000);
  expect(recorder.currentId()).toBeUndefined();
  take(lost);
  await clock.advance(0);
  expect(recorder.list().map(({ id }) => id)).toEqual(['2026-11-22-2', '2026-11-22-1']);
  expect(clock.pending()).toBe(1);
});

test('after an hour it goes on as another document; each names the other', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take(lost);
  take({ kind: 'hold_started', pool: 'write', session: 1, cause: 'no_member' });
  await clock.advance(3_700_000);
  expect(recorder.list()).toMatchObject([{ state: 'open' }, { state: 'settled' }]);
  expect(await recorder.get('2026-11-22-1', {})).toMatchObject({ continued_by: '2026-11-22-2' });
  expect(await recorder.get('2026-11-22-2', {})).toMatchObject({ continues: '2026-11-22-1', kinds: ['primary_lost'] });
});

test('an hour without any event is no other document: a long outage does not fill the directory', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take(lost);
  await clock.advance(36_000_000);
  expect(recorder.list()).toMatchObject([{ id: '2026-11-22-2', state: 'open' }, { id: '2026-11-22-1' }]);
});

test('without an incident there is no timer, and nothing in the list', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take({ kind: 'member_drained', member: 'pg-2' });
  await clock.advance(60_000);
  expect([recorder.list(), clock.pending(), recorder.currentId()]).toEqual([[], 0, undefined]);
});

test('an operation is an incident of its own: a crash soon after it is another one, with its own numbers', async () => {
  const { clock, recorder, changes, take } = incidentLab();
  take(onFirst);
  take(holdChange('write', 'switchover'));
  await clock.advance(3_000);
  take(onSecond);
  await clock.advance(6_000);
  take(lost);
  await clock.advance(500);
  take(onSecond);
  await clock.advance(90_000);
  expect(changes.map(({ change, document }) => [change, document.id])).toEqual([
    ['opened', '2026-11-22-1'],
    ['settled', '2026-11-22-1'],
    ['opened', '2026-11-22-2'],
    ['settled', '2026-11-22-2'],
  ]);
  expect(recorder.list()).toMatchObject([{ no_write_route_seconds: 0.5 }, { no_write_route_seconds: 3 }]);
});

test('three operations one after the other are three incidents, and an effect of one is part of it', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take(routeChange('read', 'pg-2'));
  for (const next of [onSecond, onFirst, onSecond]) {
    take(holdChange('write', 'switchover'));
    await clock.advance(1_000);
    take(next);
    take(routeChange('read'));
    await clock.advance(1_000);
    take(routeChange('read', 'pg-2'));
    await clock.advance(20_000);
  }
  expect(recorder.list()).toMatchObject(
    [1, 1, 1].map((seconds) => ({
      no_write_route_seconds: seconds,
      kinds: ['primary_lost', 'primary_changed', 'read_pool_empty'],
    })),
  );
});

test('the last snapshot of an operation is from before the crash that ends its incident', async () => {
  const policy = aPolicy();
  const healthy = aSnapshot(policy, aList(0, 'pg-1'), isPrimary('pg-1', 0));
  let snapshot = healthy;
  const known = () => ({ table: decideRoutes(policy, snapshot, 0), snapshot, pools: policy.pools });
  const { clock, recorder, changes, take } = incidentLab({ known });
  take(onFirst);
  take(holdChange('write', 'switchover'));
  await clock.advance(1_000);
  take(onFirst);
  snapshot = aSnapshot(policy, aList(0));
  recorder.tableChanged();
  take(lost);
  await clock.advance(1_000);
  const settled = changes.find(({ change }) => change === 'settled')?.document;
  const after = settled?.snapshots.find(({ when }) => when === 'after');
  expect(after?.pools.find(({ name }) => name === 'write')?.route).toBe('open');
});

test('two primaries in the middle of an operation belong to it', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take(holdChange('write', 'switchover'));
  await clock.advance(1_000);
  take(holdChange('write', 'two_primaries'));
  await clock.advance(1_000);
  take(onSecond);
  expect(recorder.list()).toMatchObject([{ kinds: ['primary_lost', 'two_primaries', 'primary_changed'] }]);
});

test('a failure in the middle of an operation belongs to it', async () => {
  const { clock, recorder, take } = incidentLab();
  take(onFirst);
  take(holdChange('write', 'switchover'));
  await clock.advance(1_000);
  take(lost);
  await clock.advance(9_000);
  take(onSecond);
  await clock.advance(90_000);
  expect(recorder.list()).toMatchObject([{ no_write_route_seconds: 10 }]);
});
