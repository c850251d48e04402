// The sentences about a member: the evidence, its age and the deciding rule, in the same words everywhere.
import { describe, expect, test } from 'vitest';
import { buildStatus } from '../../../src/admin/status.ts';
import { planActions } from '../../../src/core/actions.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { describeStanding, exclusionCause } from '../../../src/core/describe.ts';
import { placeWord } from '../../../src/core/place-words.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { Standing } from '../../../src/core/standing.ts';
import { changesBetween } from '../../../src/monitor/changes.ts';
import { refusalMessage } from '../../../src/proxy/messages/refusal-message.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  MB,
  poolOf,
  READ_CHECK,
  refused,
  silent,
  vouched,
} from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const POLICY = aPolicy();
const ROUND = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0)] as const;

function says(pool: string, member: string, now: number, ...news: readonly Observation[]): string | undefined {
  const standing = poolOf(aTable(POLICY, now, ...ROUND, ...news), pool).standings.get(member);
  return standing && describeStanding(standing, now);
}

function lagging(at: number): Observation {
  const body = { role: 'replica', state: 'running', timeline: 1, replayed: 82 * MB } as const;
  return answered({ member: 'pg-2', check: READ_CHECK, at, status: 503, body });
}

describe('a member of the pool of the primary', () => {
  test('is called demoted only if it was the primary before', () => {
    const replica = poolOf(aTable(POLICY, 100, ...ROUND), 'write').standings.get('pg-2');
    expect(replica && placeWord(replica)).toBe('not primary');
    expect(replica, 'its sessions, if there were any, would end as those of a demoted one').toMatchObject({
      kind: 'leave',
      cause: 'demoted',
    });
    const switched = [isPrimary('pg-2', 2000, { timeline: 2 }), isReplica('pg-1', 2000, { timeline: 2 })];
    const former = poolOf(aTable(POLICY, 2100, ...ROUND, ...switched), 'write').standings.get('pg-1');
    expect(former && placeWord(former)).toBe('demoted');
  });

  test.each<[string, number, readonly Observation[], string]>([
    ['open', 400, [], 'answered 200 to /primary 400 ms ago; no rival on timeline 1'],
    [
      'open and silent: what the clocks will do',
      3200,
      [silent({ at: 1000 })],
      'answered 200 to /primary 3.2 s ago; no answer for 2.2 s: no new sessions after 5 s; ' +
        'existing ones close after 15 s',
    ],
    [
      'silent too long for new sessions',
      6000,
      [silent({ at: 1000 })],
      'no answer for 5 s: no answer within 800 ms; last passed /primary 6 s ago; no new sessions after 5 s; ' +
        'existing ones close after 15 s',
    ],
    [
      'silent too long',
      15_000,
      [silent({ at: 1000 })],
      'no answer for 14 s: no answer within 800 ms; last passed /primary 15 s ago; sessions close after 15 s',
    ],
    [
      'vouched for',
      6000,
      [silent({ at: 1000, postgres: 'accepts' }), vouched('pg-1', 'pg-2', 5000)],
      'API not responding for 5 s: PostgreSQL accepts connections, pg-2 confirms that it is the leader; ' +
        'confirmed 1 s ago; valid for 5 s',
    ],
    ['open, without a timeline', 1100, [answered({ at: 1000 })], 'answered 200 to /primary 100 ms ago; no rival'],
    ['a no', 1100, [answered({ at: 1000, status: 503 })], 'answered 503 to /primary 100 ms ago'],
    [
      'a yes with a different body',
      1100,
      [answered({ at: 1000, body: { role: 'primary', state: 'stopping' } })],
      'PostgreSQL is not running: state stopping; answered 200 to /primary 100 ms ago; ' +
        'PostgreSQL itself closes existing sessions',
    ],
    [
      'dead',
      1108,
      [refused({ at: 1100 })],
      'API and PostgreSQL refuse connections for 8 ms; considered dead until it answers again',
    ],
    [
      'two of them',
      1100,
      [isPrimary('pg-1', 1000), isPrimary('pg-2', 1000)],
      'two members claim to be primary: timeline 1; answered 200 to /primary 100 ms ago; ' +
        'no new sessions until one yields, existing ones close after 15 s',
    ],
    [
      'overtaken',
      1100,
      [isPrimary('pg-2', 1000, { timeline: 2 })],
      'superseded: on timeline 1, a primary was seen on 2; answered 200 to /primary 1.1 s ago',
    ],
    [
      'replaced on its own timeline',
      6100,
      [silent({ at: 6000 }), isPrimary('pg-2', 6050)],
      'superseded: pg-2 is proven to be the next one; answered 200 to /primary 6.1 s ago',
    ],
    [
      'a foreign server at its address',
      1100,
      [isPrimary('pg-1', 1000, { scope: 'billing' })],
      'identity mismatch: scope billing, expected lab; reported 100 ms ago',
    ],
    ['new', 1100, [aList(1000, aMember('pg-1', { postgres: { host: 'x', port: 1 } }))], 'no answer yet'],
  ])('%s', (_, now, news, sentence) => {
    expect(says('write', 'pg-1', now, ...news)).toBe(sentence);
  });
});

