// The effect of a verb on its member, and its output. This sandbox only records its calls; it is no cluster.
import { describe, expect, test } from 'vitest';
import { perform } from '../../../../src/sandbox/console/verbs.ts';
import type { VerbName } from '../../../../src/sandbox/console/verb-list.ts';
import type { Sandbox, SandboxMember } from '../../../../src/sandbox/sandbox.ts';

interface Situation {
  readonly leader?: string | undefined;
  readonly faulty?: readonly string[];
  readonly fails?: string;
}

function unused(): never {
  throw new Error('not asked in these tests');
}

function aSandbox({ leader = 'pg-1', faulty = [], fails }: Situation = {}): { sandbox: Sandbox; asked: string[] } {
  const asked: string[] = [];
  const members: readonly SandboxMember[] = ['pg-1', 'pg-2', 'pg-3'].map((name) => ({
    name,
    host: '127.0.0.1',
    port: 1,
    api: 'http://127.0.0.1:1',
  }));
  const note =
    (what: string) =>
    (member?: string): Promise<void> => {
      asked.push(`${what} ${member ?? 'all'}`);
      return fails === undefined ? Promise.resolve() : Promise.reject(new Error(fails));
    };
  const sandbox: Sandbox = {
    scope: 'sandbox',
    directory: 'nowhere',
    members,
    app: { user: 'app', password: 'app', database: 'app' },
    superuser: { user: 'postgres', password: 'secret' },
    branches: undefined,
    platform: undefined,
    lookup: undefined,
    questions: undefined,
    tls: undefined,
    leader: () => members.find(({ name }) => name === leader),
    faulty: () => faulty,
    isHealthy: () => Promise.resolve(true),
    kill: note('kill'),
    freezeManager: note('freeze'),
    freezePostgres: unused,
    crashPostgres: note('crash'),
    pauseReplay: note('pause'),
    partition: note('partition'),
    slow: note('slow'),
    setTags: unused,
    setStoreOutage: unused,
    heal: note('heal'),
    stop: unused,
  };
  return { sandbox, asked };
}

describe('the member of a verb', () => {
  const cases: readonly (readonly [VerbName, string | undefined, Situation, string])[] = [
    ['kill', undefined, {}, 'kill pg-1'],
    ['kill', 'primary', { leader: 'pg-2' }, 'kill pg-2'],
    ['kill', 'replica', {}, 'kill pg-2'],
    ['kill', 'replica', { faulty: ['pg-2'] }, 'kill pg-3'],
    ['kill', 'pg-3', {}, 'kill pg-3'],
    ['crash', undefined, {}, 'crash pg-1'],
    ['freeze', undefined, {}, 'freeze pg-1'],
    ['partition', undefined, {}, 'partition pg-1'],
    ['slow', undefined, {}, 'slow pg-2'],
    ['heal', undefined, {}, 'heal all'],
    ['heal', 'pg-2', {}, 'heal pg-2'],
  ];
  test.each(cases)('%s %s %j: %s', async (verb, target, situation, expected) => {
    const { sandbox, asked } = aSandbox(situation);
    expect(await perform(sandbox, verb, target)).toMatchObject({ kind: 'done' });
    expect(asked).toEqual([expected]);
  });
});

describe('a request that makes no sense is refused with the reason', () => {
  const cases: readonly (readonly [VerbName, string | undefined, Situation, string])[] = [
    ['kill', 'primary', { leader: 'nobody' }, 'there is no primary at the moment'],
    ['switchover', undefined, { leader: 'nobody' }, 'there is no primary to switch over from'],
    ['kill', 'replica', { faulty: ['pg-2', 'pg-3'] }, 'no healthy replica is left: heal one first (h)'],
  ];
  test.each(cases)('%s %s %j', async (verb, target, situation, text) => {
    const { sandbox, asked } = aSandbox(situation);
    expect(await perform(sandbox, verb, target)).toEqual({ kind: 'refused', text });
    expect(asked).toEqual([]);
  });
});

test.each(['kill', 'heal', 'switchover'] as const)('%s of an unknown member changes nothing', async (verb) => {
  const { sandbox, asked } = aSandbox();
  const text = 'there is no member pg-9: primary, replica or one of pg-1, pg-2, pg-3';
  expect(await perform(sandbox, verb, 'pg-9')).toEqual({ kind: 'unknown', text });
  expect(asked).toEqual([]);
});

test('a primary cannot lag', async () => {
  expect(await perform(aSandbox().sandbox, 'lag', 'pg-1')).toEqual({
    kind: 'failed',
    text: 'lag: pg-1 is the primary: only a replica can lag',
  });
});

test('a failure is reported, not thrown', async () => {
  const { sandbox } = aSandbox({ fails: 'it is dead already' });
  expect(await perform(sandbox, 'kill', undefined)).toEqual({ kind: 'failed', text: 'kill: it is dead already' });
});
