// Random histories of a cluster as the monitor sees it: answers, failures, refusals, vouches and member lists over one
// to four members. Instants increase, but some observations end in another order than they began.
import * as fc from 'fast-check';
import type { Instant } from '../../../src/model/instant.ts';
import type { MemberName } from '../../../src/model/member.ts';
import { observe } from '../../../src/core/observe.ts';
import type { MembersObservation, Observation, ProbeOutcome } from '../../../src/model/observation.ts';
import type { LeaveMode, RoutingPolicy } from '../../../src/model/policy.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import type { ScheduledSwitchover } from '../../../src/model/observation.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { MemberStatus, Role } from '../../../src/model/member-status.ts';
import {
  aList,
  aMember,
  aPolicy,
  aPool,
  aWritePool,
  MB,
  READ_CHECK,
  silent,
  WRITE_CHECK,
} from '../../support/values/builders.ts';

export const ZONE_CHECK = '/replica?tag_zone=a';
export const NAMES = ['pg-1', 'pg-2', 'pg-3', 'pg-4'] as const;

/** An observation and its arrival; its own instant is its start. */
export interface Event {
  readonly now: Instant;
  readonly observation: Observation;
}

export interface World {
  readonly policy: RoutingPolicy;
  readonly history: readonly Event[];
}

export const policies: fc.Arbitrary<RoutingPolicy> = fc
  .record({
    rise: fc.integer({ min: 1, max: 3 }),
    fall: fc.integer({ min: 1, max: 3 }),
    vouching: fc.boolean(),
    hasFallback: fc.boolean(),
    beforeSwitchoverMs: fc.constantFrom(0, 0, 2000),
    silentProbes: fc.constantFrom(undefined, 1, 2),
    lagging: fc.constantFrom<LeaveMode>('keep', 'drain_idle', 'drain', 'move', 'close'),
    maxStalenessMs: fc.constantFrom(undefined, 500, 3000),
  })
  .map(({ hasFallback, beforeSwitchoverMs, lagging, maxStalenessMs, ...probe }) => {
    const fallback = hasFallback ? { pool: 'write', maxSessions: 50 } : undefined;
    const zone = aPool({
      name: 'zone',
      check: ZONE_CHECK,
      fallback: hasFallback ? { pool: 'read', maxSessions: 9 } : undefined,
    });
    const onLeave = { ...aPool().onLeave, lagging };
    const read = aPool({ fallback, weightTag: 'weight', zoneTag: 'zone', onLeave, maxStalenessMs });
    return { ...aPolicy({ probe, beforeSwitchoverMs, pools: [aWritePool(), read, zone] }), zone: 'a' };
  });

function mostly<T>(usual: T, ...rare: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 2, arbitrary: fc.constantFrom(usual, ...rare) },
  );
}

/** Not at the end of a page. */
const positions = fc.constantFrom(80 * MB + 8, 100 * MB + 8, 110 * MB + 8, 130 * MB + 8, 'invalid' as const);

/** A body that may lack each fact; role, state and identity are ordinary most of the time. */
function bodyOf(role: Role, timeline: number): fc.Arbitrary<MemberStatus> {
  const status: fc.Arbitrary<MemberStatus> = fc.record(
    {
      role: mostly<Role>(role, 'replica', 'primary', 'demoted', 'promoted', 'unknown', 'standby_leader'),
      state: mostly('running', 'stopping', 'starting', 'crashed'),
      timeline: mostly(timeline, 1, 2, 3),
      tags: fc.constantFrom(
        new Map([
          ['zone', 'a'],
          ['weight', '3'],
        ]),
        new Map([
          ['zone', 'b'],
          ['weight', 'x'],
        ]),
        new Map<string, string>(),
      ),
      noloadbalance: mostly(false, true),
      scope: mostly('lab', 'billing'),
      systemIdentifier: mostly('77', '78'),
      pause: fc.boolean(),
      clusterUnlocked: fc.constantFrom(false, false, false, true),
    },
    { requiredKeys: ['role', 'state', 'timeline'] },
  );
  const places = role === 'primary' ? fc.record({ location: positions }) : fc.record({ replayed: positions });
  const whole = fc.tuple(status, places).map(([facts, place]): MemberStatus => ({ ...facts, ...place }));
  return fc.oneof(
    { weight: 14, arbitrary: whole },
    { weight: 1, arbitrary: fc.constant<MemberStatus>({}) },
    { weight: 1, arbitrary: fc.constant<MemberStatus>({ role, state: 'running' }) },
  );
}

