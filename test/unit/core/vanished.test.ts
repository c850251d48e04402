// Silent members: the last choice from the first missed probe on, and excluded when their hosts seem to be gone.
import { describe, expect, test } from 'vitest';
import { newRecord } from '../../../src/core/snapshot.ts';
import { isVanishing } from '../../../src/core/vanished.ts';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aMember,
  aPolicy,
  aPool,
  aProbePolicy,
  aSnapshot,
  aTable,
  answered,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  poolOf,
  refused,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const WITH_FALLBACK = aPolicy();
const ALONE = aPolicy({ pools: [aWritePool(), aPool()] });
const LIST = aList(0, 'pg-1', 'pg-2', 'pg-3');
const ROUND = [LIST, isPrimary('pg-1', 0), isReplica('pg-2', 0), isReplica('pg-3', 0)] as const;

/** Probes without an answer from either port. */
function holes(member: string, ...at: readonly number[]) {
  return at.map((one) => silent({ member, at: one }));
}

function inZone(member: string, at: number, zone: string): Observation {
  return isReplica(member, at, { tags: new Map([['zone', zone]]) }, `/replica?tag_zone=${zone}`);
}

function suspects(...news: readonly Observation[]): readonly string[] {
  const route = routeOf(aTable(ALONE, 1100, ...ROUND, ...news), 'read');
  return route.kind === 'open' ? route.targets.filter(({ isSuspect }) => isSuspect).map(({ member }) => member) : [];
}

function standing(...probes: readonly Observation[]): string {
  const others = [isPrimary('pg-1', 3000), isReplica('pg-3', 3000)];
  return standingIn(aTable(WITH_FALLBACK, 3100, ...ROUND, ...probes, ...others), 'read', 'pg-2');
}

