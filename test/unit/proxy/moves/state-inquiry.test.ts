// Whether a session can move: what is known without a question, and what its server tells. On simulated hosts.
import { describe, expect, test } from 'vitest';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { simulatedGround } from '../../../support/labs/simulated-ground.ts';
import { CONNECTED } from '../../../support/labs/step-scripts.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { aPool } from '../../../support/values/builders.ts';

const play = expectQuickScript;
const WHY_IT_ENDS = 'pg-1: switchover in progress for 100.5 s; the session could not move, because it listens (jobs)';
const LISTENS = `
  pg-1 becomes listening |${CONNECTED}`;

describe('a session that cannot move', () => {
  test('stays, and the operator is told why', () =>
    play(`${LISTENS}
  operator asks it      | asked: pinned · operator: 0 movable, 1 listening, 0 unknown · idle
  operator moves it     | asked: pinned · stays: listening · operator: stayed listening: jobs · idle
  client queries        | client reads its answer · idle`));

  test('ends where its server stops, and its client is told why', () =>
    play(`${LISTENS}
  pg-1 hands over       | asked: pinned · stays: listening · idle
  1 s pass              | leaves pg-1 · client reads 57P01 · closing
  client looks closer   | ${WHY_IT_ENDS} · closing`));

  test('and whose transaction was rolled back ends', () =>
    play(
      `${LISTENS}
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  10 s pass             | asked: pinned · stays: listening · closed: evicted_switchover_timeout · leaves pg-1
                        | client is reset`,
      { moves: { onStays: 'abort' } },
    ));

  test('for replication', () =>
    play(`
  pg-1 opens            |
  client connects to replicate | reaches pg-1 · idle
  operator moves it     | stays: replication · operator: stayed replication · idle`));

  test('of a role that no pattern names', () =>
    play(
      `${CONNECTED}
  operator moves it     | stays: role_not_configured · operator: stayed role_not_configured: app · idle
  pg-1 hands over       | stays: role_not_configured · idle`,
      { moves: { roles: ['other*'] } },
    ));

  test('of a role that one of several patterns names can', () =>
    play(
      `${CONNECTED}
  operator moves it     | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · idle`,
      { moves: { roles: ['other*', 'a*'] } },
    ));

  test('because no pool can tell how far the primary is', () =>
    play(
      `${CONNECTED}
  operator moves it     | asked: pinned · stays: unknown_position
                        | operator: stayed unknown_position: no pool asks for the primary · idle
  client queries        | client reads its answer · idle`,
      { pool: 'read', pools: [aPool()] },
    ));

  test('for a reason of its own, which is told before that', () =>
    play(
      `${LISTENS}
  operator moves it     | asked: pinned · stays: listening · operator: stayed listening: jobs · idle`,
      { pool: 'read', pools: [aPool()] },
    ));

  test('because no server can tell the name of a setting that it computed', () =>
    play(`${CONNECTED}
  client computes a name | client reads its answer · idle
  operator moves it     | stays: hidden_state · operator: stayed hidden_state: set_config · idle`));

  test('because its state is too large', () =>
    play(
      `
  pg-1 becomes wordy    |${CONNECTED}
  operator moves it     | asked: failed · stays: too_much_state
                        | operator: stayed too_much_state: over 1000 bytes · idle`,
      { moves: { maxStateBytes: 1_000 } },
    ));

  test('because a function computes names of settings', () =>
    play(`
  pg-1 becomes computing |${CONNECTED}
  operator moves it     | asked: pinned · stays: hidden_state
                        | operator: stayed hidden_state: the function audit.log computes names of settings
                        | idle`));

  test('where the settings are listed, a function may do so', () =>
    play(
      `
  pg-1 becomes computing |${CONNECTED}
  operator moves it     | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · idle`,
      { moves: { settings: ['app.tenant'] } },
    ));

  test('in a transaction: the operator waits for its end, and no longer than is allowed', () =>
    play(
      `${CONNECTED}
  client begins         | in_transaction
  operator moves it     | in_transaction
  9 s pass              | in_transaction
  1 s pass              | stays: busy · operator: stayed busy · in_transaction
  client commits        | client reads its answer · idle`,
      { moves: { waitMs: 10_000 } },
    ));

  test('in a statement: it is not cancelled for that', () =>
    play(
      `${CONNECTED}
  pg-1 halts            | idle
  client queries        | busy
  operator moves it     | busy
  1 s pass              | stays: busy · operator: stayed busy · busy
  pg-1 continues        | client reads its answer · idle`,
      { moves: { waitMs: 1_000 } },
    ));

  test('in a transaction that ends in time', () =>
    play(
      `${CONNECTED}
  client begins         | in_transaction
  operator moves it     | in_transaction
  client commits        | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · client reads its answer · idle
  60 s pass             | idle`,
      { moves: { waitMs: 10_000 } },
    ));
});