const answers = fc
  .record({ role: fc.constantFrom<Role>('primary', 'replica', 'replica'), timeline: fc.constantFrom(1, 1, 1, 2, 2, 3) })
  .chain(({ role, timeline }) =>
    fc.record({
      check:
        role === 'primary'
          ? mostly(WRITE_CHECK, READ_CHECK, ZONE_CHECK)
          : mostly(READ_CHECK, ZONE_CHECK, WRITE_CHECK, ZONE_CHECK),
      outcome: fc.record({
        kind: fc.constant('answered' as const),
        status: mostly<200 | 503>(200, 503, 503),
        body: fc.oneof(
          { weight: 15, arbitrary: bodyOf(role, timeline) },
          { weight: 1, arbitrary: fc.constant(undefined) },
        ),
      }),
    }),
  );

const ports = fc.constantFrom('accepts' as const, 'refused' as const, 'silent' as const, 'unknown' as const);
const failures = fc.record({
  check: fc.constantFrom(WRITE_CHECK, READ_CHECK),
  outcome: fc.oneof<[fc.Arbitrary<ProbeOutcome>, fc.Arbitrary<ProbeOutcome>]>(
    fc.record({ kind: fc.constant('refused' as const), postgres: ports }),
    fc.record({
      kind: fc.constant('failed' as const),
      cause: fc.constantFrom('timeout' as const, 'reset' as const, 'local' as const),
      detail: fc.constant('no answer'),
      postgres: ports,
    }),
  ),
});

/** One observation: it arrives `gapMs` after the one before and began `lateMs` ago. */
interface Step {
  readonly gapMs: number;
  readonly lateMs: number;
  readonly observe: (startedAt: Instant) => Observation;
}

const names = fc.constantFrom(...NAMES);

/** The scheduled switchover of a list: not read, none, or one soon. */
const scheduled: fc.Arbitrary<(startedAt: Instant) => Pick<MembersObservation, 'switchover'>> = fc.oneof(
  fc.constant(() => ({})),
  fc.constant(() => ({ switchover: 'none' as const })),
  fc.tuple(names, fc.constantFrom(-10_000, 0, 1000, 4000)).map(([leader, inMs]) => (startedAt: Instant) => ({
    switchover: { leader, at: startedAt + inMs },
  })),
);

const contents: fc.Arbitrary<Step['observe']> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc
      .tuple(names, answers, mostly<'own' | 'none' | 'pg-1'>('own', 'none', 'pg-1'))
      .map(([member, { check, outcome }, name]) => (startedAt: Instant): Observation => {
        const { body } = outcome;
        // An empty body stays empty: it is the body that does not report its identity.
        const isNamed = body?.scope !== undefined && name !== 'none';
        const named = isNamed ? { ...body, name: name === 'own' ? member : name } : body;
        return { kind: 'probe', member, startedAt, check, outcome: { ...outcome, body: named } };
      }),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(names, failures).map(([member, failure]) => (startedAt: Instant): Observation => {
      return { kind: 'probe', member, startedAt, ...failure };
    }),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(names, names).map(([member, by]) => (startedAt: Instant): Observation => {
      return { kind: 'vouch', member, by, startedAt };
    }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.option(names, { nil: undefined }), names).map(([leader, by]) => {
      return (startedAt: Instant): Observation => ({ kind: 'leader', leader, by, startedAt });
    }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(names, fc.constantFrom('standby', 'pooler', 'primary')).map(([member, by]) => {
      return (startedAt: Instant): Observation => ({ kind: 'landing', member, by, startedAt });
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        scheduled,
        fc.uniqueArray(fc.record({ name: names, host: mostly('', '10.0.0.9'), hasPostgres: mostly(true, false) }), {
          selector: ({ name }) => name,
          minLength: 1,
          maxLength: 4,
        }),
      )
      .map(([switchover, listed]) => (startedAt: Instant): Observation => {
        const members = listed.map(({ name, host, hasPostgres }) =>
          aMember(name, { postgres: hasPostgres ? { host: host || name, port: 5432 } : undefined }),
        );
        return { kind: 'members', startedAt, members, ...switchover(startedAt) };
      }),
  },
);

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    gapMs: fc.constantFrom(0, 0, 100, 300, 1000, 1000, 2500, 5000),
    lateMs: mostly(0, 800, 3000),
    observe: contents,
  }),
  { minLength: 3, maxLength: 24 },
);