describe('a replica whose API and PostgreSQL port are silent', () => {
  const others = [isPrimary('pg-1', 3000), isReplica('pg-3', 3000)];

  test('takes new sessions only if no other member can, from the first missed probe on', () => {
    expect(suspects(...holes('pg-2', 1000))).toEqual(['pg-2']);
    expect(suspects(silent({ member: 'pg-2', at: 1000, postgres: 'accepts' }))).toEqual(['pg-2']);
    expect(suspects(silent({ member: 'pg-2', at: 1000, cause: 'local' }))).toEqual([]);
    expect(suspects(...holes('pg-2', 1000), isReplica('pg-2', 1050))).toEqual([]);
  });

  test('loses its sessions after three such probes in a row, while another member answers', () => {
    const table = aTable(WITH_FALLBACK, 3100, ...ROUND, ...holes('pg-2', 1000, 2000, 3000), ...others);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave silent vanished');
    expect(openIn(table, 'read')).toEqual(['pg-3']);
    const two = aTable(WITH_FALLBACK, 3100, ...ROUND, ...holes('pg-2', 2000, 3000), ...others);
    expect(standingIn(two, 'read', 'pg-2')).toBe('open positive');
  });

  test('keeps them while its PostgreSQL accepts connections, and an answer restarts the count', () => {
    const accepts = silent({ member: 'pg-2', at: 2000, postgres: 'accepts' });
    const first = silent({ member: 'pg-2', at: 1000 });
    const rest = holes('pg-2', 3000, 3050);
    const counted = aTable(WITH_FALLBACK, 3100, ...ROUND, first, accepts, ...rest, ...others);
    expect(standingIn(counted, 'read', 'pg-2')).toBe('open positive');
    const reset = silent({ member: 'pg-2', at: 2000, cause: 'reset' });
    const speaks = aTable(WITH_FALLBACK, 3100, ...ROUND, first, reset, ...rest, ...others);
    expect(standingIn(speaks, 'read', 'pg-2')).toBe('open positive');
    const answers = aTable(WITH_FALLBACK, 3100, ...ROUND, first, isReplica('pg-2', 2000), ...rest, ...others);
    expect(standingIn(answers, 'read', 'pg-2')).toBe('open positive');
  });

  test('is not taken for well by a probe that does not know its PostgreSQL port, because we stood still', () => {
    const unknown = silent({ member: 'pg-2', at: 1500, postgres: 'unknown' });
    expect(standing(...holes('pg-2', 1000), unknown, ...holes('pg-2', 2000, 2500))).toBe('leave silent vanished');
    expect(standing(unknown, ...holes('pg-2', 2000, 2500))).toBe('open positive');
    const garbage = silent({ member: 'pg-2', at: 1500, cause: 'malformed', postgres: 'unknown' });
    expect(standing(...holes('pg-2', 1000), garbage, ...holes('pg-2', 2000, 2500))).toBe('open positive');
  });

  test('loses them when no packet finds its host, and not when its API alone refuses or resets', () => {
    const probes = [1000, 2000, 3000].map((at) => ({ member: 'pg-2', at }));
    expect(standing(...probes.map((one) => silent({ ...one, cause: 'unreachable' })))).toBe('leave silent vanished');
    expect(standing(...probes.map((one) => silent({ ...one, cause: 'reset' })))).toBe('open positive');
    expect(standing(...probes.map((one) => silent({ ...one, postgres: 'unknown' })))).toBe('open positive');
    expect(standing(...probes.map((one) => refused({ ...one, postgres: 'silent' })))).toBe('open positive');
  });

  test('loses them in a pool without a fallback as well, while one of its own members answers', () => {
    const table = aTable(ALONE, 3100, ...ROUND, ...holes('pg-2', 1000, 2000, 3000), ...others);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave silent vanished');
  });

  test('never loses them for that where `silent_probes` is off', () => {
    const off = aPolicy({ probe: { silentProbes: undefined } });
    const table = aTable(off, 3100, ...ROUND, ...holes('pg-2', 1000, 2000, 3000), ...others);
    expect(standingIn(table, 'read', 'pg-2')).toBe('open positive');
  });

  test('G20: comes back by an answer of its API alone, and not on its old yes', () => {
    const gone = holes('pg-2', 1000, 1500, 2000);
    const accepts = silent({ member: 'pg-2', at: 2500, postgres: 'accepts' });
    expect(standing(...gone, accepts)).toBe('leave silent vanished');
    expect(standing(...gone, silent({ member: 'pg-2', at: 2500, cause: 'reset' }))).toBe('leave silent vanished');
    expect(standing(...gone, refused({ member: 'pg-2', at: 2500, postgres: 'accepts' }))).toBe('leave silent vanished');
    expect(standing(...gone, accepts, isReplica('pg-2', 2900))).toBe('open positive');
  });

  test('G20: comes back by an answer to the check of the pool, and not to another one', () => {
    const other = answered({ member: 'pg-2', at: 2900, status: 503, body: { role: 'replica', state: 'running' } });
    const gone = [...holes('pg-2', 1000, 1500, 2000), other];
    expect(standing(...gone)).toBe('keep never_answered');
    expect(standing(...gone, isReplica('pg-2', 2950))).toBe('open positive');
    const foreign = isReplica('pg-2', 2800, { name: 'pg-9' });
    expect(standing(...gone.slice(0, 3), foreign, other)).toBe('keep never_answered');
  });

  test('G20: does not come back because the others fall silent as well, which have answered since', () => {
    const gone = holes('pg-2', 1000, 1500, 2000);
    const silentToo = [silent({ member: 'pg-1', at: 3000 }), silent({ member: 'pg-3', at: 3000 })];
    const table = aTable(ALONE, 3100, ...ROUND, ...gone, isReplica('pg-3', 2000), ...silentToo);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave silent vanished');
    const before = aTable(ALONE, 3100, ...ROUND, ...gone, isReplica('pg-3', 1999), ...silentToo);
    expect(standingIn(before, 'read', 'pg-2')).toBe('open positive');
  });

  test('G12: stays until another one has answered a probe that began with the last silent one, or later', () => {
    const history = [...ROUND, ...holes('pg-2', 1000, 2000, 3000), isReplica('pg-3', 2900)];
    expect(standingIn(aTable(ALONE, 3100, ...history), 'read', 'pg-2')).toBe('open positive');
    const told = aTable(ALONE, 3100, ...history, isReplica('pg-3', 3000));
    expect(standingIn(told, 'read', 'pg-2')).toBe('leave silent vanished');
  });

  test('counts as dead when both of its ports refuse afterwards', () => {
    expect(standing(...holes('pg-2', 1000, 1500, 2000), refused({ member: 'pg-2', at: 2500 }))).toBe(
      'leave dead refused',
    );
  });

  test('says since when it is silent', () => {
    const table = aTable(WITH_FALLBACK, 3100, ...ROUND, ...holes('pg-2', 1000, 2000, 3000), ...others);
    const why = poolOf(table, 'read').standings.get('pg-2')?.why;
    expect(why).toMatchObject({ code: 'vanished', since: 1000, detail: 'no answer within 800 ms' });
  });

  test.each([
    [0, false],
    [1, true],
    [2, true],
    [3, false],
  ])('after %i silent probes of three the next one should come soon: %s', (count, soon) => {
    const probes = holes('pg-2', ...[1000, 2000, 3000].slice(0, count));
    const record = aSnapshot(WITH_FALLBACK, ...ROUND, ...probes).members.get('pg-2');
    if (record === undefined) throw new Error('pg-2 is not known');
    expect(isVanishing(record, WITH_FALLBACK.probe)).toBe(soon);
    expect(isVanishing(record, aProbePolicy({ silentProbes: undefined })), 'it is off').toBe(false);
  });

  test('counts no probe that its host answered by a reset', () => {
    const record = aSnapshot(WITH_FALLBACK, ...ROUND, silent({ member: 'pg-2', at: 1000, cause: 'reset' }));
    expect(isVanishing(record.members.get('pg-2') ?? newRecord(aMember('pg-2')), WITH_FALLBACK.probe)).toBe(false);
  });

  test('is replaced by a fallback of which one member answers, however silent the others are', () => {
    const [far, near] = ['/replica?tag_zone=far', '/replica?tag_zone=near'];
    const pools = [
      aPool({ check: near, fallback: { pool: 'far', maxSessions: 50 } }),
      aPool({ name: 'far', check: far }),
    ];
    const round = [LIST, inZone('pg-1', 0, 'far'), inZone('pg-2', 0, 'near'), inZone('pg-3', 0, 'far')];
    const gone = [...holes('pg-2', 1000, 2000, 3000), ...holes('pg-3', 3000)];
    const table = aTable(aPolicy({ pools }), 3100, ...round, ...gone, inZone('pg-1', 3000, 'far'));
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave silent vanished');
    expect(openIn(table, 'read')).toEqual(['pg-1', 'pg-3']);
  });

  test('is replaced by the fallback if no other replica answers', () => {
    const gone = [...holes('pg-2', 1000, 2000, 3000), ...holes('pg-3', 1000, 2000, 3000)];
    const table = aTable(WITH_FALLBACK, 3100, ...ROUND, ...gone, isPrimary('pg-1', 3000));
    expect(openIn(table, 'read')).toEqual(['pg-1']);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave silent vanished');
    const alone = aTable(ALONE, 3100, ...ROUND, ...gone, isPrimary('pg-1', 3000));
    expect(standingIn(alone, 'read', 'pg-2')).toBe('open positive');
  });

  test('G12: keeps them while every member is silent: the fault is probably local', () => {
    const gone = ['pg-1', 'pg-2', 'pg-3'].flatMap((name) => holes(name, 1000, 2000, 3000));
    const table = aTable(WITH_FALLBACK, 3100, ...ROUND, ...gone);
    expect(standingIn(table, 'read', 'pg-2')).toBe('open positive');
    expect(openIn(table, 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test('a silent primary is judged by the write pool alone', () => {
    const gone = holes('pg-1', 1000, 2000, 3000);
    const table = aTable(WITH_FALLBACK, 3100, ...ROUND, ...gone, isReplica('pg-2', 3000), isReplica('pg-3', 3000));
    expect(openIn(table, 'write')).toEqual(['pg-1']);
    expect(standingIn(table, 'read', 'pg-1')).toBe('leave fallback_over fallback');
  });

  test('G12: a local fault is not counted, and does not undo earlier counts', () => {
    const ours = silent({ member: 'pg-2', at: 2500, cause: 'local' });
    const two = aTable(WITH_FALLBACK, 3100, ...ROUND, ...holes('pg-2', 1000, 2000), ours, ...others);
    expect(standingIn(two, 'read', 'pg-2')).toBe('open positive');
    const three = aTable(
      WITH_FALLBACK,
      3100,
      ...ROUND,
      ...holes('pg-2', 1000, 2000),
      ours,
      ...holes('pg-2', 3000),
      ...others,
    );
    expect(standingIn(three, 'read', 'pg-2')).toBe('leave silent vanished');
  });
});
