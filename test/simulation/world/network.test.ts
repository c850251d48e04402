import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createWorld, type Host, type World } from './world.ts';

interface Pair {
  readonly world: World;
  readonly here: Host;
  readonly there: Host;
  readonly client: Socket;
  readonly server: Socket;
  /** The events of the client. */
  readonly heard: string[];
}

/** One connection. */
async function pair(seed = 7): Promise<Pair> {
  const world = createWorld(seed);
  const [here, there] = [world.network.host('here', '10.0.0.1'), world.network.host('there', '10.0.0.2')];
  const accepted = Promise.withResolvers<Socket>();
  there.listen(5432, accepted.resolve);
  const client = here.connect(5432, there);
  const heard: string[] = [];
  client.on('connect', () => heard.push('connect')).on('data', (bytes: Buffer) => heard.push(bytes.toString()));
  client.on('end', () => heard.push('end')).on('error', (error) => heard.push(error.message));
  await world.run(50);
  return { world, here, there, client, server: await accepted.promise, heard };
}

describe('the network', () => {
  it('keeps packets back in the direction that is cut, in order', async () => {
    const { world, here, there, client, server, heard } = await pair();
    world.network.cut(there, here);
    const received: string[] = [];
    server.on('data', (bytes: Buffer) => received.push(bytes.toString()));
    client.write('to there');
    server.write('one ');
    server.end('two');
    await world.run(5_000);
    expect([received.join(''), heard.slice(1).join('')]).toEqual(['to there', '']);
    world.network.heal(there, here);
    await world.run(1_000);
    expect(heard.slice(1).join('')).toBe('one twoend');
  });

  it('loses the packets that a host could not get across before its crash: nobody sends them again', async () => {
    const { world, here, there, server, heard } = await pair();
    world.network.cut(there, here);
    server.write('in vain');
    await world.run(100);
    there.crash();
    world.network.heal(there, here);
    await world.run(5_000);
    expect(heard).toEqual(['connect']);
  });

  it('connects when the network is healed, by the next SYN', async () => {
    const { world, here, there } = await pair();
    world.network.cut(here, there);
    let connectedAt: number | undefined;
    const begin = world.now();
    here.connect(5432, there).on('connect', () => (connectedAt = world.now() - begin));
    await world.run(1_500);
    world.network.heal(here, there);
    await world.run(1_000);
    expect(connectedAt).toBeUndefined();
    await world.run(1_000);
    expect(connectedAt).toBeGreaterThan(3_000);
  });

  it('holds a writer back by the window of a reader that does not read', async () => {
    const { world, client, server, heard } = await pair();
    client.pause();
    const block = Buffer.alloc(400_000, 'x');
    let isWritten = false;
    server.write(block, () => (isWritten = true));
    await world.run(1_000);
    expect(isWritten).toBe(false);
    client.resume();
    await world.run(5_000);
    expect(isWritten).toBe(true);
    expect(heard.slice(1).join('')).toHaveLength(block.length);
  });
});

describe('a host', () => {
  it('accepts and takes bytes while it is frozen; then timers run before sockets, or behind them', async () => {
    const orders = new Set<string>();
    for (let seed = 1; seed <= 10; seed += 1) {
      const { world, here, there, client, server, heard } = await pair(seed);
      const order: string[] = [];
      server.on('data', () => order.push('bytes'));
      there.freeze();
      client.write('x');
      there.clock.schedule(20, () => order.push('timer'));
      here.connect(5432, there).on('connect', () => heard.push('second'));
      await world.run(100);
      expect([order, heard]).toEqual([[], ['connect', 'second']]);
      there.thaw();
      await world.run(1);
      orders.add(order.join(', '));
    }
    expect([...orders].toSorted()).toEqual(['bytes, timer', 'timer, bytes']);
  });

  it('tells nobody that it crashed, and resets what comes after its boot', async () => {
    const { world, there, client, heard } = await pair();
    there.clock.schedule(10, () => heard.push('a timer of the dead'));
    there.crash();
    client.write('x');
    await world.run(60_000);
    expect(heard).toEqual(['connect']);
    there.boot();
    await world.run(2_000);
    expect(heard).toEqual(['connect', 'read ECONNRESET']);
  });

  it('is missed by keepalive', async () => {
    const { world, there, client, heard } = await pair();
    client.setKeepAlive(true, 5_000);
    there.crash();
    await world.run(14_000);
    expect(heard).toEqual(['connect']);
    await world.run(4_000);
    expect(heard).toEqual(['connect', 'read ETIMEDOUT']);
  });

  it('has a clock that can drift, and timers in whole milliseconds', async () => {
    const { world, here } = await pair();
    const begin = here.clock.now();
    here.driftAt(1.01);
    await world.run(10_000);
    expect(here.clock.now() - begin).toBeCloseTo(10_100, 3);
    const started = here.clock.now();
    let firedAfter = 0;
    here.clock.schedule(5.9, () => (firedAfter = here.clock.now() - started));
    await world.run(100);
    expect(firedAfter).toBeGreaterThan(4);
    expect(firedAfter).toBeLessThanOrEqual(5.001);
  });

  it('answers HTTP; silence, a closed port and a frozen process have the words of the real client', async () => {
    const { world, here, there } = await pair();
    const close = there.serveHttp(8008, ({ path }) =>
      path === '/slow' ? 'silent' : { status: 200, body: `you asked ${path}` },
    );
    const api = { url: 'http://10.0.0.2:8008', address: { host: '10.0.0.2', port: 8008 } };
    const results: unknown[] = [];
    const ask = async (path: string): Promise<void> => {
      void here.request({ api, path, deadlineMs: 800 }).then((result) => results.push(result));
      await world.run(1_000);
    };
    await ask('/primary');
    await ask('/slow');
    there.freeze();
    await ask('/primary');
    there.thaw();
    close();
    await ask('/primary');
    const late = { kind: 'failed', cause: 'timeout', detail: 'no whole answer within 800 ms' };
    expect(results).toEqual([
      { kind: 'answered', status: 200, body: 'you asked /primary' },
      late,
      late,
      { kind: 'refused' },
    ]);
    const states = Promise.all([5432, 1].map((port) => here.askPort({ host: '10.0.0.2', port }, 500)));
    await world.run(1_000);
    expect(await states).toEqual(['accepts', 'refused']);
  });
});

it('one seed gives one history, and another seed another one', async () => {
  expect(await hashOf(1)).toBe(await hashOf(1));
  expect(await hashOf(1)).not.toBe(await hashOf(2));
});

async function hashOf(seed: number): Promise<string> {
  const { world, client, server, heard } = await pair(seed);
  server.on('data', (bytes: Buffer) => {
    world.note(`${bytes.length} bytes`);
    server.write(bytes);
  });
  for (let size = 1; size < 20_000; size *= 3) client.write(Buffer.alloc(size, 'x'));
  await world.run(1_000);
  world.note(String(heard.map(({ length }) => length)));
  return world.history.hash();
}
