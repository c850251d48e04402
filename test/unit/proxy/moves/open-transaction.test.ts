// A transaction that is to be ended: its running statement has a short time, then it is cancelled, and the next one
// waits meanwhile.
import { beforeEach, describe, expect, test } from 'vitest';
import { abortedTransaction, isQuiet, whenQuiet } from '../../../../src/proxy/moves/open-transaction.ts';
import { QuestionChannel } from '../../../../src/proxy/moves/question-channel.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { aState } from '../../../support/values/carried-state.ts';
import { COMMAND_COMPLETE, errorOf } from '../../../support/sockets/messages.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

type Parts = Parameters<typeof whenQuiet>[0];
type Activity = ReturnType<Parts['conversation']['activity']>;

const ERROR = errorOf(['SERROR', 'C40001', 'Magain']);
const CANCELED = errorOf(['SERROR', 'VERROR', 'C57014', 'Mcanceling statement due to user request']);

let clock: ManualClock;
let activity: Activity;
let state: 'relaying' | 'closed';
let isWhole: boolean;
/** Between two messages of the server. */
let isAtBoundary: boolean;
let hasKey: boolean;
let cancels: number;
let questions: QuestionChannel;
let parts: Parts;

beforeEach(() => {
  clock = new ManualClock();
  [activity, state, isWhole] = ['busy', 'relaying', true];
  [isAtBoundary, hasKey, cancels] = [true, true, 0];
  const session = {
    isIdle: () => activity === 'idle',
    get state() {
      return state;
    },
  };
  const cancelStatement = (): boolean => {
    cancels += 1;
    return hasKey;
  };
  const conversation = {
    isWhole: () => isWhole,
    activity: () => activity,
    follower: () => ({ isAtBoundaryToClient: () => isAtBoundary }),
    key: { cancelStatement },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of them
  parts = { session, conversation, mover: { clock } } as unknown as Parts;
  questions = new QuestionChannel(clock, parts.conversation);
});

async function says(next: Activity, bytes = COMMAND_COMPLETE): Promise<Uint8Array | undefined> {
  const passing = questions.fromServer(bytes);
  activity = next;
  await Promise.resolve();
  return passing;
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
  let told: boolean[];

  beforeEach(() => {
    [runs, told] = [[], []];
  });

  const wait = (): void =>
    whenQuiet(parts, questions, ERROR, (hasTold) => {
      runs.push(activity);
      told.push(hasTold);
    });

  test('it is already', () => {
    activity = 'in_transaction';
    wait();
    expect([runs, told, questions.wait(), clock.pending()]).toEqual([['in_transaction'], [false], undefined, 0]);
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

  test.each(['in_failed_transaction', 'idle'] as const)(
    'the statement goes on: it is cancelled, its client reads the error for it, and the session is %s',
    async (then) => {
      wait();
      await says('busy');
      await clock.advance(299);
      expect([runs, cancels]).toEqual([[], 0]);
      await clock.advance(1);
      expect([runs, cancels]).toEqual([[], 1]);
      expect(await says(then, CANCELED)).toEqual(Uint8Array.from(ERROR));
      expect([runs, told, questions.wait(), clock.pending()]).toEqual([[then], [true], undefined, 0]);
    },
  );

  test('it ends at the same moment: its client reads the answer alone', async () => {
    wait();
    await clock.advance(300);
    expect(await says('idle')).toBe(COMMAND_COMPLETE);
    expect([runs, told]).toEqual([['idle'], [false]]);
  });

  test('an answer is half sent: the statement is cancelled at the end of a message', async () => {
    wait();
    isAtBoundary = false;
    await clock.advance(300);
    await says('busy');
    expect(cancels).toBe(0);
    isAtBoundary = true;
    await says('busy');
    await says('busy');
    expect(cancels).toBe(1);
  });

  test('the server does not cancel it: the session is asked as it is, and so it stays', async () => {
    wait();
    await clock.advance(999);
    expect([runs, cancels]).toEqual([[], 1]);
    await clock.advance(1);
    expect([runs, told, questions.wait()]).toEqual([['busy'], [false], undefined]);
  });

  test('its key is not known: the session stays at once', async () => {
    hasKey = false;
    wait();
    await clock.advance(300);
    expect([runs, clock.pending()]).toEqual([['busy'], 0]);
  });

  test('a commit that no standby has is told to nobody: the session stays, and its caller ends it', async () => {
    wait();
    await clock.advance(300);
    expect(await says('busy', errorOf(['SWARNING', 'C01000'], 'N'))).toBeUndefined();
    expect([runs, told]).toEqual([['busy'], [false]]);
  });

  test('the session ends meanwhile', async () => {
    wait();
    state = 'closed';
    questions.stop();
    expect(questions.wait()).toBeUndefined();
    await clock.advance(1_000);
    expect([runs, cancels, clock.pending()]).toEqual([[], 0, 0]);
  });
});

describe('the client reads the error', () => {
  const error = Buffer.from('error');
  const carried = aState({
    prepared: [{ name: 'ending', statement: 'commit', parameterTypes: [], resultColumns: undefined, isFromSql: false }],
  });
  const memory = new SessionMemory();
  memory.unnamedText = () => 'select 1';
  const aborted = (): ReturnType<typeof abortedTransaction> => abortedTransaction(parts, error, memory, carried);

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
    expect(['ending', 'other', ''].map((name) => owed?.textOf(name))).toEqual(['commit', undefined, 'select 1']);
  });
});
