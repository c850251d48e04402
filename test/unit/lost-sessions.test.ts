// The message of a test that has lost sessions.
import { expect, test } from 'vitest';
import { lostSessions } from '../support/moves/expect-kept.ts';

function closed(session: number, reason: string) {
  const [pool, client] = ['write', `127.0.0.1:${session}`];
  const msg = `session ${session}: closed: ${reason}`;
  return { time: 'later', level: 'info', event: 'session_closed', session, pool, client, reason, msg };
}

const LINES = [
  { time: 'before', level: 'info', event: 'listening', msg: 'listening' },
  { time: 'before', level: 'debug', event: 'session_opened', session: 7, msg: 'session 7: connected' },
  { time: 'before', level: 'debug', event: 'session_opened', session: 8, msg: 'session 8: connected' },
  { time: 'now', level: 'debug', event: 'session_stayed', session: 7, msg: 'session 7: stays, because it is busy' },
  { time: 'now', level: 'debug', event: 'session_stayed', session: 9, msg: 'session 9: stays, because it listens' },
  { time: 'now', level: 'debug', event: 'session_stayed', session: 10, msg: 'session 10: stays, because it is busy' },
  { time: 'now', level: 'debug', event: 'session_moved', session: 10, msg: 'session 10: moved' },
  closed(7, 'evicted_switchover'),
  closed(8, 'client_closed'),
  closed(9, 'client_closed'),
  closed(10, 'client_closed'),
];

test('each lost session is named with the reason and its lines; one that its client ended is none', () => {
  expect(lostSessions({ lines: LINES, explain: () => 'Pointsman said: …' }).split('\n')).toEqual([
    '2 sessions were lost',
    'session 7 (pool write, 127.0.0.1:7): evicted_switchover',
    '  before debug session 7: connected',
    '  now debug session 7: stays, because it is busy',
    '  later info session 7: closed: evicted_switchover',
    'session 9 (pool write, 127.0.0.1:9): client_closed',
    '  now debug session 9: stays, because it listens',
    '  later info session 9: closed: client_closed',
    'Pointsman said: …',
  ]);
});
