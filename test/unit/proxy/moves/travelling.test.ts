// The way of one session to its next server, on simulated hosts.
import { describe, expect, test } from 'vitest';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { simulatedGround } from '../../../support/labs/simulated-ground.ts';
import { KNOWN, PARKED } from '../../../support/labs/step-scripts.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';

const ALWAYS = { moves: { mode: 'always', parkTimeoutMs: 30_000 } } as const;

describe('a statement that is cancelled while no server has it', () => {
  test('is answered at once, and the session goes on without it', () =>
    expectQuickScript(`${PARKED}
  client queries        | its client waits for a route: no eligible member
  client cancels        | other closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  client queries        | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · client reads its answer · idle`));

  test('no server gets its rest, and none keeps the session until the rest has come', () =>
    expectQuickScript(`${PARKED}
  client sends half of a query | its client waits for a route: no eligible member
  client cancels        | other closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · leaves pg-2
                        | waits for its next attempt (the rest of a cancelled statement has not come)
  60 s pass             | waits for its next attempt
  client sends the rest | reaches pg-2 · moved to pg-2 · idle
  client queries        | client reads its answer · idle`));

  test('its rest comes before there is a route', () =>
    expectQuickScript(`${PARKED}
  client sends half of a query | its client waits for a route: no eligible member
  client cancels        | other closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  client sends the rest | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle`));

  test('its rest comes while the session logs in at another server, which goes on', () =>
    expectQuickScript(`${PARKED}
  client sends half of a query | its client waits for a route: no eligible member
  client cancels        | other closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · leaves pg-2
                        | waits for its next attempt (the rest of a cancelled statement has not come)
  pg-1 becomes silent   | waits for its next attempt
  pg-1 opens            | reaches pg-1 · moving
  client sends the rest | moving
  pg-2 opens            | reaches pg-2 · moved to pg-2 · leaves pg-1 · idle`));

  test('its rest comes in a pause for another reason, which goes on', () =>
    expectQuickScript(`${PARKED}
  client sends half of a query | its client waits for a route: no eligible member
  client cancels        | other closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2
                        | waits for its next attempt (pg-2: 53300 sorry, too many clients already)
  pg-2 becomes movable  | waits for its next attempt
  client sends the rest | waits for its next attempt
  250 ms pass           | reaches pg-2 · moved to pg-2 · idle`));

  test('a Bind behind it does not find the unnamed statement of before', () =>
    expectQuickScript(`
  pg-1 opens            |
  client connects       | reaches pg-1 · idle
  client prepares       | idle
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
  client prepares       | its client waits for a route: no eligible member
  client cancels        | other closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle
  client runs           | client reads 26000 · idle
  pg-2 hands over       | asked: movable · parked: switchover · leaves pg-2 · waits for a route: no eligible member
  pg-1 becomes movable  | waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle
  client runs           | client reads 26000 · idle`));

  test('nor where the server of before was given it already', () =>
    expectQuickScript(
      `
  pg-1 opens            |
  client connects       | reaches pg-1 · idle
  client prepares       | idle
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
  client prepares       | its client waits for a route: no eligible member
  probes halt           | its client waits for a route: no eligible member
  pg-2 becomes ahead    | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · its client moving
  client cancels        | other closed: cancel_forwarded · client reads 57014 · moving
  probes go on          | reaches pg-2 · leaves pg-2 · moving
  100 ms pass           | moved to pg-2 · idle
  client runs           | client reads 26000 · idle`,
      { pool: 'read' },
    ));

  test('without it the unnamed statement has moved', () =>
    expectQuickScript(`
  pg-1 opens            |
  client connects       | reaches pg-1 · idle
  client prepares       | idle
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle
  client runs           | client reads its answer · idle
  pg-1 becomes movable  | idle
  pg-2 hands over       | asked: movable · parked: switchover · leaves pg-2 · waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle
  client runs           | client reads its answer · idle`));
});

describe('a cancel request', () => {
  test('goes to the next server when the session is there', () =>
    expectQuickScript(`${PARKED}
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle
  pg-2 halts            | idle
  client queries        | busy
  client cancels        | reaches pg-2 · other closed: cancel_forwarded · leaves pg-2 · busy`));

  test('goes there alone, and not to the server of before', () =>
    expectQuickScript(`${PARKED}
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle
  both open             | idle
  client cancels        | reaches pg-2 · other closed: cancel_forwarded · leaves pg-2 · idle`));

  test('is nobody’s when the session has ended', () =>
    expectQuickScript(`${PARKED}
  client says goodbye   | closed: client_closed · client is closed
  pg-2 opens            |
  client cancels        | reaches pg-2 · other closed: cancel_forwarded · leaves pg-2`));
});

