// A transaction that is to be rolled back: its running statement has a short time, and the next one waits meanwhile.
import { beforeEach, describe, expect, test } from 'vitest';
import { abortedTransaction, isQuiet, whenQuiet } from '../../../../src/proxy/moves/open-transaction.ts';
import { QuestionChannel } from '../../../../src/proxy/moves/question-channel.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { aState } from '../../../support/values/carried-state.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

type Parts = Parameters<typeof whenQuiet>[0];
type Activity = ReturnType<Parts['conversation']['activity']>;

let clock: ManualClock;
let activity: Activity;
let state: 'relaying' | 'closed';
let isWhole: boolean;
let questions: QuestionChannel;
let parts: Parts;

beforeEach(() => {
  clock = new ManualClock();
  [activity, state, isWhole] = ['busy', 'relaying', true];
  const session = {
    isIdle: () => activity === 'idle',
    get state() {
      return state;
    },
  };
  const conversation = { isWhole: () => isWhole, activity: () => activity };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of them
  parts = { session, conversation, mover: { clock } } as unknown as Parts;
  questions = new QuestionChannel(clock, parts.conversation);
});

async function says(next: Activity): Promise<void> {
  questions.fromServer(Buffer.from('an answer'));
  activity = next;
  await Promise.resolve();
}

test.each([
  ['idle', true, true],
  ['in_transaction', false, true],
  ['in_failed_transaction', false, true],
  ['busy', false, false],
  ['starting', false, false],
  [undefined, false, false],
] as const)('%s: between two transactions %s, or in one that waits %s', (now, isIdle, waits) => {
  activity = now;
  expect([isQuiet(parts, false), isQuiet(parts, true)]).toEqual([isIdle, waits]);
  isWhole = false;
  expect([isQuiet(parts, false), isQuiet(parts, true)]).toEqual([false, false]);
});

describe('until the session is quiet', () => {
  let runs: Activity[];

  beforeEach(() => {
    runs = [];
  });

  const wait = (): void => whenQuiet(parts, questions, () => void runs.push(activity));

  test('it is already', () => {
    activity = 'in_transaction';
    wait();
    expect([runs, questions.wait(), clock.pending()]).toEqual([['in_transaction'], undefined, 0]);
  });

  test.each(['in_transaction', 'in_failed_transaction', 'idle'] as const)(
    'the statement ends, and the session is %s: further requests of the client wait until then',
    async (then) => {
      wait();
      await says('busy');
      expect([runs, questions.wait() === undefined]).toEqual([[], false]);
      await says(then);
      expect([runs, questions.wait(), clock.pending()]).toEqual([[then], undefined, 0]);
      await says(then);
      expect(runs).toHaveLength(1);
    },
  );

  test('the statement goes on: the session is asked as it is, and so it stays', async () => {
    wait();
    await clock.advance(299);
    expect(runs).toEqual([]);
    await clock.advance(1);
    expect([runs, questions.wait()]).toEqual([['busy'], undefined]);
  });

  test('the session ends meanwhile', async () => {
    wait();
    state = 'closed';
    questions.stop();
    expect(questions.wait()).toBeUndefined();
    await clock.advance(1_000);
    expect([runs, clock.pending()]).toEqual([[], 0]);
  });
});

describe('the client reads the error', () => {
  const error = Buffer.from('error');
  const carried = aState({
    prepared: [{ name: 'ending', statement: 'commit', parameterTypes: [], resultColumns: undefined, isFromSql: false }],
  });
  const aborted = (): ReturnType<typeof abortedTransaction> =>
    abortedTransaction(parts, error, new SessionMemory(), carried);

  test('unless no transaction was open', () => {
    activity = 'idle';
    expect(aborted()).toBeUndefined();
  });

  test('unless it knows already that the transaction has failed', () => {
    activity = 'in_failed_transaction';
    expect(aborted()).toEqual({ owed: undefined });
  });

  test('and its prepared statements are known', () => {
    activity = 'in_transaction';
    const owed = aborted()?.owed;
    expect(owed?.error).toBe(error);
    expect(['ending', 'other', ''].map((name) => owed?.textOf(name))).toEqual(['commit', undefined, undefined]);
  });
});
