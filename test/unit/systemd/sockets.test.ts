// The sockets from systemd, by its three variables.
import { expect, test } from 'vitest';
import { passedSockets } from '../../../src/systemd/sockets.ts';

test.each([
  [{}, []],
  [{ LISTEN_PID: '7', LISTEN_FDS: '0' }, []],
  [{ LISTEN_PID: '7', LISTEN_FDS: '1' }, [{ fd: 3, name: 'unknown' }]],
  [
    { LISTEN_PID: '7', LISTEN_FDS: '2', LISTEN_FDNAMES: 'write:read' },
    [
      { fd: 3, name: 'write' },
      { fd: 4, name: 'read' },
    ],
  ],
  // The variables of a wrapper: its child has another id.
  [{ LISTEN_PID: '6', LISTEN_FDS: '1' }, []],
  [{ LISTEN_FDS: '1' }, []],
  [{ LISTEN_PID: '7', LISTEN_FDS: 'many' }, []],
])('%j', (env, sockets) => {
  expect(passedSockets(env, 7)).toEqual(sockets);
});
