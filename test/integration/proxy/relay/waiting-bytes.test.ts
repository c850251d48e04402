// Clients of an exclusive pool send after this process stood still. Their bytes wait until the members were probed
// again, and arrive whole, in order and once.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { echoSession, isOver } from '../../../support/sockets/echo-session.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

const DEMOTED: Standing = { kind: 'leave', cause: 'demoted', why: { code: 'wrong_role' } };

describe.each(['auto', 'streams'] as const)('relay: %s', (relay) => {
  let lab: ProxyLab;
  let backend: FakeBackend;
  let clock: ManualClock;
  let client: RawClient;
  let answer: () => void;

  beforeEach(async () => {
    backend = await startFakeBackend('echo');
    clock = new ManualClock();
    answer = () => {};
    let isStarted = false;
    const freshen = (): Promise<void> => (isStarted ? new Promise((resolve) => (answer = resolve)) : Promise.resolve());
    const open = { open: { 'pg-1': backend.address } };
    lab = await startProxyLab({ clock, freshen, relay, table: { write: open, read: open } });
    client = await echoSession(lab.address('write'));
    isStarted = true;
  });

  afterEach(async () => {
    client.socket.destroy();
    lab.proxy.close();
    await backend.stop();
  });

  /** Runs until later bytes would surely have arrived. */
  async function aReadSessionEchoes(): Promise<void> {
    const other = await echoSession(lab.address('read'));
    other.socket.destroy();
  }

  test('bytes and the half-close after them go on with the answer, in order', async () => {
    lab.proxy.stalled(clock.now(), 800);
    client.socket.write('one ');
    await aReadSessionEchoes();
    client.socket.end('two');
    await aReadSessionEchoes();
    expect(client.received().equals(aStartup())).toBe(true);
    answer();
    await until('the echo and the end', () => client.hasEnded);
    expect(client.received().subarray(aStartup().length).toString()).toBe('one two');
  });

  test('10 MB that begin to arrive meanwhile arrive whole, and the proxy does not store them', async () => {
    lab.proxy.stalled(clock.now(), 800);
    const before = process.memoryUsage().arrayBuffers;
    const sent = Buffer.alloc(10_000_000, 'abcdefg');
    client.socket.write(sent);
    await aReadSessionEchoes();
    await aReadSessionEchoes();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(12_000_000);
    answer();
    await until('the echo', () => client.received().length === aStartup().length + sent.length, 15_000);
    expect(client.received().subarray(aStartup().length).equals(sent)).toBe(true);
  });

  test('without an answer the bytes go on after the time that a probe may take', async () => {
    lab.proxy.stalled(clock.now(), 800);
    client.socket.write('late');
    await aReadSessionEchoes();
    await clock.advance(799);
    expect(client.received().equals(aStartup())).toBe(true);
    await clock.advance(1);
    await until('the echo', () => client.received().subarray(aStartup().length).toString() === 'late');
  });

  test('a member that is found demoted gets no byte', async () => {
    lab.proxy.stalled(clock.now(), 800);
    client.socket.write('late');
    await aReadSessionEchoes();
    lab.decide({ write: { others: { 'pg-1': { address: backend.address, standing: DEMOTED } } } });
    answer();
    await until('the end', () => isOver(client));
    expect(backend.connections[0]?.received().equals(aStartup())).toBe(true);
  });

  test.each(['reset', 'close'] as const)('a client that ends meanwhile, by %s, leaves nothing behind', async (how) => {
    lab.proxy.stalled(clock.now(), 800);
    client.socket.write('late');
    await aReadSessionEchoes();
    if (how === 'reset') client.socket.resetAndDestroy();
    else client.socket.destroy();
    await aReadSessionEchoes();
    answer();
    await until('the end of the session', () => lab.closed().some(({ pool }) => pool === 'write'));
    await until('the end at the server', () => backend.connections[0]?.isClosed);
  });

  test('a server that leaves meanwhile ends the session', async () => {
    lab.proxy.stalled(clock.now(), 800);
    client.socket.write('late');
    await aReadSessionEchoes();
    backend.connections[0]?.socket.resetAndDestroy();
    await until('the end', () => isOver(client));
    answer();
    client.socket.end();
    await until('the end of the session', () => lab.closed().some(({ pool }) => pool === 'write'));
  });
});
