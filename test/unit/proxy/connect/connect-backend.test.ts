// A client gets a server of its pool: the route is read before the connect and behind it, and the client hears of one
// outcome.
import { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { ConnectLab, FAILED, opened, POLICY, STARTUP } from '../../../support/labs/connect-lab.ts';
import { AUTHENTICATION_OK } from '../../../support/sockets/messages.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { aTableOf } from '../../../support/values/tables.ts';

const TARGET = { member: 'pg-1', address: { host: 'pg-1', port: 5432 } };

let lab: ConnectLab;

beforeEach(() => {
  lab = new ConnectLab();
});

function aWriter(): ConnectLab {
  const writer = new ConnectLab(aWritePool());
  writer.table = aTableOf({ write: opened('pg-1') });
  return writer;
}

describe('G2: fresh evidence', () => {
  test('is waited for in an exclusive pool alone', () => {
    lab.fresh = new Promise(() => {});
    lab.connect();
    expect([lab.told, lab.freshened]).toEqual([['assigned to pg-1'], []]);
    const writer = aWriter();
    writer.connect();
    expect([writer.told, writer.freshened]).toEqual([['assigned to pg-1'], ['write']]);
  });

  test('leads to the route of that moment', async () => {
    const writer = aWriter();
    const { promise, resolve } = Promise.withResolvers<void>();
    writer.fresh = promise;
    writer.connect();
    expect(writer.told).toEqual([]);
    writer.table = aTableOf({ write: opened('pg-2') });
    resolve();
    await promise;
    await Promise.resolve();
    expect([writer.told, writer.clock.pending()]).toEqual([['assigned to pg-2'], 0]);
    writer.abort();
    expect(writer.dialed['pg-2']?.isAborted).toBe(true);
  });

  test('G10: is waited for as long as for a connect', async () => {
    const writer = aWriter();
    writer.fresh = new Promise(() => {});
    writer.connect();
    await writer.clock.advance(POLICY.connectTimeoutMs - 1);
    expect(writer.told).toEqual([]);
    await writer.clock.advance(1);
    expect(writer.told).toEqual(['assigned to pg-1']);
  });

  test('is nothing to a client that has left', async () => {
    const writer = aWriter();
    writer.fresh = Promise.resolve();
    writer.connect();
    writer.abort();
    await writer.clock.advance(POLICY.connectTimeoutMs);
    expect([writer.told, writer.clock.pending()]).toEqual([[], 0]);
  });

  test('is that of the pool whose route leads to the server', () => {
    lab.table = aTableOf({ write: opened('pg-9') });
    lab.connect({ via: aWritePool() });
    expect([lab.told, lab.freshened]).toEqual([['assigned to pg-9 by fallback'], ['write']]);
    lab.fail('pg-9');
    expect(lab.told.at(-1)).toBe('pause of 100 ms');
  });
});

describe('the route', () => {
  test('is read with an overdue decision; without one the client is routed again', () => {
    lab.onDecision = () => (lab.table = aTableOf({ read: {} }));
    lab.connect();
    expect([lab.told, lab.dialed]).toEqual([['route again'], {}]);
    lab.abort();
  });

  test.each([
    [' by fallback', { fallback: { pool: 'write', maxSessions: 1 } }],
    [', lagging', { lagging: { maxSessions: 1 } }],
    ['', {}],
  ])('tells how the session counts:%s', (words, picture) => {
    lab.table = aTableOf({ read: { ...opened('pg-1'), ...picture } });
    lab.connect();
    expect(lab.told).toEqual([`assigned to pg-1${words}`]);
  });

  test.each<[string, () => void]>([
    ['closes', () => (lab.table = aTableOf({ read: {} }))],
    ['leads to another address', () => (lab.table = aTableOf({ read: { open: { 'pg-1': { host: 'x', port: 1 } } } }))],
  ])('G3: that %s while a client connects: nothing is handed over', (_, change) => {
    lab.connect();
    lab.onDecision = change;
    const socket = lab.accept('pg-1');
    expect([lab.told, socket.destroyed]).toEqual([['assigned to pg-1', 'route again'], true]);
  });

  test('that is decided anew as the connect ends: a client that is elsewhere then hears of nothing', () => {
    lab.connect();
    lab.onDecision = () => {
      lab.table = aTableOf({ read: {} });
      lab.abort();
    };
    expect(lab.accept('pg-1').destroyed).toBe(true);
    expect(lab.told).toEqual(['assigned to pg-1']);
  });
});

describe('a client that not every target suits', () => {
  test('gets one that does', () => {
    lab.connect({ suits: ({ member }) => member === 'pg-3' });
    expect(lab.told).toEqual(['assigned to pg-3']);
  });

  test('waits a moment where none does, and the pool is probed', async () => {
    lab.connect({ suits: () => false });
    expect([lab.told, lab.triggers]).toEqual([[], [{ kind: 'clients_held', pool: 'read' }]]);
    await lab.clock.advance(0);
    expect(lab.told).toEqual(['pause of 250 ms']);
    lab.connect({ suits: () => false });
    lab.abort();
    await lab.clock.advance(0);
    expect(lab.told).toHaveLength(1);
  });

  test('has rivals to the suitable ones alone', async () => {
    lab.connect({ suits: ({ member }) => member !== 'pg-2' });
    await lab.clock.advance(10 * POLICY.attemptDelayMs);
    expect(lab.told).toEqual(['assigned to pg-1', 'assigned to pg-3']);
  });
});

describe('a server that declined encryption', () => {
  test('is used again while its member is open', () => {
    const socket = new Socket();
    lab.connect({ parked: lab.parked.park(TARGET, socket) });
    expect([lab.told, lab.dialed]).toEqual([['assigned to pg-1', 'connected to pg-1'], {}]);
    const other = lab.parked.park({ ...TARGET, member: 'gone' }, new Socket());
    lab.connect({ parked: other });
    // The first client took no turn of the pool.
    expect(lab.told.slice(2)).toEqual(['assigned to pg-1']);
  });

  test.each([
    ['waits for the startup message', undefined, false],
    ['is of no use where connections to members are encrypted', { mode: 'require' }, true],
  ])('%s', (_, tls, isDestroyed) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its presence counts
    lab.policy = { ...POLICY, tls } as typeof lab.policy;
    lab.connect({ firstRequest: { kind: 'negotiation', packet: Buffer.from('ssl') } });
    const socket = lab.accept('pg-1');
    socket.emit('data', Buffer.from('N'));
    expect([lab.told.at(-1), socket.destroyed]).toEqual(['declined', isDestroyed]);
  });
});