describe('its time is over', () => {
  test('while it logs in at a server that has all that it was told', () =>
    expectQuickScript(
      `${KNOWN}
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  pg-1 conceals its WAL | waits for a route: no eligible member
  pg-1 opens            | leaves pg-1 · waits for its next attempt (the timeline of the next primary is not known)
  pg-1 becomes silent   | waits for its next attempt
  25 s pass             | leaves pg-1 · waits for its next attempt
  pg-1 reveals its WAL  | waits for its next attempt
  1 s pass              | reaches pg-1 · moving
  5 s pass              | leaves pg-1 · client reads 57P01 · closing
  client looks closer   | no next server within 30 s; the timeline of the next primary is not known · closing
  client leaves         | closed: move_timeout`,
      ALWAYS,
    ));

  test('while the server that may lack something refuses the connection', () =>
    expectQuickScript(
      `${KNOWN}
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  pg-1 conceals its WAL | waits for a route: no eligible member
  pg-1 opens            | leaves pg-1 · waits for its next attempt (the timeline of the next primary is not known)
  pg-1 refuses          | waits for its next attempt
  30 s pass             | client reads 57P01 · closing
  client leaves         | closed: move_uncovered`,
      ALWAYS,
    ));
});

test('a read session that has read on a timeline that has ended goes to no other server', () =>
  expectQuickScript(
    `${PARKED}
  timeline 2 begins     | waits for a route: no eligible member
  pg-2 opens            | client reads 57P01 · closing
  client leaves         | closed: move_uncovered`,
    { pool: 'read' },
  ));

test('words that the server has not ended are the last that its client reads', () =>
  expectQuickScript(
    `${KNOWN}
  pg-1 breaks 57P01     | reaches pg-1 · pg-1 is probed · closed: backend_closed · leaves pg-1
                        | client reads 57P01 of its server`,
    ALWAYS,
  ));

test('bytes of the client on whose way its server is found dead go to the next one', () =>
  expectQuickScript(
    `${KNOWN}
  pg-1 is dead, unnoticed | idle
  client queries        | parked: dead · leaves pg-1 · its client waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · client reads its answer · idle`,
    ALWAYS,
  ));

test('a client that had sent no Sync when its server was lost is not waited for at the next one', () =>
  expectQuickScript(
    `${KNOWN}
  client prepares without a Sync | idle
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle
  1 s pass              | asked: movable · idle
  pg-1 is drained       | leaves pg-1 · client reads 57P01 · closing`,
    ALWAYS,
  ));

test('another member that opens while it logs in does not disturb it', () =>
  expectQuickScript(`${PARKED}
  pg-1 becomes silent   | waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moving
  both open             | moving
  10 s pass             | pg-1 is probed · leaves pg-1 · waits for its next attempt (pg-1: no answer within 10 s)`));

test('a client whose host acknowledges nothing any more', () =>
  expectQuickScript(
    `${PARKED}
  client queries        | its client waits for a route: no eligible member
  client half-closes    | its client waits for a route: no eligible member
  client vanishes       | its client waits for a route: no eligible member
  5 s pass              | its client waits for a route: no eligible member
  20 s pass             | closed: client_tcp_timeout`,
    { client: { tcpUserTimeoutMs: 10_000 } },
  ));

test('a client that half-closes behind a statement still reads the answer', () =>
  expectQuickScript(`${PARKED}
  client queries        | its client waits for a route: no eligible member
  client half-closes    | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · closed: client_closed · leaves pg-2
                        | client reads its answer`));

test('an operator sees where it is, and what it waits for while it is parked', async () => {
  const ground = simulatedGround();
  const [before, next] = [await ground.server(), await ground.server()];
  const open = (name: string, { address }: typeof next) => ({ write: { open: { [name]: address } } });
  const lab = await startProxyLab({ moves: {}, ...ground.options, table: open('pg-1', before) });
  const { socket } = await ground.connect(lab.address('write'));
  socket.write(aStartup());
  await ground.pass(10);
  const leftAt = ground.clock.now();
  lab.decide({ write: { others: { 'pg-1': { address: before.address, standing: HANDING_OVER } } } });
  await ground.pass(10);
  const underway = async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.moves?.underway;
  const place = { from: 'pg-1', cause: 'switchover', leftAt: expect.any(Number), isWaiting: false };
  expect(await underway()).toStrictEqual({ ...place, waitsFor: 'a route: no eligible member' });
  next.behaviour = 'silent';
  lab.decide(open('pg-2', next));
  await ground.pass(10);
  expect(await underway()).toStrictEqual(place);
  expect((await underway())?.leftAt).toBeCloseTo(leftAt, -1);
  socket.destroy();
  await ground.end(lab, [before, next]);
});
