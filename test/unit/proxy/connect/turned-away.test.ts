// A server that turns its client away during the login: another one is tried, the same one is tried again, or the
// client reads it.
import { beforeEach, describe, expect, test } from 'vitest';
import { ConnectLab, opened, STARTUP } from '../../../support/labs/connect-lab.ts';
import { errorOf } from '../../../support/sockets/messages.ts';
import { aWritePool } from '../../../support/values/builders.ts';
import { aTableOf } from '../../../support/values/tables.ts';

const [STOPPING, FULL, WRONG_PASSWORD, OUT_OF_MEMORY] = ['57P01', '53300', '28P01', '53200'];

let lab: ConnectLab;

beforeEach(() => {
  lab = new ConnectLab();
});

/** Undefined: it closes without a word. Returns what the client is told. */
function refuse(member: string, sqlState: string | undefined, hasWaited = false): string {
  const before = lab.told.length;
  lab.connect({ firstRequest: STARTUP, hasWaited });
  expect(lab.told[before]).toBe(`assigned to ${member}`);
  const socket = lab.accept(member);
  if (sqlState === undefined) socket.emit('end');
  else socket.emit('data', errorOf(['SFATAL', 'VFATAL', `C${sqlState}`, 'Mno']));
  return (lab.told[before + 1] ?? '').replace(/: \d+ bytes$/, ': its error');
}

describe('in a pool of several members', () => {
  test.each([STOPPING, FULL, OUT_OF_MEMORY, undefined])('%s: the next one is tried', (sqlState) => {
    expect(refuse('pg-1', sqlState)).toBe('route again');
    expect(lab.triggers).toEqual([{ kind: 'backend_closed', member: 'pg-1' }]);
    expect(lab.events.at(-1)).toMatchObject({ kind: 'login_refused', member: 'pg-1', session: 7, sqlState });
    const detail =
      sqlState === undefined ? 'connection closed by the server without an error message' : `FATAL ${sqlState}`;
    expect(lab.failure()).toEqual({ reason: 'backend_refused', member: 'pg-1', detail: `pg-1: ${detail}` });
    expect(lab.words() === undefined).toBe(sqlState === undefined);
    expect(refuse('pg-2', sqlState)).toBe('route again');
  });

  test.each([FULL, OUT_OF_MEMORY, WRONG_PASSWORD])('%s of the last one is for the client', (sqlState) => {
    lab.table = aTableOf({ read: opened('pg-1') });
    expect(refuse('pg-1', sqlState)).toBe('connected to pg-1: its error');
    expect([lab.triggers, lab.failure()]).toEqual([[], undefined]);
  });

  test('a wrong password is for the client, however many there are', () => {
    expect(refuse('pg-1', WRONG_PASSWORD)).toBe('connected to pg-1: its error');
  });

  test('a close without a word of the last one ends the attempt', () => {
    lab.table = aTableOf({ read: opened('pg-1') });
    expect(refuse('pg-1', undefined)).toBe('closed');
    expect(lab.failure()?.reason).toBe('backend_refused');
  });

  test('a route that has closed meanwhile has no other member', () => {
    lab.connect({ firstRequest: STARTUP });
    const socket = lab.accept('pg-1');
    lab.table = aTableOf({ read: {} });
    socket.emit('end');
    expect(lab.told).toEqual(['assigned to pg-1', 'closed']);
  });

  test('a client is routed again although the route closes as its server refuses', () => {
    lab.onTrigger = () => (lab.table = aTableOf({ read: {} }));
    expect(refuse('pg-1', STOPPING)).toBe('route again');
  });

  test('a server that refuses the certificate of Pointsman is named with that', () => {
    lab.connect({ firstRequest: STARTUP });
    const socket = lab.accept('pg-1');
    socket.emit('error', Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }));
    socket.emit('close');
    expect(lab.failure()?.detail).toContain('the server refuses the certificate of Pointsman');
  });
});

describe('the primary', () => {
  beforeEach(() => {
    lab = new ConnectLab(aWritePool());
    lab.table = aTableOf({ write: opened('pg-1') });
  });

  test.each([STOPPING, undefined])(
    'that turns away with %s is routed to again at once, and then after a pause',
    (sqlState) => {
      const outcomes = Array.from({ length: 3 }, () => refuse('pg-1', sqlState));
      expect(outcomes).toEqual(['route again', 'pause of 200 ms', 'pause of 400 ms']);
    },
  );

  test('that is full is for the client', () => {
    expect(refuse('pg-1', FULL)).toBe('connected to pg-1: its error');
  });

  test.each([OUT_OF_MEMORY, WRONG_PASSWORD])(
    'that refuses with %s is for the client, also after a wait',
    (sqlState) => {
      expect(refuse('pg-1', sqlState, true)).toBe('connected to pg-1: its error');
    },
  );

  test('that is full is asked again after a second, where the client has waited already', () => {
    const outcomes = Array.from({ length: 5 }, () => refuse('pg-1', FULL, true));
    expect(new Set(outcomes)).toEqual(new Set(['pause of 1000 ms']));
  });

  test('that is full while sessions leave it is asked again', () => {
    lab.isClearing = true;
    expect(refuse('pg-1', FULL)).toBe('pause of 1000 ms');
  });
});
