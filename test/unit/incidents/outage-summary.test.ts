// The summary of an outage, from the findings of its incident.
import { expect, test } from 'vitest';
import { outageSummary, restoredPools } from '../../../src/incidents/outage-summary.ts';
import type { IncidentDocument } from '../../../src/incidents/schema.ts';
import { AN_OUTAGE } from '../../support/values/an-outage.ts';

type Finding = IncidentDocument['findings'][number];

const textOf = (document: IncidentDocument, pool = 'write'): string | undefined =>
  outageSummary(document, pool, false)?.text;
const withFindings = (...findings: readonly Finding[]): IncidentDocument => ({ ...AN_OUTAGE, findings });
const [NO_ROUTE, ...OTHERS] = AN_OUTAGE.findings;
if (NO_ROUTE?.finding !== 'no_route') throw new Error('no finding');

test('the whole story in one line', () => {
  expect(outageSummary(AN_OUTAGE, 'write', false)).toEqual({
    kind: 'outage_summary',
    pool: 'write',
    incident: '2026-11-22-1',
    isFinal: false,
    planned: 'unplanned',
    interruptions: 1,
    durationMs: 3900,
    held: 17,
    longestHoldMs: 3900,
    refusedClients: 0,
    closedSessions: 2,
    text:
      'pool write: no route for 3.9 s (pg-1 down, pg-2 is primary, timeline 1 -> 2): 17 clients held, ' +
      'longest 3.9 s, 0 refused, 2 sessions closed; incident 2026-11-22-1',
  });
});

test('nothing is left out that did not happen', () => {
  expect(textOf(withFindings(NO_ROUTE))).toBe(
    'pool write: no route for 3.9 s: 0 clients held, 0 refused, 0 sessions closed; incident 2026-11-22-1',
  );
});

test('several interruptions are added up, and the last one names its members', () => {
  const again = OTHERS.flatMap((one): readonly Finding[] =>
    one.finding === 'decision' || one.finding === 'next_primary'
      ? [{ ...one, interruption: 2, member: one.member === 'pg-1' ? 'pg-2' : 'pg-1' }]
      : [],
  );
  const document = withFindings(...AN_OUTAGE.findings, { ...NO_ROUTE, interruption: 2, seconds: 1.2 }, ...again);
  expect(textOf(document)).toMatch(/^pool write: no route 2 times, 5\.1 s in all \(pg-2 down, pg-1 is primary, /);
});

test('a planned one says so; clients that never reached a member are refused', () => {
  const refused: Finding = {
    finding: 'clients_refused',
    total: 4,
    groups: [
      { pool: 'write', reason: 'hold_timeout', count: 3, event_ids: [] },
      { pool: 'read', reason: 'hold_timeout', count: 1, event_ids: [] },
    ],
    event_ids: [],
    text: '',
  };
  const document: IncidentDocument = { ...withFindings(NO_ROUTE, refused), planned: 'planned' };
  expect(textOf(document)).toMatch(/^pool write: no route for 3\.9 s \(planned\): 0 clients held, 3 refused, /);
});

test('a pool without an interruption that is over has no summary', () => {
  expect(textOf(AN_OUTAGE, 'read')).toBeUndefined();
  const goesOn = withFindings({ ...NO_ROUTE, to: null, seconds: null });
  expect(textOf(goesOn)).toBeUndefined();
  expect([restoredPools(goesOn), restoredPools(AN_OUTAGE)]).toEqual([[], ['write']]);
  expect(textOf(withFindings({ ...NO_ROUTE, cause: 'none', seconds: 0 }))).toBeUndefined();
});
