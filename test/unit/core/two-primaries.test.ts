import { describe, expect, test } from 'vitest';
import {
  aList,
  answered,
  aPolicy,
  aTable,
  isPrimary,
  isReplica,
  openIn,
  poolOf,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'pg-2');

/** A yes to /primary, with or without a timeline. */
function yes(member: string, at: number, timeline?: number) {
  return answered({ member, at, body: { role: 'primary', ...(timeline === undefined ? {} : { timeline }) } });
}

/** The reason of one of two members with a yes on this timeline. */
function reason(timeline?: number) {
  const both = [yes('pg-1', 0, timeline), yes('pg-2', 0, timeline)];
  return poolOf(aTable(POLICY, 100, LIST, ...both), 'write').standings.get('pg-1')?.why;
}

describe('scenario 9: two members answer yes', () => {
  test.each([
    [1, 2, 'leave demoted superseded', ['pg-2']],
    [2, 1, 'open positive', ['pg-1']],
  ])('timelines %i and %i: the higher one wins', (first, second, standing, open) => {
    const history = [isPrimary('pg-1', 1000, { timeline: first }), isPrimary('pg-2', 1000, { timeline: second })];
    const table = aTable(POLICY, 1100, LIST, ...history);
    expect(standingIn(table, 'write', 'pg-1')).toBe(standing);
    expect(openIn(table, 'write')).toEqual(open);
  });

  test('the lower one stays excluded when the higher one falls silent', () => {
    const history = [isPrimary('pg-1', 1000, { timeline: 2 }), isPrimary('pg-2', 60_000, { timeline: 1 })];
    const table = aTable(POLICY, 60_100, LIST, ...history);
    expect(openIn(table, 'write')).toEqual([]);
    expect(standingIn(table, 'write', 'pg-2')).toBe('leave demoted superseded');
  });

  test.each([
    ['equal timelines', 1, 1],
    ['one without a timeline', 1, undefined],
    ['none with a timeline', undefined, undefined],
  ])('%s: no new session anywhere, live ones are kept until the grace', (_, first, second) => {
    const history = [LIST, yes('pg-1', 0, first), silent({ member: 'pg-2', at: 0 })];
    const seconds = [1000, 5000, 9000, 13_000, 15_900];
    const both = [...history, ...seconds.flatMap((at) => [yes('pg-1', at, first), yes('pg-2', at, second)])];
    const during = aTable(POLICY, 15_999, ...both);
    expect(routeOf(during, 'write')).toEqual({ kind: 'hold', cause: 'two_primaries' });
    expect(standingIn(during, 'write', 'pg-1')).toBe('keep two_primaries');
    const after = aTable(POLICY, 16_000, ...both);
    expect(standingIn(after, 'write', 'pg-1')).toBe('leave silent two_primaries');
    expect(standingIn(after, 'write', 'pg-2')).toBe('leave silent two_primaries');
  });

  test.each([1, undefined])(
    'G4: a silent member is left at once when another one is proven, on timeline %s',
    (timeline) => {
      const history = [LIST, isReplica('pg-2', 0), yes('pg-1', 1000, timeline), silent({ member: 'pg-1', at: 3000 })];
      const before = aTable(POLICY, 6200, ...history);
      expect(standingIn(before, 'write', 'pg-1')).toBe('keep no_answer');
      const table = aTable(POLICY, 6200, ...history, yes('pg-2', 6100, timeline));
      expect(openIn(table, 'write')).toEqual(['pg-2']);
      expect(standingIn(table, 'write', 'pg-1')).toBe('leave demoted superseded');
    },
  );

  test('the grace begins with the rivalry, not with the past of a rival', () => {
    const past = [LIST, yes('pg-2', 0), isReplica('pg-1', 0), silent({ member: 'pg-2', at: 1000 })];
    const taken = [
      yes('pg-1', 50_000),
      yes('pg-1', 54_000),
      yes('pg-1', 58_000),
      yes('pg-1', 62_000),
      yes('pg-1', 66_000),
    ];
    const table = aTable(POLICY, 67_100, ...past, ...taken, yes('pg-2', 67_000));
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep two_primaries');
  });

  test('the grace begins when the second member reaches the timeline; its time on a lower one does not count', () => {
    const seconds = [0, 4000, 8000, 12_000, 16_000, 20_000];
    const lower = seconds.slice(0, 5).map((at) => yes('pg-1', at, 1));
    const higher = seconds.slice(1).map((at) => yes('pg-2', at, 2));
    const history = [...lower, ...higher].toSorted((a, b) => a.startedAt - b.startedAt);
    const table = aTable(POLICY, 20_100, LIST, silent({ member: 'pg-2' }), ...history, yes('pg-1', 20_000, 2));
    expect(standingIn(table, 'write', 'pg-2')).toBe('keep two_primaries');
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep two_primaries');
  });

  test('the reason names their timeline', () => {
    expect(reason(3)).toEqual({ code: 'two_primaries', detail: 'timeline 3', evidence: expect.anything() });
    expect(reason()).toMatchObject({ detail: 'timeline unknown' });
  });

  test.each([
    ['they are', ['pg-2', 'pg-3']],
    ['one alone is', ['pg-2']],
  ])('%s proof enough to end the sessions of another one that stops, or is promoted below', (_, primaries) => {
    const proven = primaries.map((member) => isPrimary(member, 1000, { timeline: 2 }));
    const history = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isPrimary('pg-1', 0), ...proven];
    const stops = answered({ at: 1100, status: 503, body: { role: 'primary', state: 'stopping' } });
    expect(standingIn(aTable(POLICY, 1200, ...history, stops), 'write', 'pg-1')).toBe('leave demoted not_running');
    const promoting = answered({ at: 1100, body: { role: 'replica', timeline: 1 } });
    expect(standingIn(aTable(POLICY, 1200, ...history, promoting), 'write', 'pg-1')).toBe('leave demoted superseded');
  });

  test('when one yields, the other opens', () => {
    const history = [LIST, isPrimary('pg-1', 0), isPrimary('pg-2', 0), answered({ at: 1000, status: 503 })];
    expect(openIn(aTable(POLICY, 1100, ...history), 'write')).toEqual(['pg-2']);
  });
});
