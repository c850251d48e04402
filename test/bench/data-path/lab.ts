// What the parts of the benchmark stand on: the load program, the builds of Pointsman, the peers, and rounds in which each has its turn.
import { availableParallelism } from 'node:os';
import { Load } from './load.ts';
import type { BenchOptions, FixedPeer } from './options.ts';
import { startHaproxy } from './peers/haproxy.ts';
import type { Peer, Surroundings } from './peers/peer.ts';
import { startPgbouncer } from './peers/pgbouncer.ts';
import { type Build, buildPointsman } from './peers/pointsman-build.ts';
import { startPointsman } from './peers/pointsman.ts';
import type { Sample } from './sample.ts';

/** Metrics with their units, and their values. */
export type Figures = Readonly<Record<string, number>>;

export class Lab implements AsyncDisposable {
  readonly options: BenchOptions;
  readonly load: Load;
  /** As taskset lists them; undefined: wherever the kernel likes. */
  readonly proxyCores: string | undefined;
  readonly otherCores: string | undefined;
  readonly #builds = new Map<string, Build>();

  private constructor(options: BenchOptions, load: Load, [proxyCores, otherCores]: Cores) {
    this.options = options;
    this.load = load;
    this.proxyCores = proxyCores;
    this.otherCores = otherCores;
  }

  static async open(options: BenchOptions): Promise<Lab> {
    const cores = coresFor(options.pin);
    return new Lab(options, await Load.compile(cores[1]), cores);
  }

  /** Every peer that was asked for and is not left out, before this backend. */
  async peers(backendPort: number, { without = [] as readonly FixedPeer[], isPinned = true } = {}): Promise<Peers> {
    const cores = isPinned ? [this.proxyCores, this.otherCores] : [undefined, undefined];
    const surroundings: Surroundings = { backendPort, proxyCores: cores[0], otherCores: cores[1] };
    const wanted = (name: FixedPeer): boolean => this.options.peers.includes(name) && !without.includes(name);
    await using started = new AsyncDisposableStack();
    const list: Peer[] = [];
    const add = (peer: Peer): void => void list.push(started.use(peer));
    if (wanted('direct'))
      add({ name: 'direct', port: backendPort, pid: undefined, [Symbol.asyncDispose]: async () => {} });
    if (wanted('haproxy')) add(await startHaproxy(surroundings));
    if (wanted('pgbouncer')) add(await startPgbouncer(surroundings));
    for (const [name, variant] of this.options.variants) {
      add(await startPointsman(name, await this.build(variant.checkout ?? '.'), variant, surroundings));
    }
    const held = started.move();
    return { list, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  /** Compiled once per run. */
  async build(checkout: string): Promise<Build> {
    const known = this.#builds.get(checkout) ?? (await buildPointsman(checkout));
    this.#builds.set(checkout, known);
    return known;
  }

  /** Measures each peer in each round, in an order that turns from round to round. */
  async inTurn(
    part: string,
    scene: string,
    peers: readonly Peer[],
    measure: (peer: Peer) => Promise<Figures>,
    rounds = this.options.rounds,
  ): Promise<readonly Sample[]> {
    const samples: Sample[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const first = round % Math.max(1, peers.length);
      for (const peer of [...peers.slice(first), ...peers.slice(0, first)]) {
        const figures = await measure(peer);
        for (const [metric, value] of Object.entries(figures))
          samples.push({ part, scene, metric, peer: peer.name, round, value });
      }
    }
    this.tell(`${part}, ${scene}: ${rounds} rounds`);
    return samples.toSorted((a, b) => order(peers, a) - order(peers, b));
  }

  tell(progress: string): void {
    console.error(`${new Date().toISOString().slice(11, 19)}  ${progress}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.load[Symbol.dispose]();
    for (const build of this.#builds.values()) build[Symbol.dispose]();
  }
}

export interface Peers extends AsyncDisposable {
  readonly list: readonly Peer[];
}

type Cores = readonly [proxies: string | undefined, others: string | undefined];

/** Apart: the last core is the proxies', the others are everybody else's. */
function coresFor(pin: BenchOptions['pin']): Cores {
  const last = availableParallelism() - 1;
  if (pin === 'none' || last === 0) return [undefined, undefined];
  return [String(last), pin === 'together' ? String(last) : `0-${last - 1}`];
}

function order(peers: readonly Peer[], { peer }: Sample): number {
  return peers.findIndex(({ name }) => name === peer);
}
