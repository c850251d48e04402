// Each step of a session that moves, as a script: what is done, and what it brings about.
import { aWritePool } from '../values/builders.ts';
import type { ScriptOptions } from './session-script.ts';

export const CONNECTED = `
  pg-1 opens            |
  client connects       | reaches pg-1 · idle`;
export const PARKED = `${CONNECTED}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member`;
/** Its state is known, and it was idle for long. */
export const KNOWN = `${CONNECTED}
  1 s pass              | asked: movable · idle
  60 s pass             | idle`;

const WRITE = aWritePool();
const DEMOTED_MOVE = { pools: [{ ...WRITE, onLeave: { ...WRITE.onLeave, demoted: 'move' as const } }] };
const ALWAYS = { moves: { mode: 'always', parkTimeoutMs: 30_000 } } as const;

/** By the step in which the session is: a title, the script and the options of its proxy. */
export const STEPS: Readonly<Record<string, readonly (readonly [string, string, ScriptOptions?])[]>> = {
  asked: [
    [
      'its client leaves meanwhile',
      `${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  client leaves         | closed: client_reset · leaves pg-1 · operator: failed client_reset`,
    ],
    [
      'its client leaves while the end of its transaction is waited for',
      `${CONNECTED}
  pg-1 halts            | idle
  client queries        | busy
  operator moves it     | busy
  client leaves         | closed: client_reset · leaves pg-1 · operator: failed client_reset`,
    ],
    [
      'a question that a cancel request hits is asked again',
      `
  pg-1 becomes cancelling |
  ${CONNECTED}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member`,
    ],
  ],
  demoted: [
    [
      'a session whose state is known is parked at once: a server that stops may end it in a question',
      `${KNOWN}
  pg-1 is demoted       | parked: dead · leaves pg-1 · waits for a route: no eligible member`,
      { ...ALWAYS, ...DEMOTED_MOVE },
    ],
    [
      'a session whose state is not known is asked',
      `${CONNECTED}
  pg-1 is demoted       | asked: movable · parked: demoted · leaves pg-1 · waits for a route: no eligible member`,
      { ...ALWAYS, ...DEMOTED_MOVE },
    ],
    [
      'in the mode planned it is asked',
      `${CONNECTED}
  60 s pass             | idle
  pg-1 is demoted       | asked: movable · parked: demoted · leaves pg-1 · waits for a route: no eligible member`,
      DEMOTED_MOVE,
    ],
    [
      'a primary that hands over can be asked: its answer proves more',
      `${KNOWN}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member`,
      { ...ALWAYS, ...DEMOTED_MOVE },
    ],
  ],
  unsure: [
    [
      'a server that closes without a word, and lets nobody in for long, is lost',
      `${KNOWN}
  pg-1 becomes stalled  | idle
  pg-1 closes           | pg-1 is probed · leaves pg-1 · waits for certainty that pg-1 is lost
  2 s pass              | parked: dead · moving`,
      ALWAYS,
    ],
    [
      'its client leaves',
      `${KNOWN}
  pg-1 becomes stalled  | idle
  pg-1 closes           | pg-1 is probed · leaves pg-1 · waits for certainty that pg-1 is lost
  client leaves         | closed: client_reset`,
      ALWAYS,
    ],
    [
      'a session that was meant alone, without a word, is told so',
      `${KNOWN}
  pg-1 closes           | reaches pg-1 · pg-1 is probed · leaves pg-1 · client reads 57P01 · closing
  client looks closer   | pg-1: connection closed by the server without an error message · closing`,
      ALWAYS,
    ],
    [
      'a session that was meant reads the words, although its state is known',
      `${KNOWN}
  pg-1 closes 57P01     | reaches pg-1 · pg-1 is probed · leaves pg-1 · client reads 57P01 of its server · closing
  client leaves         | closed: backend_closed`,
      ALWAYS,
    ],
    [
      'after a crash nobody asks whether the server meant this session',
      `${KNOWN}
  pg-1 becomes stalled  | idle
  pg-1 closes 57P02     | pg-1 is probed · parked: dead · leaves pg-1 · moving`,
      ALWAYS,
    ],
    [
      'a session whose state is not known reads the words',
      `${CONNECTED}
  pg-1 closes 57P01     | pg-1 is probed · leaves pg-1 · client reads 57P01 of its server · closing
  client leaves         | closed: backend_closed`,
      ALWAYS,
    ],
    [
      'a session that is asked at that moment is not parked: its state may be another',
      `${KNOWN}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 is dead          | leaves pg-1 · operator: failed evicted_dead · client reads 57P01 · closing
  client leaves         | closed: evicted_dead`,
      ALWAYS,
    ],
    [
      'neither is one with a statement in progress',
      `${KNOWN}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 is dead          | closed: evicted_dead · leaves pg-1 · client is reset`,
      ALWAYS,
    ],
  ],
  queued: [
    [
      'it waits for a route, and goes on with what its client has sent',
      `${PARKED}
  client queries        | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · client reads its answer · idle`,
    ],
    [
      'a request to move it has the end of the way that it is on',
      `${PARKED}
  operator moves it     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · operator: moved · idle`,
    ],
    [
      'its client leaves',
      `${PARKED}
  client leaves         | closed: client_reset`,
    ],
    [
      'its time is over',
      `${PARKED}
  30 s pass             | client reads 57P01 · closing
  client leaves         | closed: move_timeout`,
      { moves: { parkTimeoutMs: 30_000 } },
    ],
  ],
  paused: [
    [
      'a server that is full is asked again, behind the pause',
      `${PARKED}
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2
                        | waits for its next attempt (pg-2: 53300 sorry, too many clients already)
  pg-2 becomes movable  | waits for its next attempt
  200 ms pass           | waits for its next attempt
  50 ms pass            | reaches pg-2 · moved to pg-2 · idle`,
    ],
    [
      'another route ends the pause',
      `${PARKED}
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2
                        | waits for its next attempt (pg-2: 53300 sorry, too many clients already)
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle`,
    ],
    [
      'a server that may lack what its session was told: its time is over',
      `${KNOWN}
  pg-1 is dead          | parked: dead · leaves pg-1 · waits for a route: no eligible member
  pg-1 conceals its WAL | waits for a route: no eligible member
  pg-1 opens            | leaves pg-1 · waits for its next attempt (the timeline of the next primary is not known)
  30 s pass             | leaves pg-1 · client reads 57P01 · closing
  client leaves         | closed: move_uncovered`,
      ALWAYS,
    ],
  ],
  connecting: [
    [
      'a server that refuses the connection is tried again',
      `${PARKED}
  pg-2 refuses          | waits for a route: no eligible member
  pg-2 opens            | waits for its next attempt
  pg-2 listens          | waits for its next attempt
  1 s pass              | reaches pg-2 · moved to pg-2 · idle`,
    ],
  ],
  logging_in: [
    [
      'its route is gone: it waits for another one',
      `${PARKED}
  pg-2 becomes silent   | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moving
  nobody opens          | leaves pg-2 · waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle`,
    ],
    [
      'its server closes: the member is probed, and the session tries again',
      `${PARKED}
  pg-2 becomes gone     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2
                        | waits for its next attempt (pg-2: connection closed by the server)
  pg-2 becomes movable  | waits for its next attempt
  250 ms pass           | reaches pg-2 · moved to pg-2 · idle`,
    ],
    [
      'its client leaves',
      `${PARKED}
  pg-2 becomes silent   | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moving
  client leaves         | closed: client_reset · leaves pg-2`,
    ],
  ],
  catching_up: [
    [
      'a server that does not show all that a read session has seen is tried again',
      `${PARKED}
  pg-2 opens            | reaches pg-2 · moving
  2.1 s pass            | pg-2 is probed · leaves pg-2
                        | waits for its next attempt (pg-2: it does not show all that the old server has shown)
  pg-2 becomes ahead    | waits for its next attempt
  250 ms pass           | reaches pg-2 · moved to pg-2 · idle`,
      { pool: 'read' },
    ],
  ],
  restoring: [
    [
      'a state that is another one there ends the session',
      `${PARKED}
  pg-2 becomes mistaken | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · leaves pg-2 · client reads 57P01 · closing
  client leaves         | closed: move_differs`,
    ],
  ],
};