/** Most histories begin with a whole round without answers, so that the first round is complete early. */
export const worlds: fc.Arbitrary<World> = fc
  .record({ policy: policies, size: fc.integer({ min: 1, max: 4 }), hasFirstRound: mostly(true, false), steps })
  .map(({ policy, size, hasFirstRound, steps: taken }) => {
    const known = NAMES.slice(0, size);
    const history: Event[] = [{ now: 0, observation: aList(0, ...known) }];
    if (hasFirstRound) history.push(...known.map((member) => ({ now: 10, observation: silent({ member, at: 10 }) })));
    let now = 10_000;
    for (const step of taken) {
      now += step.gapMs;
      history.push({ now, observation: step.observe(now - step.lateMs) });
    }
    return { policy, history };
  });

export function snapshotAfter({ policy, history }: World): Snapshot {
  return history.reduce((snapshot, { observation }) => observe(policy, snapshot, observation), emptySnapshot('lab'));
}

/** Each snapshot of a history with the instants to decide at: on arrival, and just before the next snapshot. */
export function momentsOf({
  policy,
  history,
}: World): readonly { readonly snapshot: Snapshot; readonly now: Instant; readonly seen: number }[] {
  let snapshot = emptySnapshot('lab');
  return history.flatMap(({ now, observation }, index) => {
    snapshot = observe(policy, snapshot, observation);
    const next = history[index + 1]?.now ?? now + 40_000;
    const taken = snapshot;
    const instants = [...new Set([now, next - 1])].filter((at) => at >= now && at <= next);
    return instants.map((at) => ({ snapshot: taken, now: at, seen: index + 1 }));
  });
}

export function renamed(observation: Observation, rename: (name: MemberName) => MemberName): Observation {
  switch (observation.kind) {
    case 'probe': {
      const { outcome } = observation;
      const member = rename(observation.member);
      const name = outcome.kind === 'answered' ? outcome.body?.name : undefined;
      if (outcome.kind !== 'answered' || outcome.body === undefined || name === undefined)
        return { ...observation, member };
      return { ...observation, member, outcome: { ...outcome, body: { ...outcome.body, name: rename(name) } } };
    }
    case 'landing':
      return { ...observation, member: rename(observation.member) };
    case 'vouch':
      return { ...observation, member: rename(observation.member), by: rename(observation.by) };
    case 'leader': {
      const leader = observation.leader === undefined ? undefined : rename(observation.leader);
      return { ...observation, leader, by: rename(observation.by) };
    }
    case 'members':
      return {
        ...observation,
        members: observation.members.map((member) => ({ ...member, name: rename(member.name) })),
        ...withSwitchover(observation, ({ leader, at }) => ({ leader: rename(leader), at })),
      };
  }
}

export function shifted(observation: Observation, byMs: number): Observation {
  const moved = { ...observation, startedAt: observation.startedAt + byMs };
  if (moved.kind !== 'members') return moved;
  return { ...moved, ...withSwitchover(moved, ({ leader, at }) => ({ leader, at: at + byMs })) };
}

function withSwitchover(
  { switchover }: MembersObservation,
  change: (scheduled: ScheduledSwitchover) => ScheduledSwitchover,
): Pick<MembersObservation, 'switchover'> {
  return switchover === undefined || switchover === 'none' ? {} : { switchover: change(switchover) };
}