describe('a member of a pool of replicas', () => {
  test.each<[string, number, readonly Observation[], string]>([
    ['open', 400, [], 'answered 200 to /replica?lag=16MB 400 ms ago; estimated lag 0 B (limit 16 MB)'],
    [
      'one no that does not count yet',
      1100,
      [lagging(1000)],
      'answered 503 to /replica?lag=16MB 100 ms ago; 1 of 2 failures in a row before it is excluded',
    ],
    [
      'lag, by its own account and by ours',
      2100,
      [lagging(1000), lagging(2000)],
      'lag too high: over 16 MB as reported by the member; answered 503 to /replica?lag=16MB 100 ms ago; ' +
        'estimated lag 18 MB (limit 16 MB)',
    ],
    [
      'tagged out',
      1100,
      [isReplica('pg-2', 1000, { noloadbalance: true })],
      'excluded by its tags: noloadbalance; answered 200 to /replica?lag=16MB 100 ms ago',
    ],
    [
      'silent',
      11_000,
      [isPrimary('pg-1', 10_900), silent({ member: 'pg-2', at: 1000 })],
      'no answer for 10 s: no answer within 800 ms; last passed /replica?lag=16MB 11 s ago; ' +
        'new sessions prefer other members, and stop after 10 s; existing ones close after 15 s',
    ],
    [
      'vanished',
      3100,
      [1000, 2000, 3000].flatMap((at) => [isPrimary('pg-1', at), silent({ member: 'pg-2', at })]),
      'no answer from the API and from PostgreSQL for 2.1 s: no answer within 800 ms; ' +
        'last passed /replica?lag=16MB 3.1 s ago; sessions close because another member answers',
    ],
  ])('%s', (_, now, news, sentence) => {
    expect(says('read', 'pg-2', now, ...news)).toBe(sentence);
  });

  test.each<[string, Parameters<typeof aPool>[0], string]>([
    ['no limit', { check: '/replica' }, 'answered 200 to /replica 100 ms ago'],
    [
      'a limit in time alone',
      { check: '/replica', maxStalenessMs: 3000 },
      'answered 200 to /replica 100 ms ago; staleness 0 ms (limit 3 s)',
    ],
  ])('a pool with %s', (_, pool, sentence) => {
    const policy = aPolicy({ pools: [aWritePool(), aPool(pool)] });
    const replica = isReplica('pg-2', 0, {}, '/replica');
    const table = aTable(policy, 100, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), replica);
    const standing = poolOf(table, 'read').standings.get('pg-2');
    expect(standing && describeStanding(standing, 100)).toBe(sentence);
  });

  test('a member whose position was never known', () => {
    const replica = isReplica('pg-2', 0, { replayed: 'invalid' });
    const policy = aPolicy({ pools: [aWritePool(), aPool({ maxStalenessMs: 3000 })] });
    const table = aTable(policy, 100, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), replica);
    const standing = poolOf(table, 'read').standings.get('pg-2');
    expect(standing && describeStanding(standing, 100)).toBe(
      'lag too high: replay position unknown; answered 200 to /replica?lag=16MB 100 ms ago',
    );
  });

  test('a member on its way back: the number of further yes answers', () => {
    const policy = aPolicy({ probe: { rise: 3 }, pools: [aWritePool(), aPool()] });
    const back = [isReplica('pg-2', 3000), isReplica('pg-2', 4000)];
    const table = aTable(policy, 4100, ...ROUND, lagging(1000), lagging(2000), isPrimary('pg-1', 4000), ...back);
    const standing = poolOf(table, 'read').standings.get('pg-2');
    expect(standing && describeStanding(standing, 4100)).toBe(
      'answered 200 to /replica?lag=16MB 100 ms ago; 2 of 3 passes in a row before it is eligible',
    );
  });

  test('a member that serves as a fallback: its own pool, and the evidence in that pool', () => {
    const table = aTable(POLICY, 400, aList(0, 'pg-1'), isPrimary('pg-1', 0));
    const standing = poolOf(table, 'read').standings.get('pg-1');
    expect(standing && describeStanding(standing, 400)).toBe(
      'used as fallback: pool write; answered 200 to /primary 400 ms ago',
    );
  });
});

