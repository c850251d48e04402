import { beforeEach, describe, expect, test } from 'vitest';
import { Registry } from '../../../src/proxy/session-registry.ts';
import type { Place, Seated } from '../../../src/proxy/session-registry.ts';

const PLACE: Place = {
  member: 'pg-1',
  address: { host: '127.0.0.1', port: 5432 },
  isFallback: false,
  isLagging: false,
};

let registry: Registry;

beforeEach(() => {
  registry = new Registry();
  registry.learn(['read', 'write']);
});

function aSession(place: Place, pool = 'read'): Seated {
  const session: Seated = {
    pool,
    listener: { host: '127.0.0.1', port: 6432 },
    place: () => place,
    isIdle: () => false,
    settlesInMs: () => 0,
    onIdle: () => () => {},
    end() {},
    giveUpDial() {},
    stopWaiting() {},
    dismiss() {},
    close() {},
  };
  registry.add(session);
  registry.sit(session, place);
  return session;
}

describe.each([
  ['fallback', { isFallback: true }, () => registry.fallbackSessions('read')],
  ['lagging', { isLagging: true }, () => registry.laggingSessions('read')],
] as const)('sessions that came by a degraded route: %s', (_, how, count) => {
  test('count while they sit, and not after', () => {
    const place = { ...PLACE, ...how };
    const [one, two] = [aSession(place), aSession(place)];
    aSession(PLACE);
    expect(count()).toBe(2);
    registry.rise(one, place);
    expect(count()).toBe(1);
    registry.rise(one, place);
    expect(count()).toBe(1);
    registry.rise(two, place);
    expect(count()).toBe(0);
  });
});

test('sessions at a member are those at its address: one that moved has others', () => {
  const before = aSession(PLACE);
  const moved = { ...PLACE, address: { host: '127.0.0.2', port: 5432 } };
  const after = aSession(moved);
  aSession(PLACE, 'write');
  expect(registry.at('read', 'pg-1', PLACE.address)).toEqual([before]);
  expect(registry.at('read', 'pg-1', moved.address)).toEqual([after]);
  expect(registry.sessionsOn('read', 'pg-1')).toBe(2);
});
