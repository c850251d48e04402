// `moves.mode: always` with `on_stays: abort`: a server is lost without warning in a transaction of its session, on
// simulated hosts. The transaction is void, its client reads 40001, and the session goes on where that is certain.
import { describe, test } from 'vitest';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { CONNECTED, KNOWN } from '../../../support/labs/step-scripts.ts';

const ABORT = { moves: { mode: 'always', onStays: 'abort', parkTimeoutMs: 30_000 } } as const;
const OWES = 'waits for the next request of its client, which reads that its transaction was ended';
const BEGUN = `${KNOWN}
  client begins         | in_transaction`;

const play = (script: string): Promise<void> => expectQuickScript(script, ABORT);

describe('a client that waits in its transaction', () => {
  test('reads 40001 for its next request, and is in a failed transaction at the next server', () =>
    play(`${BEGUN}
  client queries        | in_transaction
  pg-1 is dead          | parked: dead, aborted · leaves pg-1 · ${OWES}
  pg-1 opens            | ${OWES}
  client queries        | reaches pg-1 · moved to pg-1 · client reads 40001 · in_failed_transaction
  client queries        | client reads 25P02 · in_failed_transaction
  client rolls back     | client reads its answer · idle`));

  test('and sends COMMIT: the error ends the transaction', () =>
    play(`${BEGUN}
  pg-1 is dead          | parked: dead, aborted · leaves pg-1 · ${OWES}
  client commits        | client reads 40001 · waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle`));

  test('and whose server closes behind its last words', () =>
    play(`${BEGUN}
  pg-1 says 57P02       | in_transaction
  client queries        | in_transaction
  4 s pass              | in_transaction
  pg-1 closes           | reaches pg-1 · pg-1 is probed · parked: dead, aborted · moved to pg-1 · leaves pg-1
                        | client reads 40001 · in_failed_transaction`));

  test('and whose request comes while it is not certain that the server is lost', () =>
    play(`${BEGUN}
  pg-1 becomes stalled  | in_transaction
  pg-1 closes           | pg-1 is probed · leaves pg-1 · waits for certainty that pg-1 is lost
  client queries        | client reads 40001 · waits for certainty that pg-1 is lost
  2 s pass              | parked: dead, aborted · moving`));

  test('and that has set something in it: the rollback has undone that', () =>
    play(`${BEGUN}
  client sets           | in_transaction
  pg-1 is dead          | parked: dead, aborted · leaves pg-1 · ${OWES}`));

  test('and whose transaction has failed before reads nothing', () =>
    play(`${BEGUN}
  client fails          | client reads 42601 · in_failed_transaction
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · in_failed_transaction
  client queries        | client reads 25P02 · in_failed_transaction
  client rolls back     | client reads its answer · idle`));

  test('ends with its server once its role may not move any more', () =>
    play(`${BEGUN}
  operator takes moves away | in_transaction
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`));

  test('ends with its server where the setting is another one', () =>
    expectQuickScript(
      `${BEGUN}
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`,
      { moves: { mode: 'always', onStays: 'close', parkTimeoutMs: 30_000 } },
    ));

  test('ends with its server where its state before the transaction is not known', () =>
    play(`${CONNECTED}
  client begins         | in_transaction
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`));

  test('ends with its server where the state changed right before the transaction', () =>
    play(`${KNOWN}
  client sets           | client reads its answer · idle
  client begins         | in_transaction
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`));

  test('ends with its server where a rollback does not undo all', () =>
    play(`${BEGUN}
  client locks          | in_transaction
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`));
});

describe('a statement in progress', () => {
  test('reads 40001, and its client is in a failed transaction', () =>
    play(`${BEGUN}
  pg-1 halts            | in_transaction
  client queries        | busy
  pg-1 is dead          | parked: dead, aborted · client reads 40001
                        | waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · in_failed_transaction
  client rolls back     | client reads its answer · idle`));

  test('whose server has said its last words instead of an answer', () =>
    play(`${BEGUN}
  pg-1 halts            | in_transaction
  client queries        | busy
  pg-1 says 57P02       | busy
  pg-1 closes           | reaches pg-1 · pg-1 is probed · parked: dead, aborted · moved to pg-1
                        | client reads 40001 · in_failed_transaction`));

  test('whose session an administrator has ended reads that', () =>
    play(`${BEGUN}
  pg-1 halts            | in_transaction
  client queries        | busy
  pg-1 closes 57P01     | reaches pg-1 · pg-1 is probed · leaves pg-1 · client reads 57P01 of its server · closing
  client leaves         | closed: backend_closed`));

  test('that may end the transaction: its outcome is not known', () =>
    play(`${BEGUN}
  pg-1 halts            | in_transaction
  client commits        | busy
  pg-1 closes           | pg-1 is probed · leaves pg-1 · client reads 08007 · closing
  client leaves         | closed: move_in_flight`));

  test('with another one behind it', () =>
    play(`${BEGUN}
  pg-1 halts            | in_transaction
  client queries        | busy
  client queries        | busy
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`));

  test('outside of a transaction may have been committed', () =>
    play(`${KNOWN}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`));
});
