// The places of members in pools, their roles in words, and the notices: what the page and the command line both show.
import { describe, expect, test } from 'vitest';
import { noticesOf } from '../../../src/admin/notices.ts';
import { placed } from '../../../src/admin/places.ts';
import type { MemberFacts } from '../../../src/admin/places.ts';
import type { MemberStatusDocument, StandingDocument } from '../../../src/documents/member-document.ts';
import { memberOf, openOn, poolOf, statusOf } from '../../support/page/status.ts';

const FAILING = { for_seconds: 3, outcome: 'timeout' };

function standing(own: Partial<StandingDocument>): MemberFacts['pools'][string] {
  return { standing: 'leave', why: '', weight: 1, zone: null, far: false, ...own };
}

function outOfA(name: string, cause: string): MemberStatusDocument {
  return memberOf(name, [], { pools: { a: { place: { sign: 'warning', word: '' }, ...standing({ cause }) } } });
}

function aMember(
  own: Partial<StandingDocument>,
  more: Partial<MemberStatusDocument> = {},
  pool = poolOf('read'),
): MemberStatusDocument {
  return placed({ ...memberOf('pg-1', [], more), pools: { read: standing(own) } }, [pool]);
}

const place = (...given: Parameters<typeof aMember>) => aMember(...given).pools['read']?.place;

describe('the place of a member', () => {
  test('by the route, then by standing and cause', () => {
    const routed = poolOf('read', { route: openOn('pg-1') });
    const lent = poolOf('read', { route: { ...openOn('pg-1'), fallback: { pool: 'write', max_sessions: 100 } } });
    expect(place({ standing: 'open' }, {}, routed)).toEqual({ sign: 'routed', word: 'routed' });
    expect(place({ standing: 'open' }, {}, lent)).toEqual({ sign: 'routed', word: 'used as fallback' });
    expect(place({ standing: 'keep' })).toEqual({ sign: 'warning', word: 'no new sessions' });
    expect(place({ standing: 'open' })).toEqual({ sign: 'eligible', word: 'eligible' });
    expect(place({ cause: 'lagging' })).toEqual({ sign: 'warning', word: 'lag too high' });
    expect(place({ cause: 'stale' })).toEqual({ sign: 'warning', word: 'data too old' });
    expect(place({ cause: 'dead' })).toEqual({ sign: 'bad', word: 'down' });
    expect(place({ cause: 'fallback_over' })).toEqual({ sign: 'eligible', word: 'fallback only' });
    expect(place({ cause: 'old_timeline' })).toEqual({ sign: 'warning', word: 'old timeline' });
    expect(place({ cause: 'not_synchronous' })).toEqual({ sign: 'idle', word: 'not synchronous' });
    expect(place({ cause: 'a_new_cause' })).toEqual({ sign: 'idle', word: 'a new cause' });
  });

  test('a healthy member of the other role is no fault, whatever it was before', () => {
    expect(place({ cause: 'not_primary' })).toEqual({ sign: 'idle', word: 'is a replica' });
    expect(place({ cause: 'not_primary' }, { role: 'sync_standby' })?.word).toBe('is a sync standby');
    expect(place({ cause: 'demoted' })).toEqual({ sign: 'idle', word: 'is a replica' });
    expect(place({ cause: 'promoted' }, { role: 'primary' })).toEqual({ sign: 'idle', word: 'is the primary' });
  });

  test('a former primary is demoted until it has become a replica, or does not answer', () => {
    expect(place({ cause: 'demoted' }, { role: 'demoted' })).toEqual({ sign: 'warning', word: 'demoted' });
    const frozen = aMember({ cause: 'demoted' }, { role: 'primary', failing: FAILING });
    expect(frozen.pools['read']?.place).toEqual({ sign: 'bad', word: 'no answer' });
    expect(frozen.role_text).toBe('was primary');
  });
});

function role(...given: Parameters<typeof aMember>): string | null {
  return aMember(...given).role_text;
}

test('the role of a member that does not answer is its last one, unless a pool still takes it as eligible', () => {
  expect(role({}, { role: 'primary' })).toBe('primary');
  expect(role({ standing: 'open' }, { role: 'primary', failing: FAILING })).toBe('primary');
  expect(role({ standing: 'keep' }, { role: 'primary', failing: FAILING })).toBe('was primary');
  expect(role({}, { role: 'sync_standby', failing: FAILING })).toBe('was sync standby');
  expect(role({}, { role: null, failing: FAILING })).toBeNull();
});

function texts(own: Parameters<typeof statusOf>[0]): readonly string[] {
  return noticesOf(statusOf(own)).map(({ text }) => text);
}