test('at one moment the DETAIL of a refusal, of a close, /status and the log have the same words', () => {
  const now = 1100;
  const [before, snapshot] = [
    aSnapshot(POLICY, ...ROUND),
    aSnapshot(POLICY, ...ROUND, answered({ at: 1000, status: 503 })),
  ];
  const [previous, table] = [decideRoutes(POLICY, before, 1000), decideRoutes(POLICY, snapshot, now)];
  const words = 'answered 503 to /primary 100 ms ago';

  const status = buildStatus({
    ...STATUS_BASICS,
    version: '0',
    startedAt: 0,
    now,
    readiness: { ready: true },
    pools: POLICY.pools,
    table,
    snapshot,
    counts: new Map(),
  });
  expect(status.members[0]?.pools['write']?.why).toBe(words);

  const lines = changesBetween(previous, table).map((event) => logLine(event, true).text());
  expect(lines).toContain(`pool write: pg-1: demoted: ${words}`);

  const decision = poolOf(table, 'write');
  const facts = { pool: aWritePool(), decision, now, waitedMs: 0, detail: undefined };
  expect(refusalMessage('no_route', facts).detail).toContain(`pg-1 (${words})`);

  const [action] = planActions(POLICY, previous, table);
  expect(action && describeStanding({ ...action, kind: 'leave' }, now)).toBe(words);
});

describe('a replica that fails the check of its pool for another reason than lag', () => {
  const body = { role: 'replica', state: 'running', timeline: 1, replayed: 100 * MB } as const;

  function standingAt(check: string, timeline: number, news: Partial<MemberStatus> = {}): Standing | undefined {
    const policy = aPolicy({ pools: [aWritePool(), aPool({ name: 'some', check })] });
    const now = [200, 400].map((at) =>
      answered({ member: 'pg-2', check, at, status: 503, body: { ...body, timeline: 2, ...news } }),
    );
    const old = [answered({ member: 'pg-2', check, at: 200, body: { ...body, timeline } })];
    const primary = isPrimary('pg-1', 100, { timeline: 2, location: 100 * MB });
    const table = aTable(policy, 500, aList(0, 'pg-1', 'pg-2'), primary, ...(timeline < 2 ? old : now));
    return poolOf(table, 'some').standings.get('pg-2');
  }

  test.each([
    ['/synchronous', 'check_failed', 'not_synchronous', 'not synchronous', {}],
    ['/sync', 'check_failed', 'not_synchronous', 'not synchronous', {}],
    ['/read-only-sync', 'check_failed', 'not_synchronous', 'not synchronous', {}],
    ['/quorum', 'check_failed', 'not_in_quorum', 'not in quorum', {}],
    ['/read-only-quorum', 'check_failed', 'not_in_quorum', 'not in quorum', {}],
    ['/asynchronous', 'check_failed', 'not_asynchronous', 'not asynchronous', {}],
    ['/asynchronous?lag=16MB', 'check_failed', 'not_asynchronous', 'not asynchronous', { isSynchronous: true }],
    ['/asynchronous?lag=16MB', 'lagging', 'lagging', 'lag too high', {}],
    ['/read-only', 'check_failed', 'check_failed', 'fails the check', {}],
    ['/liveness', 'check_failed', 'not_alive', 'not alive', {}],
    ['/readiness', 'check_failed', 'not_ready', 'not ready', {}],
    ['/replica?lag=16MB', 'lagging', 'lagging', 'lag too high', {}],
  ] as const)('%s: cause %s, word %s, shown as %s', (check, cause, word, shown, news) => {
    const standing = standingAt(check, 2, news);
    expect(standing).toMatchObject({ kind: 'leave', cause });
    expect(standing && exclusionCause(standing)).toBe(word);
    expect(standing && placeWord(standing)).toBe(shown);
  });

  test('data that is too old', () => {
    const policy = aPolicy({ pools: [aWritePool(), aPool({ maxStalenessMs: 3000 })] });
    const news = [1, 2, 3, 4, 5].flatMap((at) => [
      isPrimary('pg-1', at * 1000, { location: 100 * MB + 680 }),
      isReplica('pg-2', at * 1000 + 100),
    ]);
    const saysAt = (count: number) => {
      const table = aTable(policy, 5200, aList(0, 'pg-1', 'pg-2'), ...news.slice(0, count));
      const standing = poolOf(table, 'read').standings.get('pg-2');
      return standing && [exclusionCause(standing), placeWord(standing), describeStanding(standing, 5200)];
    };
    expect(saysAt(2 * news.length)).toEqual([
      'stale',
      'data too old',
      'data too old; answered 200 to /replica?lag=16MB 100 ms ago; ' +
        'estimated lag 680 B (limit 16 MB), staleness 4 s (limit 3 s)',
    ]);
    expect(saysAt(4)).toEqual([
      undefined,
      'eligible',
      'answered 200 to /replica?lag=16MB 3.1 s ago; estimated lag 680 B (limit 16 MB), staleness 1 s (limit 3 s)',
    ]);
  });

  test('an old timeline is no lag', () => {
    const standing = standingAt('/replica?lag=16MB', 1);
    expect(standing).toMatchObject({ kind: 'leave', cause: 'old_timeline', why: { code: 'other_timeline' } });
  });
});
