// A primary is demoted while it still answers. Where the state of a session is known, the session is parked without a
// question, and goes on at the next primary that has all that it was told (steps.test.ts has the other cases).
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WalSample } from '../../../../src/core/coverage.ts';
import type { Standing } from '../../../../src/core/standing.ts';
import type { WalEvidence } from '../../../../src/core/wal-samples.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { TERMINATE } from '../../../support/sockets/messages.ts';
import { aWritePool } from '../../../support/values/builders.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

let clock: ManualClock;
let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
/** Samples of the first server, the newest first. */
let samples: WalSample[];

beforeEach(async () => {
  clock = new ManualClock();
  samples = [];
  [one, two] = [await startFakeBackend('movable'), await startFakeBackend('movable')];
});

afterEach(() => lab.end(one, two));

function wal(): WalEvidence {
  const next = { at: clock.now(), run: { timeline: 2, startedAt: 'tuesday' }, bytes: 600 };
  return {
    samples: new Map([
      ['pg-1', samples],
      ['pg-2', [next]],
    ]),
    ends: { timeline: 2, primary: 'pg-2', ends: new Map([[1, 500]]) },
  };
}

function reports(): void {
  samples = [{ at: clock.now(), run: { timeline: 1, startedAt: 'monday' }, bytes: 500 }, ...samples];
}

async function start(): Promise<void> {
  const write = aWritePool();
  reports();
  lab = await startProxyLab({
    clock,
    moves: { mode: 'always' },
    pools: [{ ...write, onLeave: { ...write.onLeave, demoted: 'move' } }],
    wal,
    table: { write: { open: { 'pg-1': one.address } } },
  });
  await lab.connect('write');
  await until('the login', async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity === 'idle');
}

function asked(): number {
  return lab.events.filter(({ kind }) => kind === 'session_asked').length;
}

function causes(): readonly string[] {
  return lab.events.flatMap((event) => (event.kind === 'session_parked' ? [event.cause] : []));
}

/** Its state is known, and a position of its server from long after that. */
async function idleForLong(): Promise<void> {
  await clock.advance(1_000);
  await until('the question', () => asked() === 1);
  await clock.advance(60_000);
  reports();
}

function leave(standing: Standing): void {
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing } } } });
}

test('a session whose state is known is parked at once and not asked, and goes on at the next primary', async () => {
  await start();
  await idleForLong();
  const before = one.last().received();
  leave(DEMOTED);
  expect(causes()).toEqual(['dead']);
  await until('the end of its connection', () => one.open() === 0);
  expect(one.last().received()).toEqual(Buffer.concat([before, TERMINATE]));
  lab.decide({ write: { open: { 'pg-2': two.address } } });
  await until('the move', () => lab.events.some(({ kind }) => kind === 'session_moved'));
  expect([asked(), two.clients(), lab.reasons()]).toEqual([1, 1, []]);
});
