// Limits that several processes share: the counts of the others matter like the own ones.
import { expect, test } from 'vitest';
import { NO_TALLY } from '../../../src/reports/tally.ts';
import type { Tally } from '../../../src/reports/tally.ts';
import { Admission } from '../../../src/proxy/accept/admission.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { NO_SIBLINGS } from '../../../src/proxy/siblings.ts';
import { SessionRegistry } from '../../../src/proxy/session-registry.ts';
import { TokenBucket } from '../../../src/proxy/token-bucket.ts';

const HERE = '10.0.0.1';
const CLIENT = { bytesRead: () => 0, drop: () => {} };

function others(tally: Partial<Tally>): () => Tally {
  return () => ({ ...NO_TALLY, ...tally });
}

test.each([
  ['sessions', { maxSessions: 5 }, { sessions: 4 }],
  ['sessions of one address', { maxSessions: 100, maxSessionsPerAddress: 5 }, { byAddress: new Map([[HERE, 4]]) }],
  ['clients in their handshake', { maxSessions: 100, maxHandshakes: 5 }, { starting: 4 }],
])('%s: with four elsewhere and a limit of five there is room for one', (_, bounds, elsewhere) => {
  const admission = new Admission({ limits: () => bounds, clock: new ManualClock(), others: others(elsewhere) });
  expect([admission.admit(HERE, CLIENT).kind, admission.admit(HERE, CLIENT).exceededLimit]).toEqual([
    'session',
    expect.stringContaining(' 5 '),
  ]);
});

test('an admission reports all of its counts, and of addresses the changed ones', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 5 }), clock: new ManualClock(), others: others({}) });
  const first = admission.admit(HERE, CLIENT);
  admission.admit('10.0.0.2', CLIENT).setStarting(false);
  const whole = { sessions: 2, starting: 1 };
  expect(admission.tally()).toEqual({
    ...whole,
    byAddress: new Map([
      [HERE, 1],
      ['10.0.0.2', 1],
    ]),
  });
  expect(admission.tally()).toEqual({ ...whole, byAddress: new Map() });
  first.release();
  expect(admission.tally()).toEqual({ sessions: 1, starting: 0, byAddress: new Map([[HERE, 0]]) });
});

test('alone it keeps no addresses for other workers', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 5 }), clock: new ManualClock() });
  admission.admit(HERE, CLIENT);
  expect(admission.tally().byAddress).toEqual(new Map());
});

test('sessions on a member, by fallback and among laggards include those of other workers; own counts do not', () => {
  const read = { fallback: 2, lagging: 3, members: new Map([['pg-2', 4]]) };
  const registry = new SessionRegistry({ ...NO_SIBLINGS, others: others({ pools: new Map([['read', read]]) }) });
  registry.learn(['read', 'write']);
  expect([
    registry.sessionsOn('read', 'pg-2'),
    registry.fallbackSessions('read'),
    registry.laggingSessions('read'),
  ]).toEqual([4, 2, 3]);
  expect([registry.sessionsOn('read', 'pg-3'), registry.fallbackSessions('write')]).toEqual([0, 0]);
  expect(registry.counts().get('read')).toMatchObject({ members: new Map(), fallbackSessions: 0 });
  expect(registry.tally().pools.get('read')).toEqual({ fallback: 0, lagging: 0, members: new Map() });
});

test('a shared rate may be less than one a second: it still gives a token in the end', () => {
  const bucket = new TokenBucket(0.25, 0, 0.25);
  expect([bucket.take(0), bucket.take(0), bucket.take(4000)]).toEqual([0, 4000, 0]);
});
