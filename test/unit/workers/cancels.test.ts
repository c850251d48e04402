// A cancel request between workers, in the main process: one worker gets the order to send it, or none.
import { expect, test } from 'vitest';
import { NO_TALLY } from '../../../src/reports/tally.ts';
import { WorkerRequests } from '../../../src/workers/worker-requests.ts';
import type { ChannelListener } from '../../../src/workers/fork.ts';
import { WorkerProcess } from '../../../src/workers/worker-process.ts';
import type { FromWorker, ToWorker } from '../../../src/workers/messages.ts';
import { aPolicy } from '../../support/values/builders.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { LAB_POLICY } from '../../support/labs/proxy-lab.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';

const PACKET = Uint8Array.of(1, 2, 3);

interface Played {
  readonly handle: WorkerProcess;
  readonly heard: ToWorker[];
  readonly say: (message: FromWorker) => void;
  readonly die: () => void;
}

function play(id: number): Played {
  const heard: ToWorker[] = [];
  let listener: ChannelListener | undefined;
  const handle = new WorkerProcess({
    id,
    now: 0,
    begin: {
      kind: 'begin',
      build: '',
      processes: 3,
      lastId: 0,
      policy: { ...aPolicy(), ...LAB_POLICY, hold: { ...LAB_POLICY.hold, beforeSwitchoverMs: 0 }, listeners: [] },
      snapshot: emptySnapshot(undefined),
      others: NO_TALLY,
    },
    start: (given) => {
      listener = given;
      return { pid: id, send: (message) => heard.push(message), kill: () => {} };
    },
    onMessage: () => {},
    onEnd: () => {},
  });
  return {
    handle,
    heard,
    say: (message) => listener?.onMessage(message),
    die: () => listener?.onEnd('killed by SIGKILL'),
  };
}

function start() {
  const clock = new ManualClock();
  const [asking, one, two] = [play(1), play(2), play(3)];
  const answers = new WorkerRequests({
    clock,
    freshen: () => undefined,
    sendSnapshot: () => {},
    readKeyPair: () => Promise.reject(new Error('not asked for')),
    readPem: () => Promise.reject(new Error('not asked for')),
    workers: () => [asking, one, two].map(({ handle }) => handle),
  });
  const done = answers.answer(asking.handle, {
    kind: 'call',
    id: 9,
    what: 'pass_cancel',
    argument: { packet: PACKET, pool: 'write' },
  });
  const outcome = (): unknown => asking.heard.find(({ kind }) => kind === 'reply');
  return { clock, asking, one, two, answers, done, outcome };
}

const asked = ({ heard }: Played): readonly string[] =>
  heard.flatMap((message) => (message.kind === 'call' ? [message.what] : []));

test('the worker with the session sends it, and the outcome waits for the end of that', async () => {
  const { clock, one, two, done, outcome } = start();
  one.say({ kind: 'reply', id: 1, reply: false });
  two.say({ kind: 'reply', id: 1, reply: true });
  await clock.advance(4_000);
  expect([asked(one), asked(two)]).toEqual([['find_cancel'], ['find_cancel', 'take_cancel']]);
  expect(outcome()).toBeUndefined();
  two.say({ kind: 'reply', id: 2, reply: undefined });
  await done;
  expect(outcome()).toEqual({ kind: 'reply', id: 9, reply: { kind: 'done', problem: undefined } });
});

test('a worker that answers too late does not send it: the first worker guesses by then', async () => {
  const { clock, one, two, done, outcome } = start();
  one.say({ kind: 'reply', id: 1, reply: false });
  await clock.advance(200);
  await done;
  expect(outcome()).toEqual({ kind: 'reply', id: 9, reply: { kind: 'unknown' } });
  two.say({ kind: 'reply', id: 1, reply: true });
  await clock.advance(10_000);
  expect(asked(two)).toEqual(['find_cancel']);
});

test.each([
  [[false, true], true],
  [[false, false], false],
])('a peer offers a key: the other workers say %j', async (replies, isHere) => {
  const { asking, one, two, answers } = start();
  const done = answers.answer(asking.handle, { kind: 'call', id: 10, what: 'find_cancel', argument: PACKET });
  for (const [index, worker] of [one, two].entries()) worker.say({ kind: 'reply', id: 2, reply: replies[index] });
  await done;
  expect(asking.heard).toContainEqual({ kind: 'reply', id: 10, reply: isHere });
  expect([asked(one), asked(two)], 'nothing is sent').toEqual([
    ['find_cancel', 'find_cancel'],
    ['find_cancel', 'find_cancel'],
  ]);
});

test('a worker that dies with the request is a failure, not another guess', async () => {
  const { two, done, outcome, clock } = start();
  two.say({ kind: 'reply', id: 1, reply: true });
  await clock.advance(0);
  two.die();
  await done;
  expect(outcome()).toMatchObject({ reply: { kind: 'done', problem: 'the worker of its session ended' } });
});
