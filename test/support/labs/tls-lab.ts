// A proxy that terminates TLS, before two silent backends: one for writes, one for reads. Each test gets a new one.
// After the test no timer, no session and no error of ours may be left.
import { afterEach, beforeEach, expect } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import type { ClientTls } from '../../../src/model/policy.ts';
import { startFakeBackend } from '../fakes/fake-backend.ts';
import type { FakeBackend } from '../fakes/fake-backend.ts';
import { ManualClock } from '../waiting/manual-clock.ts';
import { startProxyLab } from './proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from './proxy-lab.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { SERVER } from '../values/tls-files.ts';
import { until } from '../waiting/until.ts';

class TlsLab {
  clock = new ManualClock();
  #backends: readonly [FakeBackend, FakeBackend] | undefined;
  #lab: ProxyLab | undefined;

  async prepare(): Promise<void> {
    this.clock = new ManualClock();
    this.#backends = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  }

  async start(mode: 'terminate' | 'require' = 'terminate', options: ProxyLabOptions = {}): Promise<void> {
    const table = { write: { open: { 'pg-1': this.one.address } }, read: { open: { 'pg-2': this.two.address } } };
    const tls: ClientTls = { mode, ...SERVER };
    this.#lab = await startProxyLab({ clock: this.clock, table, ...options, client: { tls, ...options.client } });
  }

  async finish(): Promise<void> {
    const { proxy } = this.lab;
    proxy.close();
    await until('no timer left', () => this.clock.pending() === 0);
    await Promise.all([this.one.stop(), this.two.stop()]);
    const { states } = proxy.counts().get('write') ?? {};
    expect(Object.values(states ?? {})).toEqual([0, 0, 0, 0, 0]);
    expect(this.lab.reasons()).not.toContain('internal_error');
  }

  get lab(): ProxyLab {
    if (this.#lab === undefined) throw new Error('the proxy was not started');
    return this.#lab;
  }

  /** Behind the write pool. */
  get one(): FakeBackend {
    return this.#both()[0];
  }

  /** Behind the read pool. */
  get two(): FakeBackend {
    return this.#both()[1];
  }

  /** Where clients of the write pool connect. */
  at(): Address {
    return this.lab.address('write');
  }

  /** The reason of the first session that ended, with its detail. */
  async reasonOf(client: RawClient): Promise<unknown> {
    await until('the end', () => this.lab.closed().length > 0);
    client.socket.destroy();
    return this.lab.closed().map(({ reason, detail }) => [reason, detail])[0];
  }

  #both(): readonly [FakeBackend, FakeBackend] {
    if (this.#backends === undefined) throw new Error('used outside of a test');
    return this.#backends;
  }
}

/** Resolves when the newest connection of `backend` has brought exactly these bytes. */
export async function untilHeard(backend: FakeBackend, ...bytes: readonly Uint8Array[]): Promise<void> {
  const whole = Buffer.concat(bytes);
  await until('these bytes', () => backend.connections.at(-1)?.received().equals(whole));
}

/** Call once, outside of the tests. */
export function tlsLab(): TlsLab {
  const tls = new TlsLab();
  beforeEach(() => tls.prepare());
  afterEach(() => tls.finish());
  return tls;
}
