// Histories in which a primary comes back on a lower timeline or with another system identifier. From round to round
// the members agree on it, or almost agree.
import * as fc from 'fast-check';
import type { Instant } from '../../../src/model/instant.ts';
import type { MemberName } from '../../../src/model/member.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import {
  aList,
  answered,
  aPolicy,
  isPrimary,
  isReplica,
  named,
  READ_CHECK,
  refused,
  silent,
  WRITE_CHECK,
} from '../../support/values/builders.ts';
import { NAMES } from './histories.ts';
import type { Event, World } from './histories.ts';

/** The fault in one report of a round; most reports have none. */
type Flaw = 'none' | 'missing' | 'silent' | 'dead' | 'former' | 'rival' | 'nameless';

const flaw = fc.oneof(
  { weight: 60, arbitrary: fc.constant<Flaw>('none') },
  { weight: 1, arbitrary: fc.constantFrom<Flaw>('missing', 'silent', 'dead', 'former', 'rival', 'nameless') },
);

/** pg-2 was the primary, now pg-1 is. The flaws belong to pg-1, pg-2, pg-3 and the document. */
export const comebacks: fc.Arbitrary<World> = fc
  .record({
    isIdentity: fc.boolean(),
    hasThird: fc.boolean(),
    rounds: fc.array(fc.record({ gapMs: fc.constantFrom(2000, 4000, 4000), flaws: fc.tuple(flaw, flaw, flaw, flaw) }), {
      minLength: 10,
      maxLength: 16,
    }),
  })
  .map(({ isIdentity, hasThird, rounds }) => {
    const known = hasThird ? NAMES.slice(0, 3) : NAMES.slice(0, 2);
    const before: MemberStatus = { scope: 'lab', systemIdentifier: '77', timeline: 2 };
    const after: MemberStatus = isIdentity ? { ...before, systemIdentifier: '78' } : { ...before, timeline: 1 };
    const history: Event[] = [
      { now: 0, observation: aList(0, ...known) },
      ...known.map((member) => ({ now: 10, observation: silent({ member, at: 10 }) })),
      { now: 100, observation: isPrimary('pg-2', 100, before) },
      { now: 110, observation: isReplica('pg-1', 110, before) },
    ];
    let now = 10_000;
    for (const { gapMs, flaws } of rounds) {
      now += gapMs;
      const news = known.map((member, index) => newsOf(member, flaws[index] ?? 'none', { now, before, after }));
      const named = namedBy(flaws[3], hasThird ? 'pg-3' : 'pg-2', now);
      history.push(...[...news, named].flat().map((observation) => ({ now, observation })));
    }
    return { policy: aPolicy(), history };
  });

function newsOf(
  member: MemberName,
  what: Flaw,
  { now, before, after }: { readonly now: Instant; readonly before: MemberStatus; readonly after: MemberStatus },
): readonly Observation[] {
  const isLeader = member === 'pg-1';
  const says = isLeader !== (what === 'rival') ? isPrimary : isReplica;
  switch (what) {
    case 'none':
    case 'rival':
      return [says(member, now, after)];
    case 'former':
      return [says(member, now, before)];
    case 'nameless':
      return [answered({ member, at: now, check: isLeader ? WRITE_CHECK : READ_CHECK, body: { state: 'running' } })];
    case 'missing':
      return [];
    case 'silent':
      return [silent({ member, at: now })];
    case 'dead':
      return [refused({ member, at: now })];
  }
}

function namedBy(what: Flaw, by: MemberName, at: Instant): readonly Observation[] {
  switch (what) {
    case 'missing':
    case 'silent':
    case 'dead':
      return [];
    case 'nameless':
      return [named(undefined, by, at)];
    case 'former':
      return [named('pg-2', 'pg-1', at)];
    case 'rival':
      return [named('pg-1', 'pg-1', at)];
    case 'none':
      return [named('pg-1', by, at)];
  }
}
