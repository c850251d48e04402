// Bytes of clients after this process stood still: which pools wait, for what, and for how long.
import { expect, test } from 'vitest';
import type { ClientGate } from '../../../../src/proxy/relay/stall-gate.ts';
import { StallGate } from '../../../../src/proxy/relay/stall-gate.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const WRITE = aWritePool();
const OTHER = aWritePool({ name: 'other' });
const READ = aPool();
const LIMIT_MS = 800;

interface Probes {
  readonly pool: string;
  readonly since: number | undefined;
  readonly answer: () => void;
  readonly fail: () => void;
}

/** `silentPools`: pools without a member to probe. */
function start(silentPools: readonly string[] = []) {
  const clock = new ManualClock();
  const asked: Probes[] = [];
  let decided = 0;
  const gates = new StallGate({
    clock,
    decideIfDue: () => {
      decided += 1;
    },
    freshen: (pool, since) => {
      if (silentPools.includes(pool)) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      asked.push({ pool, since, answer: resolve, fail: () => reject(new Error('the probe failed')) });
      return promise;
    },
  });
  return { clock, gates, asked, decided: () => decided };
}

function isOpen(gate: ClientGate): boolean {
  return gate() === undefined;
}

test('without a stall all bytes go on, each after a decision that is due', () => {
  const { gates, decided } = start();
  const [write, read] = [gates.gateFor(WRITE), gates.gateFor(READ)];
  expect([isOpen(write), isOpen(read), isOpen(write)]).toEqual([true, true, true]);
  expect(decided()).toBe(3);
});

test('the sessions of a pool share one gate', () => {
  const { gates } = start();
  expect(gates.gateFor(WRITE)).toBe(gates.gateFor(WRITE));
  expect(gates.gateFor(OTHER)).not.toBe(gates.gateFor(WRITE));
});

test('after a stall bytes for an exclusive pool wait for evidence from after it', async () => {
  const { clock, gates, asked, decided } = start();
  const [write, read] = [gates.gateFor(WRITE), gates.gateFor(READ)];
  gates.stalled([WRITE, READ], 5_000, LIMIT_MS);
  expect(asked).toMatchObject([{ pool: 'write', since: 5_000 }]);
  expect([isOpen(write), isOpen(read)]).toEqual([false, true]);
  expect(decided(), 'also while they wait').toBe(2);
  const waiting = write();
  await clock.advance(LIMIT_MS - 1);
  expect(isOpen(write)).toBe(false);
  asked[0]?.answer();
  await waiting;
  expect(isOpen(write)).toBe(true);
  expect(clock.pending()).toBe(0);
});

test.each<[string, (probes: Probes | undefined) => void, number]>([
  ['their limit', () => {}, LIMIT_MS],
  ['the failure of the probe', (probes) => probes?.fail(), 0],
])('they wait no longer than %s', async (_, end, ms) => {
  const { clock, gates, asked } = start();
  const write = gates.gateFor(WRITE);
  gates.stalled([WRITE], 5_000, LIMIT_MS);
  end(asked[0]);
  await clock.advance(ms);
  expect(isOpen(write)).toBe(true);
});

test('each pool waits for its own evidence, and one without a member to ask does not wait', async () => {
  const { clock, gates, asked } = start(['other']);
  const [write, other] = [gates.gateFor(WRITE), gates.gateFor(OTHER)];
  gates.stalled([OTHER, WRITE], 5_000, LIMIT_MS);
  expect([isOpen(write), isOpen(other)]).toEqual([false, true]);
  asked[0]?.answer();
  await clock.advance(0);
  expect(isOpen(write)).toBe(true);
});

test('after a second stall the answer of the first one opens nothing', async () => {
  const { clock, gates, asked } = start();
  const write = gates.gateFor(WRITE);
  gates.stalled([WRITE], 5_000, LIMIT_MS);
  gates.stalled([WRITE], 9_000, LIMIT_MS);
  asked[0]?.answer();
  await clock.advance(0);
  expect(isOpen(write)).toBe(false);
  asked[1]?.answer();
  await clock.advance(0);
  expect(isOpen(write)).toBe(true);
});
