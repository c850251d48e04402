// A session whose server ends it, or whose client does: what is noted, and what the client can still be told.
import { describe, expect, test } from 'vitest';
import { BRANCH, RelayedLab } from '../../../support/labs/relayed-lab.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, errorOf, QUERY, TERMINATE } from '../../../support/sockets/messages.ts';

const [STOPPING, IDLE_TOO_LONG, FULL] = ['57P01', '57P05', '53300'];
const WORDLESS = 'pg-1: connection closed by the server without an error message';
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('latin1');

function fatal(sqlState: string): Buffer {
  return errorOf(['SFATAL', 'VFATAL', `C${sqlState}`, 'Mno']);
}

function loggedIn(options: ConstructorParameters<typeof RelayedLab>[0] = {}): RelayedLab {
  const lab = new RelayedLab(options);
  lab.logIn();
  return lab;
}

/** Its login is under way. */
function starting(options: ConstructorParameters<typeof RelayedLab>[0] = {}): RelayedLab {
  const lab = new RelayedLab(options);
  lab.start();
  lab.fromServer(AUTHENTICATION_OK);
  lab.calls.splice(0);
  return lab;
}

describe('a server ends a session', () => {
  test.each<[string, string, (lab: RelayedLab) => void]>([
    ['idle', '57P01', () => {}],
    ['busy', '08006', (lab) => lab.fromClient(QUERY)],
  ])('that is %s: its client reads %s, and the member is probed', (_, sqlState, act) => {
    const lab = loggedIn();
    act(lab);
    lab.calls.splice(0);
    lab.backend.emit('end');
    expect(lab.triggers).toEqual([{ kind: 'backend_closed', member: 'pg-1' }]);
    expect(lab.calls).toEqual(['lost', 'end: backend_closed: undefined']);
    const farewell = lab.relayed.farewell('too_old', 'another reason');
    expect(farewell).toMatchObject({ reason: 'backend_closed', detail: WORDLESS, isLost: true, client: lab.client });
    expect(text(farewell?.message)).toContain(`C${sqlState}`);
    expect(text(farewell?.message)).toContain('the server of pool "write" closed the connection');
  });

  test('by a reset: its client is told of that', () => {
    const lab = loggedIn();
    lab.backend.emit('error', new Error('reset'));
    expect(lab.triggers).toEqual([{ kind: 'backend_reset', member: 'pg-1' }]);
    expect(lab.calls).toEqual(['lost', 'end: backend_reset: undefined']);
    expect(lab.relayed.farewell('too_old')?.detail).toBe('pg-1: connection reset by the server');
  });

  test.each([
    ['and stops', STOPPING, [{ kind: 'backend_closed', member: 'pg-1' }]],
    ['because of its client', IDLE_TOO_LONG, []],
  ] as const)('with words of its own, %s: they are enough', (_, sqlState, triggers) => {
    const lab = loggedIn();
    lab.fromServer(fatal(sqlState));
    lab.backend.emit('end');
    expect([lab.triggers, lab.calls]).toEqual([triggers, ['lost', 'end: backend_closed: undefined']]);
    const farewell = lab.relayed.farewell('too_old');
    expect(farewell).toMatchObject({ detail: `pg-1: FATAL ${sqlState}`, message: undefined });
  });

  test('of a branch: it is named, and no member is probed', () => {
    const lab = loggedIn({ server: BRANCH });
    lab.backend.emit('end');
    expect(lab.triggers).toEqual([]);
    const farewell = lab.relayed.farewell('too_old');
    expect(farewell?.detail?.startsWith('branch pr-1: ')).toBe(true);
    expect(text(farewell?.message)).toContain('the server of branch "pr-1" closed the connection');
  });

  test.each<[string, (lab: RelayedLab) => void]>([
    ['in the middle of a message', (lab) => lab.fromServer(COMMAND_COMPLETE.subarray(0, 3))],
    ['whose client says something else than PostgreSQL', (lab) => lab.fromClient(Buffer.from('Q\0\0\0\0'))],
    ['whose client has gone', (lab) => Object.defineProperty(lab.client, 'writable', { value: false })],
  ])('%s: the client is not told, and both sides close', (_, act) => {
    const lab = loggedIn();
    act(lab);
    lab.calls.splice(0);
    lab.backend.emit('end');
    expect(lab.calls).toEqual(['lost', 'client ended']);
    expect(lab.relayed.farewell('too_old')).toMatchObject({
      reason: 'backend_closed',
      detail: undefined,
      message: undefined,
    });
    lab.calls.splice(0);
    lab.close();
    expect(lab.calls.at(-1)).toBe('cut: backend_closed: undefined');
  });

  test('that cannot be read: the client is not told, because the session may be half-open', () => {
    const lab = new RelayedLab({ isReadable: false });
    lab.start();
    lab.calls.splice(0);
    lab.backend.emit('end');
    expect([lab.calls, lab.triggers]).toEqual([['lost', 'client ended'], [{ kind: 'backend_closed', member: 'pg-1' }]]);
  });

  test.each([true, false])('that may move: the part that moves it is told first, and takes it: %s', (takes) => {
    const endings: string[] = [];
    const serverEnded = (ending: string): boolean => endings.push(ending) > 0 && takes;
    const lab = loggedIn({ moving: { relayedBy() {}, serverEnded } });
    lab.backend.emit('end');
    expect(endings).toEqual(['backend_closed']);
    expect(lab.calls).toEqual(takes ? [] : ['lost', 'end: backend_closed: undefined']);
  });
});

