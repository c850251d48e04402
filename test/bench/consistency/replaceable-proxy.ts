// Pointsman on ports that stay: it can be killed, started anew, frozen, and replaced by another process beside it.
import { freeze } from '../../support/processes/freeze.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';

export interface ProxyPorts {
  readonly write: number;
  readonly read: number;
}

/** The listeners are the caller's to configure: `reuse_port`, and these ports; 0: any free one. */
export type StartProxy = (ports: ProxyPorts) => Promise<PointsmanProcess>;

export class ReplaceableProxy {
  readonly ports: ProxyPorts;
  readonly #start: StartProxy;
  readonly #moves = new Map(['moved', 'failed', 'stayed'].map((result) => [result, 0]));
  readonly #log: string[] = [];
  readonly #isLogged = new WeakSet<PointsmanProcess>();
  #current: PointsmanProcess;

  private constructor(start: StartProxy, first: PointsmanProcess, ports: ProxyPorts) {
    this.#start = start;
    this.#current = first;
    this.ports = ports;
  }

  static async open(start: StartProxy): Promise<ReplaceableProxy> {
    const first = await start({ write: 0, read: 0 });
    await first.waitUntilReady();
    return new ReplaceableProxy(start, first, { write: await first.port('write'), read: await first.port('read') });
  }

  get current(): PointsmanProcess {
    return this.#current;
  }

  /** Without a warning. */
  async kill(): Promise<void> {
    await this.#takeMoves();
    await this.#end();
  }

  async launch(): Promise<void> {
    this.#current = await this.#start(this.ports);
    await this.#current.waitUntilReady();
  }

  /** As an upgrade: the next one listens beside it, and then it ends by itself. */
  async replace(): Promise<void> {
    const before = this.#current;
    await this.launch();
    await this.#takeMoves(before);
    before.signal('SIGTERM');
    await before.exited();
    await this.#end(before);
  }

  freeze(): void {
    freeze(this.#current.pid);
  }

  thaw(): void {
    this.#current.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#end();
  }

  /** Live sessions that were moved, by result; those of a process that ended are counted up to its end. */
  async moves(): Promise<ReadonlyMap<string, number>> {
    await this.#takeMoves();
    return this.#moves;
  }

  log(): readonly string[] {
    return this.#isLogged.has(this.#current) ? this.#log : [...this.#log, ...linesOf(this.#current)];
  }

  async #takeMoves(of = this.#current): Promise<void> {
    const { text } = await of.admin('/metrics');
    for (const [, result = '', count] of text.matchAll(/^pointsman_moves_total\{.*result="(\w+)".*\} (\d+)$/gm)) {
      this.#moves.set(result, (this.#moves.get(result) ?? 0) + Number(count));
    }
  }

  async #end(ending = this.#current): Promise<void> {
    await ending.stop();
    if (!this.#isLogged.has(ending)) this.#log.push(...linesOf(ending));
    this.#isLogged.add(ending);
  }
}

function linesOf({ lines }: PointsmanProcess): readonly string[] {
  return lines.map((line) => JSON.stringify(line));
}