describe('a connect', () => {
  test('has the limits of the policy, and is reported with its time', async () => {
    lab.connect({ isEncrypted: true });
    expect(lab.dialed['pg-1']).toMatchObject({ timeoutMs: POLICY.connectTimeoutMs, isEncrypted: true });
    await lab.clock.advance(20);
    lab.accept('pg-1');
    const finished = { kind: 'dial_finished', pool: 'read', session: 7, member: 'pg-1', outcome: 'connected' };
    expect(lab.events).toEqual([{ ...finished, durationMs: 20 }]);
    expect(lab.told).toEqual(['assigned to pg-1', 'connected to pg-1']);
    lab.connect();
    expect(lab.dialed['pg-2']).toMatchObject({ isEncrypted: false });
  });

  test('has rivals in a pool of several members, as many as there are attempts', async () => {
    lab.table = aTableOf({ read: opened('pg-1', 'pg-2', 'pg-3', 'pg-4') });
    lab.connect();
    await lab.clock.advance(10 * POLICY.attemptDelayMs);
    expect(Object.keys(lab.dialed)).toEqual(['pg-1', 'pg-2', 'pg-3']);
    lab.accept('pg-1');
    expect(lab.told.slice(3)).toEqual(['assigned to pg-1', 'connected to pg-1']);
    expect(lab.triggers).toEqual([]);
    lab.abort();
    expect(lab.clock.pending()).toBe(0);
  });

  test('that is the only one has no rival', async () => {
    lab.table = aTableOf({ read: opened('pg-1') });
    lab.connect();
    expect(lab.clock.pending()).toBe(0);
    await lab.clock.advance(10 * POLICY.attemptDelayMs);
    expect(lab.told).toEqual(['assigned to pg-1']);
  });

  test('has no rival any more where the route has closed', async () => {
    lab.connect();
    lab.table = aTableOf({ read: {} });
    await lab.clock.advance(10 * POLICY.attemptDelayMs);
    expect(Object.keys(lab.dialed)).toEqual(['pg-1']);
  });

  test('that is overtaken makes its member slow, and the member is probed', async () => {
    lab = new ConnectLab(aPool({ balance: 'latency' }));
    lab.picker.tableChanged(lab.table);
    lab.connect();
    const [slow = ''] = Object.keys(lab.dialed);
    await lab.clock.advance(POLICY.attemptDelayMs);
    const [rival = ''] = Object.keys(lab.dialed).filter((member) => member !== slow);
    lab.accept(rival);
    expect(lab.triggers).toEqual([{ kind: 'connect_slow', member: slow }]);
    expect(lab.picker.latency.shown(aPool({ balance: 'latency' })).get(slow)?.loginMs).toBeCloseTo(1_000);
  });

  test('ends with the client', async () => {
    lab.connect();
    lab.abort();
    await lab.clock.advance(10 * POLICY.attemptDelayMs);
    expect([lab.dialed['pg-1']?.isAborted, Object.keys(lab.dialed)]).toEqual([true, ['pg-1']]);
  });

  test('that fails is followed by one to another member, whose failure is noted too, and in the end by a pause', () => {
    lab = new ConnectLab(aPool({ balance: 'latency' }));
    lab.picker.tableChanged(lab.table);
    for (const outcome of ['route again', 'route again', 'pause of 100 ms']) {
      lab.connect();
      const [member = ''] = Object.keys(lab.dialed).slice(-1);
      lab.fail(member);
      expect(lab.told.slice(-2)).toEqual([`assigned to ${member}`, outcome]);
      expect(lab.triggers.at(-1)).toEqual({ kind: 'dial_failed', member });
      expect(lab.failure()).toEqual({ reason: 'connect_failed', detail: `${member}: ${FAILED.detail}` });
      expect(lab.picker.latency.shown(aPool({ balance: 'latency' })).get(member)?.loginMs).toBeCloseTo(1_000);
    }
    expect(Object.keys(lab.dialed)).toHaveLength(3);
  });

  test('G12: that fails by a fault of this machine blames no member', () => {
    lab.connect();
    lab.fail('pg-1', { isLocalFault: true });
    expect([lab.told.at(-1), lab.triggers]).toEqual(['pause of 100 ms', []]);
  });

  test('that fails while another one is under way changes nothing for the client', async () => {
    lab.connect();
    await lab.clock.advance(POLICY.attemptDelayMs);
    lab.fail('pg-1');
    expect(lab.told).toEqual(['assigned to pg-1', 'assigned to pg-2']);
  });

  test('that fails where the route has closed: the client is routed again, without a pause', () => {
    lab.table = aTableOf({ read: opened('pg-1') });
    lab.connect();
    lab.table = aTableOf({ read: {} });
    lab.fail('pg-1');
    expect(lab.told.at(-1)).toBe('route again');
  });
});

describe('the first reply', () => {
  test('is waited for, and the client that leaves meanwhile closes the server', () => {
    lab.connect({ firstRequest: STARTUP });
    const socket = lab.accept('pg-1');
    expect(lab.told).toEqual(['assigned to pg-1']);
    lab.abort();
    expect(socket.destroyed).toBe(true);
  });

  test.each([
    ['latency', 32],
    ['round_robin', undefined],
  ] as const)('with balance %s a login took %s ms', async (balance, ms) => {
    lab = new ConnectLab(aPool({ balance }));
    lab.picker.tableChanged(aTableOf({ read: opened('pg-1') }));
    lab.table = aTableOf({ read: opened('pg-1') });
    lab.connect({ firstRequest: STARTUP });
    await lab.clock.advance(20);
    const socket = lab.accept('pg-1');
    await lab.clock.advance(12);
    socket.emit('data', AUTHENTICATION_OK);
    expect(lab.told.at(-1)).toBe(`connected to pg-1: ${AUTHENTICATION_OK.length} bytes`);
    const loginMs = lab.picker.latency.shown(aPool({ balance: 'latency' })).get('pg-1')?.loginMs;
    expect(loginMs).toEqual(ms === undefined ? undefined : expect.closeTo(ms));
  });
});
