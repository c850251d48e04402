// The limits of the queue of held clients, and the events and probes that it asks for.
import { expect, test } from 'vitest';
import type { HoldPolicy } from '../../../../src/model/policy.ts';
import { HoldQueue, isTrialRoute } from '../../../../src/proxy/connect/hold-queue.ts';
import type { HoldResult } from '../../../../src/proxy/connect/hold-queue.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { aTableOf, type PoolPicture } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const OPEN: PoolPicture = { open: { 'pg-1': { host: '10.0.0.1', port: 5432 } } };
const NEXT: PoolPicture = { open: { 'pg-2': { host: '10.0.0.2', port: 5432 } } };
const TRIAL: PoolPicture = { ...OPEN, sharing: { 'pg-1': { isTrial: true } } };
const LOST: PoolPicture = {};
const POLICY: HoldPolicy = {
  clientTimeoutMs: 30_000,
  maxSessions: 3,
  outageTimeoutMs: 60_000,
  maxConnectsPerSecond: 1_000,
};

class Lab {
  readonly clock = new ManualClock(0);
  readonly holding: HoldQueue;
  /** The events and the calls, in words. */
  readonly log: string[] = [];
  readonly triggers: string[] = [];
  policy = POLICY;
  /** Runs when the queue asks for a decision. */
  onDecide = (): void => {};
  #table = aTableOf({ write: LOST });

  constructor() {
    this.holding = new HoldQueue({
      policy: () => this.policy,
      table: () => this.#table,
      decideIfDue: () => this.onDecide(),
      clock: this.clock,
      onEvent: (event) => {
        if (event.kind === 'hold_started') this.log.push(`${event.session} ${event.pool} held: ${event.cause}`);
        if (event.kind === 'hold_ended') this.log.push(`${event.session} ${event.outcome} after ${event.waitedMs}`);
      },
      onTrigger: (trigger) => this.triggers.push(`${trigger.kind} at ${this.clock.now()}`),
    });
    this.holding.learn(['write']);
    this.holding.tableChanged();
  }

  decide(pools: Readonly<Record<string, PoolPicture>>): void {
    this.#table = aTableOf(pools);
    this.holding.tableChanged();
  }

  enter(id: number, { since = this.clock.now(), pauseMs = 0, pool = 'write' } = {}): HoldResult {
    const leave = (word: string): void => {
      if (answer.kind === 'held') answer.leave();
      this.log.push(`${id} ${word}`);
    };
    const answer = this.holding.enter({
      session: aSessionHandle({ id, pool, state: 'holding' }),
      cause: 'no_member',
      since,
      pauseMs,
      onReleased: () => leave('released'),
      onGiveUp: (reason) => leave(reason),
    });
    return answer;
  }
}

test('a client waits for as long as it may since its first hold, and then gives up', async () => {
  const lab = new Lab();
  await lab.clock.advance(10_000);
  lab.enter(1, { since: 5_000 });
  await lab.clock.advance(24_999);
  expect(lab.log).toEqual(['1 write held: no_member']);
  await lab.clock.advance(1);
  expect(lab.log.slice(1)).toEqual(['1 timeout after 25000', '1 hold_timeout']);
  const late = { kind: 'refused', reason: 'hold_timeout', detail: 'no time left to wait' };
  expect(lab.enter(2, { since: 5_000 })).toEqual(late);
  expect(lab.clock.pending(), 'the queue leaves no timer behind').toBe(0);
});

test('no client waits beyond the end of the outage, which counts from the loss of the route', async () => {
  const lab = new Lab();
  await lab.clock.advance(59_999);
  expect(lab.enter(1).kind).toBe('held');
  await lab.clock.advance(1);
  expect(lab.log.at(-1)).toBe('1 hold_timeout');
  expect(lab.enter(2)).toEqual({ kind: 'refused', reason: 'no_route', detail: 'no eligible member for 60 s' });
  await lab.clock.advance(5_000);
  expect(lab.enter(2)).toMatchObject({ detail: 'no eligible member for 65 s' });
  lab.decide({ write: OPEN });
  lab.decide({ write: LOST });
  await lab.clock.advance(59_999);
  lab.decide({ write: LOST });
  expect(lab.enter(3).kind, 'a route in between begins the count anew').toBe('held');
  await lab.clock.advance(1);
  expect(lab.log.at(-1), 'and a table without one does not').toBe('3 hold_timeout');
});

test('no more clients wait than the limit, and each that leaves makes room once', () => {
  const lab = new Lab();
  const [first] = [1, 2, 3].map((id) => lab.enter(id));
  const full = { kind: 'refused', reason: 'hold_full', detail: '3 clients are waiting already' };
  expect(lab.enter(4)).toEqual(full);
  if (first?.kind !== 'held') throw new Error('not held');
  first.leave();
  first.leave();
  expect(lab.log.filter((line) => line.startsWith('1 '))).toEqual(['1 write held: no_member', '1 gave_up after 0']);
  expect([lab.enter(5).kind, lab.enter(6).kind]).toEqual(['held', 'refused']);
});

test.each<[string, Readonly<Record<string, PoolPicture>>]>([
  ['closed', { write: { otherwise: 'closed' } }],
  ['gone from the table', {}],
])('a pool that is %s refuses all that wait', async (_, pools) => {
  const lab = new Lab();
  for (const id of [1, 2]) lab.enter(id);
  await lab.clock.advance(500);
  lab.decide(pools);
  expect(lab.log.slice(2)).toEqual(['1 refused after 500', '1 no_route', '2 refused after 500', '2 no_route']);
  expect(lab.clock.pending()).toBe(0);
});

