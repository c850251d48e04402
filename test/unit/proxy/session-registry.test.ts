import { beforeEach, describe, expect, test } from 'vitest';
import { SessionRegistry } from '../../../src/proxy/session-registry.ts';
import type { Assignment, SessionHandle } from '../../../src/proxy/stage.ts';
import { aSessionHandle } from '../../support/values/sessions.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const PLACE: Assignment = {
  member: 'pg-1',
  address: { host: '127.0.0.1', port: 5432 },
  isFallback: false,
  isLagging: false,
};

let registry: SessionRegistry;

beforeEach(() => {
  registry = new SessionRegistry();
  registry.learn(['read', 'write']);
});

function aSession(place: Assignment, pool = 'read'): SessionHandle {
  const session = aSessionHandle({ pool, assignment: () => place });
  registry.add(session);
  registry.assign(session, place);
  return session;
}

describe.each([
  ['fallback', { isFallback: true }, () => registry.fallbackSessions('read')],
  ['lagging', { isLagging: true }, () => registry.laggingSessions('read')],
] as const)('sessions on a degraded route: %s', (_, how, count) => {
  test('count while they are assigned, and not after', () => {
    const place = { ...PLACE, ...how };
    const [one, two] = [aSession(place), aSession(place)];
    aSession(PLACE);
    expect(count()).toBe(2);
    registry.assign(one, undefined, place);
    expect(count()).toBe(1);
    registry.assign(one, undefined, place);
    expect(count()).toBe(1);
    registry.assign(two, undefined, place);
    expect(count()).toBe(0);
  });
});

test('sessions on a member are those at its address: a moved member has others', () => {
  const before = aSession(PLACE);
  const moved = { ...PLACE, address: { host: '127.0.0.2', port: 5432 } };
  const after = aSession(moved);
  aSession(PLACE, 'write');
  expect(registry.at('read', 'pg-1', PLACE.address)).toEqual([before]);
  expect(registry.at('read', 'pg-1', moved.address)).toEqual([after]);
  expect(registry.sessionsOn('read', 'pg-1')).toBe(2);
});

test('a member counts while it has sessions, and not after', () => {
  const session = aSession(PLACE);
  expect(registry.counts().get('read')?.members).toEqual(new Map([['pg-1', 1]]));
  registry.assign(session, undefined, PLACE);
  expect(registry.counts().get('read')?.members).toEqual(new Map());
});

test('all that wait until no session is left are told, and one whose time is over', async () => {
  const clock = new ManualClock();
  const session = aSession(PLACE);
  const waits = [registry.whenEmpty(clock, 1_000), registry.whenEmpty(clock, 5_000), registry.whenEmpty(clock, 9_000)];
  await clock.advance(1_000);
  await waits[0];
  registry.assign(session, undefined, PLACE);
  registry.moved(session, 'relaying', 'closed');
  await Promise.all(waits);
  expect(clock.pending()).toBe(0);
});

test('a wait whose time is over is not ended once more when no session is left', async () => {
  const clock = new ManualClock();
  let ends = 0;
  const schedule = (ms: number, run: () => void): (() => void) => {
    const cancel = clock.schedule(ms, run);
    return () => {
      ends += 1;
      cancel();
    };
  };
  const session = aSession(PLACE);
  const wait = registry.whenEmpty({ now: () => clock.now(), schedule }, 1_000);
  await clock.advance(1_000);
  await wait;
  registry.moved(session, 'relaying', 'closed');
  expect([registry.size(), ends]).toEqual([0, 1]);
});