describe('notices', () => {
  const write = poolOf('write', { exclusive: true, route: openOn('pg-2') });
  const why = 'no eligible member, clients wait';
  const held = (cause: string) => poolOf('write', { exclusive: true, route: { kind: 'hold', cause }, why });

  test('none in health; else one sentence each', () => {
    expect(texts({ pools: [write], members: [memberOf('pg-2', ['write'])] })).toEqual([]);
    const member = memberOf('pg-2', ['write'], { paused: true, pending_restart: true });
    expect(noticesOf(statusOf({ pools: [held('no_member')], members: [member] }))).toEqual([
      { level: 'danger', about: 'no route', text: `Pool write: ${why}.`, pool: 'write' },
      {
        level: 'warning',
        about: 'pending restart',
        text: 'A restart is pending: pg-2.',
        command: 'pointsman cluster restart --role any --pending',
      },
      {
        level: 'warning',
        about: 'paused',
        text: 'Cluster paused: automatic failover is off.',
        command: 'pointsman cluster resume',
      },
    ]);
    const silent = Array.from({ length: 7 }, (_, index) => memberOf(`pg-${index}`, [], { failing: FAILING }));
    expect(texts({ members: silent })).toEqual(['No answer: pg-0, pg-1, pg-2, pg-3, pg-4 and 2 more.']);
  });

  test('a member that is eligible, and whose TLS fails', () => {
    const failing = { reason: 'expired', why: 'it has expired', count: 3, for_seconds: 12, last_seconds: 1 } as const;
    const tls = { certificate_expires_at: null, failing };
    const standing = { place: { sign: 'routed', word: 'routed' }, standing: 'open', why: 'is the primary' } as const;
    const pools = { write: { ...standing, weight: 1, zone: null, far: false } };
    const members = [memberOf('pg-1', ['write'], { tls }), memberOf('pg-2', [], { tls, pools })];
    expect(noticesOf(statusOf({ pools: [write], members }))).toEqual([
      { level: 'warning', about: 'tls', text: 'TLS with pg-2 fails: it has expired (3 in 12 s).' },
    ]);
  });

  test('clients that an operator lets wait are no fault', () => {
    expect(noticesOf(statusOf({ pools: [held('switchover')] }))).toEqual([
      { level: 'warning', about: 'held', text: `Pool write: ${why}.`, pool: 'write' },
    ]);
    const { cluster } = statusOf({});
    const handover = { operation: 'switchover', member: 'pg-3', phase: 'drain', for_seconds: 1 } as const;
    expect(texts({ cluster: { ...cluster, handover } })).toEqual(['Switchover in progress: draining pg-3.']);
  });

  test('a second primary, and members that the operator drained, known or not', () => {
    const { cluster, time } = statusOf({});
    const primary = { member: 'pg-2', since: time, timeline: 2 };
    const members = [
      memberOf('pg-2', ['write'], { role_text: 'primary' }),
      memberOf('pg-1', ['write'], { role_text: 'primary' }),
      memberOf('pg-3', ['write'], { role: 'primary', role_text: 'was primary' }),
    ];
    expect(texts({ cluster: { ...cluster, primary, drained: ['pg-1', 'pg-9'] }, pools: [write], members })).toEqual([
      'pg-1 says that it is the primary, too, on timeline 1.',
      'Drained by the operator: pg-1.',
      'Drained by the operator: pg-9, which is no member now.',
    ]);
  });

  test('what limits a pool, and what is not known of the cluster', () => {
    const lent = poolOf('a', { route: { ...openOn('pg-1'), fallback: { pool: 'write', max_sessions: 100 } } });
    const late = poolOf('b', { route: { ...openOn('pg-1'), lagging: { max_sessions: 9 } } });
    const contactSources = [{ source: 'pg.example.org', contact_points: [], failing: { why: 'no such host' } }];
    const { cluster } = statusOf({});
    const members = [
      outOfA('pg-1', 'lagging'),
      outOfA('pg-2', 'old_timeline'),
      outOfA('pg-4', 'stale'),
      memberOf('pg-3', [], { cluster_unlocked: true }),
    ];
    const own = { cluster: { ...cluster, contact_sources: contactSources }, pools: [lent, late], members };
    expect(texts({ ...own, not_ready_because: 'shutting down' })).toEqual([
      'Not ready: shutting down.',
      'Nobody holds the leader lock. Reported by: pg-3.',
      'Pool a uses its fallback, pool write: 0 sessions.',
      'Pool b: every member is over the lag limit, and is used.',
      'Over the lag limit of pool a: pg-1.',
      'Data older than max_staleness of pool a: pg-4.',
      "Not on the primary's timeline, so not in pool a: pg-2.",
      'pg.example.org: no such host.',
    ]);
  });

  test('members that are not used, each with its reason, up to a limit', () => {
    const refused = Array.from({ length: 7 }, (_, index) => ({
      name: `pg-${index}`,
      reason: 'api_port' as const,
      why: 'no port',
    }));
    expect(texts({ refused_members: refused.slice(0, 1) })).toEqual(['pg-0 is not used: no port.']);
    expect(texts({ refused_members: refused }).at(-1)).toBe('2 more are not used.');
  });

  test('an outage of the list of branches', () => {
    const failing = { failure: 'timeout', why: 'no answer within 5 s', for_seconds: 9 } as const;
    const list = { source: 'console', read_at: null, branches: 12, failing, sessions: null } as const;
    const text = 'The list of branches cannot be read: no answer within 5 s.';
    expect(texts({ branches: { ...list, age_seconds: 4 } })).toEqual([`${text} The last list stays in use.`]);
    expect(texts({ branches: { ...list, age_seconds: null } })).toEqual([
      `${text} Clients that ask for a branch are refused.`,
    ]);
  });
});
