// The election while a server goes on writing that has no manager: the WAL of each replica grows with every answer.
import { expect, it } from 'vitest';
import type { PeerAnswer } from '../../../../src/sandbox/manager/election.ts';
import { ManagedMember, type ManagerEvent } from '../../../../src/sandbox/manager/managed-member.ts';
import { carryOut } from '../../../../src/sandbox/manager/steps.ts';
import { Store } from '../../../../src/sandbox/manager/store.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aMember, aServer } from './lab.ts';

const NAMES = ['pg-2', 'pg-3'] as const;
type Name = (typeof NAMES)[number];

/** Two replicas without a leader. `answer`: a position of one of them; undefined: its PostgreSQL fails. */
function twoReplicas(answer: (name: Name) => number | undefined) {
  const clock = new ManualClock();
  const store = new Store('sandbox', {}, clock);
  const told: string[] = [];
  const asked: Name[] = [];
  const ask = (name: Name): number | undefined => {
    asked.push(name);
    return answer(name);
  };
  for (const name of NAMES) store.publish(aMember(name), 60_000);
  const competitor = (name: Name, other: Name): (() => Promise<void>) => {
    const query = <Row>(): Promise<Row[]> => {
      const position = ask(name);
      if (position === undefined) return Promise.reject(new Error('no'));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no other query comes
      return Promise.resolve([reportRow(position) as Row]);
    };
    const answerOf = (): PeerAnswer => ({
      name: other,
      kind: 'answered',
      isPrimary: false,
      position: ask(other),
      isNoFailover: false,
    });
    const options = {
      name,
      apiUrl: `http://127.0.0.1/${name}`,
      server: aServer({ name, isAlive: () => true, query }),
      role: 'replica',
      systemIdentifier: '1',
      store,
      askPeers: () => Promise.resolve([answerOf()]),
      serverOf: () => undefined,
      filePath: '/nowhere',
      onEvent(event: ManagerEvent) {
        if (event.kind !== 'leads') told.push(event.text);
      },
      clock,
    } as const;
    const member = new ManagedMember(options, { ageMs: () => 0, poke: () => {} });
    member.session.read();
    return async () => {
      // As in a heartbeat: the member's own report comes first.
      const outcome = await member.ask();
      member.report = outcome.kind === 'report' ? outcome.report : undefined;
      await carryOut({ kind: 'compete' }, member);
    };
  };
  return { competes: competitor('pg-2', 'pg-3'), otherCompetes: competitor('pg-3', 'pg-2'), store, told, asked };
}

function reportRow(position: number): object {
  return {
    isInRecovery: true,
    isStreaming: true,
    timeline: 1,
    location: null,
    received: String(position),
    replayed: String(position),
    replayedAt: null,
    isPaused: false,
    replication: [],
    pendingRestart: {},
  };
}

/** Each answer, of either member, shows one byte more. */
function growing(): () => number {
  let position = 0;
  return () => (position += 1);
}

it('a member takes the lock although each answer shows more of the WAL than the one before', async () => {
  const { competes, store, told, asked } = twoReplicas(growing());
  await competes();
  expect(asked).toEqual(['pg-2', 'pg-3', 'pg-2']);
  expect([store.holder(), told]).toEqual(['pg-2', ['pg-2: has the lock']]);
});

it('two members that compete at the same time do not leave the lock to each other', async () => {
  const { competes, otherCompetes, store } = twoReplicas(growing());
  await Promise.all([competes(), otherCompetes()]);
  expect(store.holder()).toBeDefined();
});

it('a member leaves the lock to one that has more of the WAL even so', async () => {
  const own = [1, 3];
  const { competes, store, told } = twoReplicas((name) => (name === 'pg-2' ? own.shift() : 4));
  await competes();
  expect([store.holder(), told]).toEqual([undefined, ['pg-2: leaves the lock to others: pg-3 has more of the WAL']]);
});

it('a member whose PostgreSQL answers no more does not take the lock', async () => {
  const own = [3];
  const { competes, store } = twoReplicas((name) => (name === 'pg-2' ? own.shift() : 2));
  await competes();
  expect(store.holder()).toBeUndefined();
});
