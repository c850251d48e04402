// The simulated cluster behaves like Patroni's, by itself: no Pointsman is here.
import { describe, expect, it } from 'vitest';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import { readHistory } from '../../../src/patroni/history.ts';
import { readNodeStatus } from '../../../src/patroni/node-status.ts';
import { readCapture } from '../../support/values/captures.ts';
import { Client } from '../clients/client.ts';
import { within } from '../world/within.ts';
import { createWorld, type Host, type World } from '../world/world.ts';
import { API_PORT, SimulatedCluster, type ClusterOptions } from './cluster.ts';
import { apiAt } from './store-service.ts';
import { verdictOn, type Verdict } from './verdict.ts';

class Scene {
  readonly world: World;
  readonly cluster: SimulatedCluster;
  readonly observer: Host;
  readonly clients: Client[] = [];

  constructor(options: Partial<ClusterOptions> = {}, seed = 5) {
    this.world = createWorld(seed);
    this.cluster = new SimulatedCluster(this.world, { members: ['pg1', 'pg2', 'pg3'], ...options });
    this.observer = this.world.network.host('observer', '10.0.2.1');
    this.cluster.start();
  }

  /** Each knows the truth about the primary, and no proxy is between. */
  addClients(count: number): void {
    for (let number = 1; number <= count; number += 1) {
      const client = new Client({
        world: this.world,
        host: this.world.network.host(`c${number}`, `10.0.1.${number}`),
        name: `c${number}`,
        kind: 'writer',
        paceMs: 60,
        patienceMs: 5_000,
        targets: () => [{ address: (this.cluster.primary() ?? this.cluster.member('pg1')).host.address, port: 5432 }],
      });
      this.clients.push(client);
      client.start();
    }
  }

  /** Its last WAL reaches no replica. It comes back as one, to the next primary. */
  async primaryDiesAhead(): Promise<void> {
    const { network } = this.world;
    const [first, ...others] = this.cluster.members;
    for (const { host } of others) network.cut(first?.host ?? host, host);
    await this.world.run(1_500);
    first?.crash();
    await this.world.run(15_000);
    for (const { host } of others) network.heal(first?.host ?? host, host);
    first?.boot();
    await this.world.run(10_000);
  }

  /** `/primary` of a member: status and body, or how it failed. */
  async ask(member: string, path: string, method: 'GET' | 'POST' | 'PATCH' = 'GET', body?: unknown) {
    const { address } = this.cluster.member(member).host;
    const asked = { api: apiAt(address, API_PORT), path, method, body, deadlineMs: 15_000 };
    const answer = await within(this.world, this.observer.request(asked));
    if (answer.kind === 'refused') return 'refused';
    return answer.kind === 'failed' ? answer.cause : { status: answer.status, body: parsed(answer.body) };
  }

  async read(member: string, path: string): Promise<unknown> {
    const answer = await this.ask(member, path);
    return typeof answer === 'string' ? answer : answer.body;
  }

  async statuses(path: string): Promise<readonly (number | string)[]> {
    const answers = [];
    for (const { name } of this.cluster.members) answers.push(await this.ask(name, path));
    return answers.map((answer) => (typeof answer === 'string' ? answer : answer.status));
  }

  /** Lets the faults be over. */
  async verdict(): Promise<Verdict> {
    for (const client of this.clients) client.stop();
    await this.world.run(12_000);
    const primary = this.cluster.primary();
    if (primary === undefined) throw new Error(this.world.history.lines().join('\n'));
    const accounts = this.clients.map(({ account }) => account);
    return verdictOn(primary.server.wal, this.cluster.ledger, this.cluster.store.leases(), accounts);
  }

