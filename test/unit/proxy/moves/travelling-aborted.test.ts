// `on_stays: abort`: a session whose transaction was rolled back by its server, on simulated hosts. Its client reads
// 40001 where it expects an answer next, and its session goes on.
import { test } from 'vitest';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { CONNECTED } from '../../../support/labs/step-scripts.ts';

const ABORT = { moves: { onStays: 'abort', parkTimeoutMs: 30_000 } } as const;
const OWES = 'waits for the next request of its client, which reads that its transaction was ended';
const OWING = `${CONNECTED}
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  10 s pass             | asked: movable · parked: switchover, aborted · leaves pg-1 · ${OWES}`;

const play = (script: string): Promise<void> => expectQuickScript(script, ABORT);

test('it waits for the next request, also where there is a route', () =>
  play(`${OWING}
  pg-2 opens            | waits for the next request of its client, which reads that its transaction was ended
  client queries        | reaches pg-2 · moved to pg-2 · client reads 40001 · in_failed_transaction
  client queries        | client reads 25P02 · in_failed_transaction
  client rolls back     | client reads its answer · idle`));

test('the request comes before there is a route', () =>
  play(`${OWING}
  client queries        | client reads 40001 · waits for a route: no eligible member
  client queries        | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · client reads 25P02 · in_failed_transaction
  client rolls back     | client reads its answer · idle
  client queries        | client reads its answer · idle`));

test('a COMMIT reads the error, and the transaction is over', () =>
  play(`${OWING}
  client commits        | client reads 40001 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle
  client queries        | client reads its answer · idle`));

test('a ROLLBACK reads no error', () =>
  play(`${OWING}
  client rolls back     | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · client reads its answer · idle`));

test('a transaction that its client has rolled back in time is not aborted', () =>
  play(`${CONNECTED}
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  client rolls back     | client reads its answer · idle
  100 ms pass           | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle`));

test('a cancel request finds nothing to cancel', () =>
  play(`${OWING}
  client cancels        | other closed: cancel_forwarded
                        | waits for the next request of its client, which reads that its transaction was ended
  client commits        | client reads 40001 · waits for a route: no eligible member`));

test('its client leaves', () =>
  play(`${OWING}
  client leaves         | closed: client_reset`));

test('its client says goodbye', () =>
  play(`${OWING}
  client says goodbye   | closed: client_closed · client is closed`));

test('its time is over: a client in a transaction cannot be told', () =>
  play(`${OWING}
  30 s pass             | closed: move_timeout · client is reset`));

test('a request that comes while the server rolls back reads the error', () =>
  play(`${CONNECTED}
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  pg-1 halts            | in_transaction
  10 s pass             | in_transaction
  client queries        | in_transaction
  pg-1 continues        | asked: movable · parked: switchover, aborted · leaves pg-1 · client reads 40001
                        | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · in_failed_transaction`));

test('a statement that runs at that moment ends before its transaction does', () =>
  play(`${CONNECTED}
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  9.9 s pass            | in_transaction
  pg-1 halts            | in_transaction
  client queries        | busy
  100 ms pass           | busy
  pg-1 continues        | asked: movable · parked: switchover, aborted · leaves pg-1 · ${OWES}`));

test('a half-sent request is owed the error until its rest has come', () =>
  play(`${OWING}
  client sends half of a query | its client ${OWES}
  pg-2 opens            | its client ${OWES}
  client sends the rest | reaches pg-2 · moved to pg-2 · client reads 40001 · in_failed_transaction`));

test('an operator moves it, and its transaction goes on for too long', () =>
  expectQuickScript(
    `
  both open             |
  client connects       | reaches pg-1 · idle
  client begins         | in_transaction
  operator moves it, with --abort | in_transaction
  9 s pass              | in_transaction
  1 s pass              | asked: movable · parked: operator, aborted · leaves pg-1 · ${OWES}
  client queries        | reaches pg-1 · moved to pg-1 · operator: moved · client reads 40001 · in_failed_transaction`,
    { moves: { waitMs: 10_000, parkTimeoutMs: 30_000 } },
  ));

test('an operator moves it, and its transaction ends in time', () =>
  play(`${CONNECTED}
  client begins         | in_transaction
  operator moves it, with --abort | in_transaction
  client rolls back     | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · client reads its answer · idle`));

test('an operator moves it without that: it stays', () =>
  expectQuickScript(
    `${CONNECTED}
  client begins         | in_transaction
  operator moves it     | in_transaction
  10 s pass             | stays: busy · operator: stayed busy · in_transaction`,
    { moves: { onStays: 'abort', waitMs: 10_000 } },
  ));
