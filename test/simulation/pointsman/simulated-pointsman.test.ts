import type { Socket } from 'node:net';
import { beforeAll, expect, it } from 'vitest';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { createWorld, type Host, type World } from '../world/world.ts';
import { loadLate, SimulatedPointsman } from './simulated-pointsman.ts';

beforeAll(loadLate);

const NODE = {
  state: 'running',
  role: 'primary',
  server_version: 160_004,
  timeline: 1,
  xlog: { location: 50_332_000 },
  database_system_identifier: '7',
  patroni: { version: '4.1.4', scope: 'demo', name: 'pg-1' },
};
const MEMBERS = [
  {
    name: 'pg-1',
    role: 'leader',
    state: 'running',
    api_url: 'http://10.0.0.1:8008/patroni',
    host: '10.0.0.1',
    port: 5432,
    timeline: 1,
  },
];

/** A primary that welcomes and repeats, a host for Pointsman, and one for clients. */
class Lab {
  readonly world: World;
  readonly server: Host;
  readonly client: Host;
  readonly events: ReportedEvent[] = [];

  constructor(seed: number) {
    this.world = createWorld(seed);
    const { network } = this.world;
    this.server = network.host('pg-1', '10.0.0.1');
    this.client = network.host('client', '10.0.0.201');
    this.server.serveHttp(8008, ({ path }) => ({
      status: path.startsWith('/replica') ? 503 : 200,
      body: JSON.stringify(path === '/cluster' ? { members: MEMBERS, scope: 'demo' } : NODE),
    }));
    this.server.listen(5432, (socket) => {
      socket.once('data', () => {
        socket.write('R\0\0\0\u0008\0\0\0\0Z\0\0\0\u0005I');
        socket.on('data', (bytes: Buffer) => socket.write(bytes));
      });
      socket.on('end', () => socket.end()).on('error', () => {});
    });
  }

  async pointsman(name: string, address: string, file: Readonly<Record<string, unknown>> = {}) {
    const pointsman = new SimulatedPointsman({
      world: this.world,
      host: this.world.network.hostAt(address) ?? this.world.network.host(name, address),
      file: {
        cluster: { scope: 'demo', seeds: ['http://10.0.0.1:8008'] },
        relay: 'streams',
        listeners: [{ address: `${address}:5000`, pool: 'write', reuse_port: true }],
        ...file,
      },
      onEvent: (event) => {
        this.events.push(event);
        this.world.note(`${name} ${JSON.stringify(event)}`);
      },
    });
    void pointsman.start();
    await this.world.run(1_000);
    return pointsman;
  }

  /** Its bytes are noted. */
  connect(address: string): { readonly socket: Socket; readonly heard: string[] } {
    const heard: string[] = [];
    const socket = this.client.connect(5000, address);
    const startup = Buffer.from('\0\0\0\0\0\u0003\0\0user\0app\0\0');
    startup.writeInt32BE(startup.length, 0);
    socket.write(startup);
    socket.on('data', (bytes: Buffer) => heard.push(bytes.toString('latin1')));
    socket
      .on('error', (error) => heard.push(error.message))
      .on('end', () => {
        heard.push('end');
        socket.end();
      });
    return { socket, heard };
  }
}

async function history(seed: number): Promise<{ readonly hash: string; readonly heard: string }> {
  const lab = new Lab(seed);
  const pointsman = await lab.pointsman('px', '10.0.0.101');
  const { socket, heard } = lab.connect('10.0.0.101');
  await lab.world.run(500);
  socket.write('Q\0\0\0\u0006a\0');
  await lab.world.run(5_000);
  void pointsman.stop();
  await lab.world.run(100);
  return { hash: lab.world.history.hash(), heard: heard.join('') };
}

it('routes a client to the primary, and the same seed gives the same history', async () => {
  const first = await history(3);
  expect(first.heard).toContain('Q\0\0\0\u0006a\0');
  expect(await history(3)).toEqual(first);
  expect((await history(4)).hash).not.toBe(first.hash);
});

it('has workers behind a channel', async () => {
  const lab = new Lab(5);
  const pointsman = await lab.pointsman('px', '10.0.0.101', { workers: 2 });
  const clients = Array.from({ length: 8 }, () => lab.connect('10.0.0.101'));
  await lab.world.run(500);
  for (const { socket } of clients) socket.write('Q\0\0\0\u0006a\0');
  await lab.world.run(1_500);
  expect(clients.map(({ heard }) => heard.join('').endsWith('a\0'))).toEqual(clients.map(() => true));
  expect(pointsman.parts.proxy.workers().map(({ sessions }) => sessions > 0)).toEqual([true, true]);
  void pointsman.stop();
  await lab.world.run(1_000);
  expect(clients.every(({ heard }) => heard.at(-1) === 'end')).toBe(true);
});

it('hands its port over to another one, and a killed one loses its clients alone', async () => {
  const lab = new Lab(6);
  const before = await lab.pointsman('before', '10.0.0.101');
  const old = lab.connect('10.0.0.101');
  await lab.world.run(500);
  const after = await lab.pointsman('after', '10.0.0.101');
  void before.drain();
  await lab.world.run(20_000);
  expect(old.heard.at(-1)).toBe('end');
  const young = lab.connect('10.0.0.101');
  await lab.world.run(500);
  expect(young.heard.join('')).toContain('Z\0\0\0\u0005I');
  after.kill();
  await lab.world.run(500);
  expect(young.heard.at(-1)).toBe('end');
});
