// Shared by the parts of the benchmark: the load program, the builds of Pointsman, the peers, and interleaved rounds.
import { availableParallelism } from 'node:os';
import { run } from './child.ts';
import { Load } from './load.ts';
import type { BenchOptions, FixedPeer, Variant } from './options.ts';
import { startFloor } from './peers/floor.ts';
import { startHaproxy } from './peers/haproxy.ts';
import { type Peer, type Surroundings, familyOfPeer } from './peers/peer.ts';
import { startPgbouncer } from './peers/pgbouncer.ts';
import { type Build, type BuiltAs, buildPointsman } from './peers/pointsman-build.ts';
import { startPointsman } from './peers/pointsman.ts';
import { residentKb, settledKb } from './processes.ts';
import type { Sample } from './sample.ts';

/** Values by metric, with the unit in the metric's name. */
export type Figures = Readonly<Record<string, number>>;

/** The name of the count of failures among a peer's figures. */
export const FAILED = 'failed';

export class Lab implements AsyncDisposable {
  readonly options: BenchOptions;
  readonly load: Load;
  readonly #builds = new Map<string, Build>();
  readonly #as: BuiltAs;

  private constructor(options: BenchOptions, load: Load, as: BuiltAs) {
    this.options = options;
    this.load = load;
    this.#as = as;
  }

  static async open(options: BenchOptions, as: BuiltAs = 'package'): Promise<Lab> {
    return new Lab(options, await Load.compile(), as);
  }

  /** Every requested peer except the excluded ones, before this backend. */
  async peers(backendPort: number, choice: Choice = {}): Promise<Peers> {
    const { without = [], variants = this.options.variants, user = 'bench' } = choice;
    const surroundings: Surroundings = { backendPort, user };
    const wanted = (name: FixedPeer): boolean => this.options.peers.includes(name) && !without.includes(name);
    await using started = new AsyncDisposableStack();
    const list: Peer[] = [];
    const add = (peer: Peer): void => void list.push(started.use(peer));
    if (wanted('direct'))
      add({ name: 'direct', port: backendPort, pid: undefined, [Symbol.asyncDispose]: async () => {} });
    if (wanted('haproxy')) add(await startHaproxy(surroundings));
    if (wanted('pgbouncer')) add(await startPgbouncer(surroundings));
    if (wanted('floor')) add(await startFloor(surroundings));
    for (const [name, variant] of variants) {
      add(await startPointsman(name, await this.build(variant.checkout ?? '.'), variant, surroundings));
    }
    const held = started.move();
    return { list, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  /**
   * Pins the proxies, the other side's processes, and the load program from now on; the command line may override it.
   */
  async place(how: Placement, peers: readonly Peer[], others: readonly number[] = []): Promise<void> {
    const [proxyCores, otherCores] = coresFor(this.options.pin === 'auto' ? how : this.options.pin);
    this.load.cores = otherCores;
    for (const pid of peers.flatMap(familyOfPeer)) await pin(pid, proxyCores);
    for (const pid of others) await pin(pid, otherCores);
  }

  /** Compiles a checkout once per run. */
  async build(checkout: string): Promise<Build> {
    const known = this.#builds.get(checkout) ?? (await buildPointsman(checkout, this.#as));
    this.#builds.set(checkout, known);
    return known;
  }

  /**
   * Measures each peer in each round, each time in another order: a peer changes the speed of the cores and the caches
   * for the peer behind it, which must not always be the same one.
   */
  async inTurn(
    part: string,
    scene: string,
    peers: readonly Peer[],
    measure: (peer: Peer) => Promise<Figures>,
    rounds = this.options.rounds,
  ): Promise<readonly Sample[]> {
    const samples: Sample[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      for (const peer of shuffled(peers)) {
        const figures = await measure(peer);
        const fault = faultOf(figures);
        if (fault !== undefined) throw new Error(`${part}, ${scene}, round ${round}: ${peer.name} ${fault}`);
        for (const [metric, value] of Object.entries(figures))
          samples.push({ part, scene, metric, peer: peer.name, round, value });
      }
    }
    this.tell(`${part}, ${scene}: ${rounds} rounds`);
    return samples.toSorted((a, b) => order(peers, a) - order(peers, b));
  }

  /** The resident memory of a peer, when it is stable. A quick look does not wait for that. */
  async memoryKb(peer: Peer): Promise<number> {
    const family = familyOfPeer(peer);
    return this.isQuickLook() ? residentKb(family) : await settledKb(family);
  }

  /** One round shows that everything works; its figures say little. */
  isQuickLook(): boolean {
    return this.options.rounds === 1;
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

interface Choice {
  readonly without?: readonly FixedPeer[];
  /** Used instead of the command line's variants. */
  readonly variants?: ReadonlyMap<string, Variant>;
  /** PgBouncer's login role. */
  readonly user?: string;
}

/** Apart: proxies on the last core, all else on the others. Together: everything on the last core. */
type Placement = Exclude<BenchOptions['pin'], 'auto'>;

function shuffled<T>(values: readonly T[]): readonly T[] {
  const drawn = values.map((value) => ({ value, at: Math.random() }));
  return drawn.toSorted((a, b) => a.at - b.at).map(({ value }) => value);
}

/** The cores as taskset lists them. */
function coresFor(how: Placement): readonly [proxies: string, others: string] {
  const last = availableParallelism() - 1;
  const all = `0-${last}`;
  if (how === 'none' || last === 0) return [all, all];
  return [String(last), how === 'together' ? String(last) : `0-${last - 1}`];
}

async function pin(pid: number, cores: string): Promise<void> {
  await run({ command: 'taskset', args: ['-a', '-c', '-p', cores, String(pid)] });
}

/** A figure of a peer that did no work, or in which something failed, compares nothing. */
function faultOf(figures: Figures): string | undefined {
  for (const [metric, value] of Object.entries(figures)) {
    if (metric === FAILED && value > 0) return `failed ${value} times`;
    if (!Number.isFinite(value) || (metric.endsWith('per s') && value <= 0))
      return `did no work: ${metric} is ${value}`;
  }
  return undefined;
}

function order(peers: readonly Peer[], { peer }: Sample): number {
  return peers.findIndex(({ name }) => name === peer);
}