  said(words: string): boolean {
    return this.world.history.lines().some((line) => line.includes(words));
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}

const keysOf = (value: unknown): readonly string[] => Object.keys(value ?? {}).toSorted();

describe('the API of a member', () => {
  it('answers as captured from Patroni 4.1, key by key', async () => {
    const scene = new Scene({ tags: { pg1: { zone: 'a' }, pg2: { zone: 'b' }, pg3: { zone: 'b' } } });
    await scene.world.run(5_000);
    const { answers } = readCapture('4.1.4', 'normal');
    for (const [member, node] of Object.entries({ pg1: 'n1', pg2: 'n2' })) {
      for (const path of ['/', '/primary', '/replica', '/patroni', '/config']) {
        const answer = await scene.ask(member, path);
        const expected = answers.find((one) => one.node === node && one.path === path);
        const found = typeof answer === 'string' ? [answer] : [answer.status, keysOf(answer.body)];
        const missing = path === '/config' ? ['postgresql'] : [];
        const wanted = keysOf(expected?.body).filter((key) => !missing.includes(key));
        expect([member, path, ...found]).toEqual([member, path, expected?.status, wanted]);
      }
    }
    const status = readNodeStatus(await scene.read('pg2', '/patroni'));
    expect(status).toMatchObject({
      status: { role: 'replica', state: 'running', timeline: 1, scope: 'main', name: 'pg2' },
    });
    const document = readClusterDocument(await scene.read('pg3', '/cluster'));
    expect(document).toMatchObject({
      cluster: {
        skipped: [],
        members: [
          { name: 'pg1', role: 'leader', state: 'running' },
          { role: 'replica', state: 'streaming', lag: 0 },
          {},
        ],
      },
    });
  });

  it('may be late, silent, broken or a liar', async () => {
    const scene = new Scene();
    const { api } = scene.cluster.member('pg2').manager;
    await scene.world.run(1_000);
    const answers = [];
    for (const kind of ['silent', 'cut', 'garbage', 'error'] as const) {
      api.fault = { kind };
      answers.push(await scene.ask('pg2', '/primary'));
    }
    expect(answers).toMatchObject(['timeout', { status: 503 }, { body: '<html>' }, { status: 500 }]);
    api.fault = { kind: 'lie', answer: { status: 200, body: '{"role":"primary"}' } };
    expect(await scene.ask('pg2', '/primary')).toEqual({ status: 200, body: { role: 'primary' } });
  });
});

describe('the cluster', () => {
  it('fails over when the lease of a dead primary ends, with a 200 before its promotion is over', async () => {
    const scene = new Scene();
    scene.addClients(3);
    await scene.world.run(3_000);
    scene.cluster.members.forEach(({ server }) => (server.pace.promotionMs = 2_000));
    scene.cluster.member('pg1').crash();
    const diedAt = scene.world.now();
    for (let ms = 0; scene.cluster.store.leases().length === 1 && ms < 10_000; ms += 10) await scene.world.run(10);
    const leader = scene.cluster.store.leader() ?? '';
    const tookMs = scene.world.now() - diedAt;
    expect([tookMs > 3_900, tookMs < 6_600, scene.cluster.primary()]).toEqual([true, true, undefined]);
    expect(await scene.ask(leader, '/primary')).toMatchObject({ status: 200, body: { role: 'replica', timeline: 1 } });
    await scene.world.run(3_000);
    expect(await scene.ask(leader, '/primary')).toMatchObject({ status: 200, body: { role: 'primary', timeline: 2 } });
    scene.cluster.member('pg1').boot();
    await scene.world.run(12_000);
    expect(await scene.statuses('/primary')).toEqual(
      ['pg1', 'pg2', 'pg3'].map((name) => (name === leader ? 200 : 503)),
    );
    const history = readHistory(await scene.read('pg1', '/history'));
    expect(history).toMatchObject({ entries: [{ timeline: 1, newLeader: leader }] });
    expect(await scene.verdict()).toMatchObject({ doubled: [], unexpected: [], strays: [], missingMoney: 0 });
    // The old one has followed, whether or not it had more than the others.
    expect(scene.cluster.members.map(({ server }) => server.timeline())).toEqual([2, 2, 2]);
  });

  it('switches over on request without losing anything, and both sides answer as captured meanwhile', async () => {
    const scene = new Scene();
    scene.addClients(4);
    await scene.world.run(3_000);
    const states = new Set<string>();
    const watch = (): void => {
      const { state, role } = scene.cluster.member('pg1').manager.api.document();
      states.add(`${state} ${role}`);
      scene.world.schedule(20, watch);
    };
    watch();
    const answer = await scene.ask('pg2', '/switchover', 'POST', { leader: 'pg1', candidate: 'pg2' });
    expect(answer).toEqual({ status: 200, body: 'Successfully switched over to "pg2"' });
    await scene.world.run(6_000);
    expect([...states]).toEqual([
      'running primary',
      'stopping primary',
      'stopped demoted',
      'starting replica',
      'running replica',
    ]);
    expect(await scene.statuses('/replica')).toEqual([200, 503, 200]);
    expect(await scene.verdict()).toMatchObject({ losses: [], doubled: [], unexpected: [], strays: [] });
    expect(await scene.ask('pg2', '/switchover', 'POST', { leader: 'pg1' })).toEqual({
      status: 412,
      body: 'leader name does not match',
    });
  });

  it('has a primary with a frozen manager take writes after its lease, which are strays', async () => {
    const scene = new Scene();
    scene.addClients(3);
    await scene.world.run(3_000);
    const { manager, host } = scene.cluster.member('pg1');
    // These clients connect to it for ever.
    scene.cluster.primary = () => scene.cluster.member('pg1');
    manager.freeze();
    await scene.world.run(15_000);
    expect(await scene.ask('pg1', '/primary')).toBe('timeout');
    manager.thaw();
    await scene.world.run(1);
    host.freeze();
    await scene.world.run(1_000);
    host.thaw();
    delete (scene.cluster as { primary?: unknown }).primary;
    const { losses, strays, doubled } = await scene.verdict();
    expect([losses.length > 5, doubled, new Set(losses.map(({ cause }) => cause))]).toEqual([
      true,
      [],
      new Set(['stray']),
    ]);
    expect(Math.max(...strays.map(({ afterMs }) => afterMs))).toBeGreaterThan(5_000);
    expect(new Set(strays.map(({ execution }) => `${execution.server} ${execution.timeline}`))).toEqual(
      new Set(['pg1 1']),
    );
  });

  it('loses what was confirmed just before the death of an asynchronous primary whose standbys lagged', async () => {
    const scene = new Scene();
    scene.addClients(8);
    await scene.world.run(3_000);
    await scene.primaryDiesAhead();
    const { losses, strays } = await scene.verdict();
    expect([losses.length > 0, strays]).toEqual([true, []]);
    expect(new Set(losses.map(({ cause }) => cause))).toEqual(new Set(['replication']));
  });

  it('loses nothing with synchronous mode, by the same death', async () => {
    const scene = new Scene({ config: { synchronous_mode: true } });
    scene.addClients(8);
    await scene.world.run(6_000);
    expect(await scene.statuses('/synchronous')).toContain(200);
    await scene.primaryDiesAhead();
    expect(await scene.verdict()).toMatchObject({ losses: [], strays: [], doubled: [] });
    expect(scene.cluster.store.leases().length).toBeGreaterThan(1);
  });

  it('has no primary while the store is away, and one again behind it; with pause the primary stays', async () => {
    for (const pause of [false, true]) {
      const scene = new Scene({ config: pause ? { pause } : {} });
      await scene.world.run(3_000);
      scene.cluster.storeService.kill();
      await scene.world.run(8_000);
      expect(scene.cluster.member('pg1').server.state()).toBe(pause ? 'primary' : 'standby');
      expect(await scene.statuses('/replica')).toEqual([pause ? 503 : 200, 200, 200]);
      scene.cluster.storeService.start();
      await scene.world.run(8_000);
      if (pause) expect(scene.cluster.primary()?.name).toBe('pg1');
      expect(await scene.verdict()).toMatchObject({ strays: [] });
    }
  });

  it('has a leader whose PostgreSQL has crashed keep the lock, and start it again', async () => {
    const scene = new Scene();
    await scene.world.run(3_000);
    const { server } = scene.cluster.member('pg1');
    server.kill();
    expect(await scene.ask('pg1', '/primary')).toMatchObject({
      status: 200,
      body: { state: 'unknown', role: 'primary' },
    });
    await scene.world.run(4_000);
    expect([server.state(), server.timeline(), scene.cluster.store.leases().length]).toEqual(['primary', 1, 1]);
  });

  it('restarts PostgreSQL in place on request', async () => {
    const scene = new Scene();
    await scene.world.run(3_000);
    const before = scene.cluster.member('pg1').server.startedAtWall();
    expect(await scene.ask('pg1', '/restart', 'POST', {})).toEqual({ status: 200, body: 'restarted successfully' });
    expect(scene.cluster.primary()?.server.startedAtWall()).toBeGreaterThan(before);
  });

  it('has a member believe a clock that is wrong: it says no too early, or yes too long', async () => {
    const scene = new Scene();
    await scene.world.run(3_000);
    scene.cluster.member('pg1').host.stepWallClock(60_000);
    expect(await scene.ask('pg1', '/primary')).toMatchObject({ status: 503, body: { role: 'primary' } });
    await scene.world.run(3_000);
    expect(await scene.ask('pg1', '/primary')).toMatchObject({ status: 200 });
  });

  it('can have a server of another cluster at the address of a member, for a while', async () => {
    const scene = new Scene();
    await scene.world.run(3_000);
    const giveBack = scene.cluster.replace('pg2');
    await scene.world.run(3_000);
    expect(await scene.read('pg2', '/primary')).toMatchObject({
      role: 'primary',
      timeline: 2,
      database_system_identifier: '7799999999999999999',
      patroni: { name: 'pg2', scope: 'main' },
    });
    // A second one finds the place taken.
    scene.cluster.replace('pg2')();
    expect(scene.cluster.strangers).toHaveLength(1);
    expect(await scene.statuses('/primary')).toEqual([200, 200, 503]);
    giveBack();
    await scene.world.run(5_000);
    expect(await scene.statuses('/replica')).toEqual([503, 200, 200]);
    expect(scene.cluster.member('pg1').server.standbys()).toHaveLength(2);
  });

  it('can have a member that claims to lead', async () => {
    const scene = new Scene();
    await scene.world.run(3_000);
    const end = scene.cluster.member('pg3').claimToLead(1);
    expect(await scene.statuses('/primary')).toEqual([200, 503, 200]);
    const status = readNodeStatus(await scene.read('pg3', '/primary'));
    expect(status).toMatchObject({ status: { role: 'primary', state: 'running', timeline: 1, name: 'pg3' } });
    end();
    expect(await scene.statuses('/primary')).toEqual([200, 503, 503]);
  });

  it('has the same history for the same seed', async () => {
    const hashes = [];
    for (const seed of [11, 11, 12]) {
      const scene = new Scene({}, seed);
      scene.addClients(2);
      await scene.world.run(3_000);
      scene.cluster.member('pg1').crash();
      await scene.world.run(10_000);
      hashes.push(`${scene.world.history.hash()} ${JSON.stringify(scene.cluster.ledger.executions())}`);
    }
    expect([hashes[0] === hashes[1], hashes[1] === hashes[2]]).toEqual([true, false]);
  });
});