describe('a server refuses a login', () => {
  test('with an error: it is noted, and the client has read it', () => {
    const lab = starting();
    lab.fromServer(fatal(FULL));
    lab.backend.emit('end');
    expect(lab.calls).toEqual(['lost', `pg-1 refused 7: ${FULL}`, 'end: backend_closed: undefined']);
    const detail = `pg-1: FATAL ${FULL}`;
    expect(lab.relayed.farewell('too_old')).toMatchObject({ reason: 'backend_refused', detail, message: undefined });
    expect(lab.triggers).toEqual([]);
  });

  test('without a word: it is noted, the member is probed, and the client is told to come again', () => {
    const lab = starting();
    lab.backend.emit('end');
    expect(lab.calls).toEqual(['pg-1 refused 7: undefined', 'lost', 'end: backend_closed: undefined']);
    expect(lab.triggers).toEqual([{ kind: 'backend_closed', member: 'pg-1' }]);
    const farewell = lab.relayed.farewell('too_old');
    expect([farewell?.reason, farewell?.detail]).toEqual(['backend_closed', WORDLESS]);
    expect(text(farewell?.message)).toContain('C57P03');
  });

  test('of a branch: no member has refused', () => {
    const lab = starting({ server: BRANCH });
    lab.fromServer(fatal(FULL));
    lab.backend.emit('end');
    expect(lab.calls).toEqual(['lost', 'end: backend_closed: undefined']);
    expect(lab.relayed.farewell('too_old')?.reason).toBe('backend_refused');
  });

  test('and its client closes as soon as it has read that', () => {
    const lab = starting();
    lab.fromServer(fatal(FULL));
    lab.client.emit('close');
    lab.backend.emit('close');
    expect(lab.calls.slice(-2)).toEqual([`pg-1 refused 7: ${FULL}`, `cut: backend_refused: pg-1: FATAL ${FULL}`]);
  });

  test('of a client that has logged in, no more', () => {
    const lab = loggedIn();
    lab.fromServer(fatal(FULL));
    lab.close();
    expect(lab.calls.filter((call) => call.includes('refused'))).toEqual([]);
  });
});

describe('a client', () => {
  test('that says goodbye has closed its session, although its server closes first', () => {
    const lab = loggedIn();
    lab.fromClient(TERMINATE);
    lab.calls.splice(0);
    lab.backend.emit('end');
    expect([lab.calls, lab.triggers]).toEqual([['client ended'], []]);
    lab.close();
    expect(lab.calls.at(-1)).toBe('cut: client_closed: undefined');
  });

  test('that says goodbye to a server that stops was ended by it', () => {
    const lab = loggedIn();
    lab.fromClient(TERMINATE);
    lab.fromServer(fatal(STOPPING));
    lab.backend.emit('end');
    expect(lab.triggers).toEqual([{ kind: 'backend_closed', member: 'pg-1' }]);
  });

  test('that leaves without a word during its login refuses nobody', () => {
    const lab = starting();
    lab.client.emit('close');
    lab.backend.emit('close');
    expect(lab.calls.filter((call) => call.includes('refused'))).toEqual([]);
    expect(lab.calls.at(-1)).toBe('cut: client_reset: undefined');
  });
});
