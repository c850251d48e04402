// `moves.mode: always`: a server that ends a session, or seems to, on simulated hosts: which bytes wait, who reads the
// last words, and which sessions go on.
import { describe, test } from 'vitest';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { CONNECTED, KNOWN } from '../../../support/labs/step-scripts.ts';

const ALWAYS = { moves: { mode: 'always', parkTimeoutMs: 30_000 } } as const;
const play = (script: string): Promise<void> => expectQuickScript(script, ALWAYS);

describe('last words', () => {
  test('wait for the end of the connection, and so do the bytes of the client', () =>
    play(`${KNOWN}
  pg-1 says 57P02       | idle
  client queries        | idle
  4 s pass              | idle
  pg-1 closes           | reaches pg-1 · pg-1 is probed · parked: dead · moved to pg-1 · leaves pg-1
                        | client reads its answer · idle
  pg-1 opens            | idle`));

  test('reach the client when the server does not close, and its bytes go on', () =>
    play(`${KNOWN}
  pg-1 says 57P01       | idle
  client queries        | idle
  4.9 s pass            | idle
  100 ms pass           | client reads 57P01 of its server, its answer · idle`));

  test('in two parts: what waits for the first goes on behind both', () =>
    play(`${KNOWN}
  pg-1 says 57P01       | idle
  client queries        | idle
  pg-1 says 57P01       | idle
  5 s pass              | client reads 57P01 of its server, 57P01 of its server, its answer · idle`));

  test('that are none pass at once', () =>
    play(`${KNOWN}
  pg-1 says 08006       | client reads 08006 of its server · idle`));

  test('pass with what follows them', () =>
    play(`${KNOWN}
  pg-1 says 57P01       | idle
  pg-1 says 08006       | client reads 57P01 of its server, 08006 of its server · idle
  client queries        | client reads its answer · idle
  10 s pass             | idle`));

  test('pass at once where a statement is in progress', () =>
    play(`${KNOWN}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 says 57P01       | client reads 57P01 of its server · busy`));

  test('of a server whose client leaves meanwhile', () =>
    play(`${KNOWN}
  pg-1 says 57P01       | idle
  client leaves         | closed: client_reset · leaves pg-1`));

  test('of a server that is found dead are not read by a session that goes on', () =>
    play(`${KNOWN}
  pg-1 says 57P01       | idle
  client queries        | idle
  pg-1 is dead          | parked: dead · leaves pg-1 · its client waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · client reads its answer · idle`));
});

describe('a server that closes', () => {
  test('without a word, and its session is not known', () =>
    play(`${CONNECTED}
  pg-1 closes           | pg-1 is probed · leaves pg-1 · client reads 57P01 · closing
  client looks closer   | pg-1: connection closed by the server without an error message · closing`));

  test('without a word in a statement: its outcome is not known', () =>
    play(`${KNOWN}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 closes           | pg-1 is probed · leaves pg-1 · client reads 08007 · closing
  client looks closer   | pg-1: connection closed by the server without an error message · closing
  client leaves         | closed: move_in_flight`));

  test('with words in a statement', () =>
    play(`${KNOWN}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 closes 57P01     | pg-1 is probed · leaves pg-1 · client reads 57P01 of its server · closing
  client leaves         | closed: backend_closed`));

  test('in the middle of its words, between two statements of a session that is not known', () =>
    play(`${CONNECTED}
  pg-1 breaks 57P01     | pg-1 is probed · client reads 57P01 of its server · busy
  client leaves         | closed: backend_closed · leaves pg-1`));

  test('while it is asked: its state may be another', () =>
    play(`${KNOWN}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 closes           | pg-1 is probed · leaves pg-1 · operator: failed backend_closed · client reads 57P01
                        | closing
  client leaves         | closed: backend_closed`));

  test('whose session is on its way: a request to move it has the end of that way', () =>
    play(`${KNOWN}
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  operator moves it     | waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · operator: moved · idle`));

  test('in the mode planned', () =>
    expectQuickScript(`${CONNECTED}
  60 s pass             | idle
  pg-1 is dead          | leaves pg-1 · client reads 57P01 · closing
  client leaves         | closed: evicted_dead`));
});

describe('the state of a session', () => {
  test('at a replica is not asked for: it ends with its server', () =>
    expectQuickScript(
      `${CONNECTED}
  60 s pass             | idle
  pg-1 is dead          | leaves pg-1 · client reads 57P01 · closing`,
      { ...ALWAYS, pool: 'read' },
    ));

  test('is not asked for while no WAL position of its server is known: it would prove nothing', () =>
    play(`
  pg-1 conceals its WAL |${CONNECTED}
  1 s pass              | idle
  60 s pass             | idle
  pg-1 reveals its WAL  | idle
  8 s pass              | asked: movable · idle
  60 s pass             | idle`));

  test('is good behind a statement that leaves none', () =>
    play(`${KNOWN}
  client queries        | client reads its answer · idle
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member`));

  test('is worth nothing once its role may not move any more', () =>
    play(`${CONNECTED}
  1 s pass              | asked: movable · idle
  operator takes moves away | idle
  pg-1 is dead          | leaves pg-1 · client reads 57P01 · closing`));

  test('that may have changed since is worth nothing, until it is asked for again', () =>
    play(`${KNOWN}
  client sets           | client reads its answer · idle
  pg-1 is dead          | leaves pg-1 · client reads 57P01 · closing`));

  test('that has changed is asked for after a pause', () =>
    play(`${KNOWN}
  client sets           | client reads its answer · idle
  600 ms pass           | asked: movable · idle
  5 s pass              | idle
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member`));
});