describe('questions', () => {
  test('one after the other', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator asks it      | idle
  operator asks it      | idle
  pg-1 continues        | asked: movable · asked: movable · operator: 1 movable, 0 unknown
                        | operator: 1 movable, 0 unknown · idle`));

  test('a request behind one has its own', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator asks it      | idle
  operator moves it     | idle
  operator moves it     | idle
  pg-1 continues        | reaches pg-1 · asked: movable · asked: movable · parked: operator · moved to pg-1
                        | leaves pg-1 · operator: 1 movable, 0 unknown · operator: moved · operator: moved
                        | idle`));

  test('a server that does not answer is not asked again', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  client queries        | idle
  30 s pass             | asked: failed · stays: question_failed
                        | operator: stayed question_failed: no answer in time · idle
  operator moves it     | stays: question_failed
                        | operator: stayed question_failed: an earlier question has no answer yet · idle
  pg-1 continues        | client reads its answer · idle`));

  test('that cancel requests hit again and again fail', () =>
    play(`
  pg-1 becomes unwilling |${CONNECTED}
  operator moves it     | asked: failed · stays: question_failed
                        | operator: stayed question_failed: 57014 canceled · idle
  client queries        | client reads its answer · idle`));

  test('a server that does not speak the protocol in one: its session is not trusted', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 babbles          | asked: failed · stays: question_failed · closed: backend_closed
                        | operator: stayed question_failed: the answer is not understood · client is closed`));

  test('its client half-closes in one: it stays, and ends by itself', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  client half-closes    | idle
  pg-1 continues        | asked: movable · stays: busy · closed: client_closed · leaves pg-1
                        | operator: stayed busy · client is closed`));

  test('of a session that has ended', () =>
    play(`${CONNECTED}
  operator kills it     | leaves pg-1 · client reads 57P01 · closing
  operator moves it     | operator: failed killed_by_operator · closing`));

  test('a server that ends the session in one', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 closes 57P01     | pg-1 is probed · asked: failed · stays: question_failed · leaves pg-1
                        | operator: stayed question_failed: 57P01 terminating connection
                        | client reads 57P01 of its server · closing
  client leaves         | closed: backend_closed`));

  test('the section is taken away meanwhile', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  operator takes moves away | idle
  pg-1 continues        | asked: pinned · stays: role_not_configured · operator: stayed role_not_configured: app
                        | idle`));
});

test('its entry in the list says why it cannot move, before its server is asked', async () => {
  const ground = simulatedGround();
  const server = await ground.server();
  const lab = await startProxyLab({
    moves: { roles: ['other*'] },
    ...ground.options,
    table: { write: { open: { 'pg-1': server.address } } },
  });
  const { socket } = await ground.connect(lab.address('write'));
  socket.write(aStartup());
  await ground.pass(10);
  const { sessions } = await lab.proxy.sessions({ limit: 1 });
  const movability = { kind: 'pinned', reason: 'role_not_configured', detail: 'app' };
  expect(sessions[0]?.moves).toStrictEqual({ moved: 0, found: { movability } });
  socket.destroy();
  await ground.end(lab, [server]);
});
