// Each step of a session that moves, as a script: what is done, and what it brings about.
import { describe, test } from 'vitest';
import { aWritePool } from '../../../support/values/builders.ts';
import { expectScript } from '../../../support/labs/session-script.ts';

const CONNECTED = `
  pg-1 opens            |
  client connects       | reaches pg-1 · idle`;
const PARKED = `${CONNECTED}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member`;
/** Its state is known, and it was idle for long. */
const KNOWN = `${CONNECTED}
  1 s pass              | asked: movable · idle
  60 s pass             | idle`;

const WRITE = aWritePool();
const DEMOTED_MOVE = { pools: [{ ...WRITE, onLeave: { ...WRITE.onLeave, demoted: 'move' as const } }] };
const ALWAYS = { moves: { mode: 'always', parkTimeoutMs: 30_000 } } as const;

describe('asked', () => {
  test('its client leaves meanwhile', () =>
    expectScript(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  client leaves         | closed: client_reset · leaves pg-1 · operator: failed client_reset`));

  test('its client leaves while the end of its transaction is waited for', () =>
    expectScript(`${CONNECTED}
  pg-1 halts            | idle
  client queries        | busy
  operator moves it     | busy
  client leaves         | closed: client_reset · leaves pg-1 · operator: failed client_reset`));

  test('a question that a cancel request hits is asked again', () =>
    expectScript(`
  pg-1 becomes cancelling |
  ${CONNECTED}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member`));
});

describe('demoted', () => {
  test('a session whose state is known is parked at once: a server that stops may end it in a question', () =>
    expectScript(
      `${KNOWN}
  pg-1 is demoted       | parked: dead · leaves pg-1 · waits for a route: no eligible member`,
      { ...ALWAYS, ...DEMOTED_MOVE },
    ));

  test('a session whose state is not known is asked', () =>
    expectScript(
      `${CONNECTED}
  pg-1 is demoted       | asked: movable · parked: demoted · leaves pg-1 · waits for a route: no eligible member`,
      { ...ALWAYS, ...DEMOTED_MOVE },
    ));

  test('in the mode planned it is asked', () =>
    expectScript(
      `${CONNECTED}
  60 s pass             | idle
  pg-1 is demoted       | asked: movable · parked: demoted · leaves pg-1 · waits for a route: no eligible member`,
      DEMOTED_MOVE,
    ));

  test('a primary that hands over can be asked: its answer proves more', () =>
    expectScript(
      `${KNOWN}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member`,
      { ...ALWAYS, ...DEMOTED_MOVE },
    ));
});

describe('unsure', () => {
  test('a server that closes without a word, and lets nobody in for long, is lost', () =>
    expectScript(
      `${KNOWN}
  pg-1 becomes stalled  | idle
  pg-1 closes           | pg-1 is probed · leaves pg-1 · waits for certainty that pg-1 is lost
  2 s pass              | parked: dead · moving`,
      ALWAYS,
    ));

  test('its client leaves', () =>
    expectScript(
      `${KNOWN}
  pg-1 becomes stalled  | idle
  pg-1 closes           | pg-1 is probed · leaves pg-1 · waits for certainty that pg-1 is lost
  client leaves         | closed: client_reset`,
      ALWAYS,
    ));

  test('a session that was meant reads the words, although its state is known', () =>
    expectScript(
      `${KNOWN}
  pg-1 closes 57P01     | reaches pg-1 · pg-1 is probed · leaves pg-1 · client reads 57P01 · closing
  client leaves         | closed: backend_closed`,
      ALWAYS,
    ));

  test('after a crash nobody asks whether the server meant this session', () =>
    expectScript(
      `${KNOWN}
  pg-1 becomes stalled  | idle
  pg-1 closes 57P02     | pg-1 is probed · parked: dead · leaves pg-1 · moving`,
      ALWAYS,
    ));

  test('a session whose state is not known reads the words', () =>
    expectScript(
      `${CONNECTED}
  pg-1 closes 57P01     | pg-1 is probed · leaves pg-1 · client reads 57P01 · closing
  client leaves         | closed: backend_closed`,
      ALWAYS,
    ));

  test('a session that is asked at that moment is not parked: its state may be another', () =>
    expectScript(
      `${KNOWN}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 is dead          | leaves pg-1 · operator: failed evicted_dead · client reads 57P01 · closing
  client leaves         | closed: evicted_dead`,
      ALWAYS,
    ));

  test('neither is one with a statement in progress', () =>
    expectScript(
      `${KNOWN}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 is dead          | closed: evicted_dead · leaves pg-1`,
      ALWAYS,
    ));
});

describe('queued', () => {
  test('it waits for a route, and goes on with what its client has sent', () =>
    expectScript(`${PARKED}
  client queries        | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · client reads its answer · idle`));

  test('a request to move it has the end of the way that it is on', () =>
    expectScript(`${PARKED}
  operator moves it     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · operator: moved · idle`));

  test('its client leaves', () =>
    expectScript(`${PARKED}
  client leaves         | closed: client_reset`));

  test('its time is over', () =>
    expectScript(
      `${PARKED}
  30 s pass             | client reads 57P01 · closing
  client leaves         | closed: move_timeout`,
      { moves: { parkTimeoutMs: 30_000 } },
    ));
});

describe('paused', () => {
  test('a server that is full is asked again, behind the pause', () =>
    expectScript(`${PARKED}
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2 · waits for its next attempt
  pg-2 becomes movable  | waits for its next attempt
  249 ms pass           | waits for its next attempt
  1 ms pass             | reaches pg-2 · moved to pg-2 · idle`));

  test('another route ends the pause', () =>
    expectScript(`${PARKED}
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2 · waits for its next attempt
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle`));

  test('a server that may lack what its session was told: its time is over', () =>
    expectScript(
      `${KNOWN}
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  pg-1 conceals its WAL | waits for a route: no eligible member
  pg-1 opens            | leaves pg-1 · waits for its next attempt
  30 s pass             | leaves pg-1 · client reads 57P01 · closing
  client leaves         | closed: move_uncovered`,
      ALWAYS,
    ));
});

describe('connecting', () => {
  test('a server that refuses the connection is tried again', () =>
    expectScript(`${PARKED}
  pg-2 refuses          | waits for a route: no eligible member
  pg-2 opens            | waits for its next attempt
  pg-2 listens          | waits for its next attempt
  1 s pass              | reaches pg-2 · moved to pg-2 · idle`));
});

describe('logging_in', () => {
  test('its route is gone: it waits for another one', () =>
    expectScript(`${PARKED}
  pg-2 becomes silent   | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moving
  nobody opens          | leaves pg-2 · waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle`));

  test('its server closes: the member is probed, and the session tries again', () =>
    expectScript(`${PARKED}
  pg-2 becomes gone     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2 · waits for its next attempt
  pg-2 becomes movable  | waits for its next attempt
  250 ms pass           | reaches pg-2 · moved to pg-2 · idle`));

  test('its client leaves', () =>
    expectScript(`${PARKED}
  pg-2 becomes silent   | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moving
  client leaves         | closed: client_reset · leaves pg-2`));
});

describe('catching_up', () => {
  test('a server that does not show all that a read session has seen is tried again', () =>
    expectScript(
      `${PARKED}
  pg-2 opens            | reaches pg-2 · moving
  2 s pass              | pg-2 is probed · leaves pg-2 · waits for its next attempt
  pg-2 becomes ahead    | waits for its next attempt
  250 ms pass           | reaches pg-2 · moved to pg-2 · idle`,
      { pool: 'read' },
    ));
});

describe('restoring', () => {
  test('a state that is another one there ends the session', () =>
    expectScript(`${PARKED}
  pg-2 becomes mistaken | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · leaves pg-2 · client reads 57P01 · closing
  client leaves         | closed: move_differs`));
});