test('waiting clients ask for probes: each at once, and all of them every second', async () => {
  const lab = new Lab();
  lab.enter(1);
  await lab.clock.advance(1_500);
  lab.enter(2);
  await lab.clock.advance(1_000);
  lab.decide({ write: OPEN });
  await lab.clock.advance(5_000);
  expect(lab.triggers).toEqual([0, 1_000, 1_500, 2_500].map((at) => `clients_held at ${at}`));
});

test('clients are released in the order in which they came, at the rate of the policy in force', async () => {
  const lab = new Lab();
  lab.policy = { ...POLICY, maxSessions: 10, maxConnectsPerSecond: 10 };
  lab.holding.learn(['write']);
  for (const id of [1, 2, 3]) lab.enter(id);
  lab.decide({ write: OPEN });
  await lab.clock.advance(99);
  expect(lab.log.filter((line) => line.endsWith('released'))).toEqual(['1 released']);
  await lab.clock.advance(101);
  expect(lab.log.filter((line) => line.includes('released'))).toEqual([
    '1 released after 0',
    '1 released',
    '2 released after 100',
    '2 released',
    '3 released after 200',
    '3 released',
  ]);
});

test('the rate holds as well for clients that come while the route is open', async () => {
  const lab = new Lab();
  lab.policy = { ...POLICY, maxConnectsPerSecond: 10 };
  lab.holding.learn(['write']);
  lab.decide({ write: OPEN });
  for (const id of [1, 2, 3]) lab.enter(id);
  await lab.clock.advance(300);
  expect(lab.log.filter((line) => line.includes('released after'))).toEqual([
    '1 released after 0',
    '2 released after 100',
    '3 released after 200',
  ]);
});

test('of clients with a pause the one whose pause ends first goes first, each at the end of its own', async () => {
  const lab = new Lab();
  lab.policy = { ...POLICY, maxSessions: 10 };
  lab.decide({ write: OPEN });
  for (const [id, pauseMs] of [250, 200, 300, 100].entries()) lab.enter(id + 1, { pauseMs });
  await lab.clock.advance(300);
  expect(lab.log.filter((line) => line.includes('released after'))).toEqual([
    '4 released after 100',
    '2 released after 200',
    '1 released after 250',
    '3 released after 300',
  ]);
});

test('a client that leaves does not keep the others, and the last one leaves no timer behind', async () => {
  const lab = new Lab();
  lab.decide({ write: OPEN });
  const [first] = [lab.enter(1, { pauseMs: 100 }), lab.enter(2, { pauseMs: 1_500 })];
  if (first.kind === 'held') first.leave();
  await lab.clock.advance(1_499);
  expect(lab.triggers, 'the other one goes on to ask for probes').toHaveLength(3);
  await lab.clock.advance(1);
  expect(lab.log.at(-1)).toBe('2 released');
  const [long, short] = [lab.enter(3, { pauseMs: 300 }), lab.enter(4, { pauseMs: 100 })];
  for (const held of [long, short]) if (held.kind === 'held') held.leave();
  expect(lab.clock.pending()).toBe(0);
});

test('a client with a long pause waits no longer than it may, also while the route is open', async () => {
  const lab = new Lab();
  lab.decide({ write: OPEN });
  lab.enter(1, { pauseMs: 40_000 });
  await lab.clock.advance(30_000);
  expect(lab.log.at(-1)).toBe('1 hold_timeout');
});

test('a server that begins to be on trial is tried at once, however short ago a client was released', async () => {
  const lab = new Lab();
  lab.enter(1);
  lab.decide({ write: OPEN });
  lab.decide({ write: TRIAL });
  lab.enter(2);
  await lab.clock.advance(0);
  expect(lab.log.at(-1)).toBe('2 released');
});

test('only an open route can be a trial', () => {
  const routes = [LOST, OPEN, TRIAL].map((picture) => aTableOf({ write: picture }).pools.get('write')?.route);
  expect([undefined, ...routes].map(isTrialRoute)).toEqual([false, false, false, true]);
});

test('a decision that falls due at a release may take the route away: the others go on waiting', async () => {
  const lab = new Lab();
  for (const id of [1, 2]) lab.enter(id);
  let decisions = 0;
  lab.onDecide = () => {
    decisions += 1;
    if (decisions === 2) lab.decide({ write: LOST });
  };
  lab.decide({ write: OPEN });
  await lab.clock.advance(1_000);
  expect(lab.log.filter((line) => line.endsWith('released'))).toEqual(['1 released']);
  lab.decide({ write: NEXT });
  await lab.clock.advance(0);
  expect(lab.log.at(-1)).toBe('2 released');
});

test('a pool that a new configuration adds has a queue, and the one that it removes keeps its clients', async () => {
  const lab = new Lab();
  expect(() => lab.enter(1, { pool: 'read' })).toThrow('unknown pool read');
  lab.enter(1);
  lab.holding.learn(['write', 'read']);
  expect(lab.holding.longestSince('write'), 'a pool that stays keeps its clients, too').toBe(0);
  lab.holding.learn(['read']);
  expect(lab.enter(2, { pool: 'read' }).kind).toBe('held');
  lab.decide({ write: OPEN, read: LOST });
  await lab.clock.advance(0);
  expect(lab.log.filter((line) => line.endsWith('released'))).toEqual(['1 released']);
  expect([lab.holding.longestSince('read'), lab.holding.longestSince('write')]).toEqual([0, undefined]);
});

test('a queue that has stopped releases no client and asks for no probe', async () => {
  const lab = new Lab();
  lab.decide({ write: OPEN });
  lab.enter(1, { pauseMs: 100 });
  lab.holding.stop();
  await lab.clock.advance(5_000);
  expect([lab.log, lab.triggers]).toEqual([['1 write held: no_member'], ['clients_held at 0']]);
});
