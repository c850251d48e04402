// Notes the truth while a history runs: the place of each server in its log, the answers of APIs, and how each session
// began. It asks nobody over the network, and changes nothing.
import type { HttpResult, Request } from '../../../src/patroni/http.ts';
import type { Route } from '../../../src/core/routing-table.ts';
import type { SimulatedCluster } from '../cluster/cluster.ts';
import { withoutLockFor } from '../cluster/verdict.ts';
import type { SimulatedPointsman } from '../pointsman/simulated-pointsman.ts';
import type { World } from '../world/world.ts';

/** An API has answered one Pointsman, or has not. Times are the true ones. */
export interface ApiAnswer {
  readonly run: number;
  readonly host: string;
  /** Undefined: no member has that address then. */
  readonly member: string | undefined;
  readonly path: string;
  readonly askedAt: number;
  readonly at: number;
  readonly result: HttpResult;
}

/** A startup packet of a client goes to a server. */
export interface Opening {
  readonly run: number;
  readonly at: number;
  readonly host: string;
  readonly member: string | undefined;
  /** `r1-4` */
  readonly session: string;
  readonly server: Place | undefined;
}

/** Where a server is in its log. */
export interface Place {
  readonly isInRecovery: boolean;
  readonly timeline: number;
  /** The end of a primary's log on disk; what a standby has replayed. Bytes. */
  readonly position: number;
}

/** A write, or the startup packet of a writer, goes to a member without the leader lock. */
export interface Stray {
  readonly at: number;
  readonly member: string;
  readonly session: string;
  /** Since its last lease ended, or it last lied. Milliseconds. */
  readonly afterMs: number;
  readonly isOpening: boolean;
}

export interface LastRoute {
  readonly run: number;
  readonly pool: string;
  readonly route: Route | undefined;
}

export interface Sample {
  readonly at: number;
  /** The holder of the lock. Undefined: nobody takes writes. */
  readonly primary: (Place & { readonly name: string }) | undefined;
}

const EACH_MS = 100;
const WRITES = /INSERT INTO writes|SELECT transfer\(|^COMMIT/;
/** A startup packet of protocol 3.0 begins so, behind its length. */
const PROTOCOL_3 = '\0\u0003\0\0';

export class Observer {
  readonly answers: ApiAnswer[] = [];
  readonly openings: Opening[] = [];
  readonly samples: Sample[] = [];
  readonly strays: Stray[] = [];
  /** At the end of the quiet time. */
  readonly lastRoutes: LastRoute[] = [];
  /** The members that could serve reads then. */
  readonly served = new Set<string>();
  /** Members are believed about themselves. */
  readonly #liedAt = new Map<string, number>();
  readonly #world: World;
  readonly #cluster: SimulatedCluster;

  constructor(world: World, cluster: SimulatedCluster) {
    this.#world = world;
    this.#cluster = cluster;
  }

  start(): void {
    const { now, schedule } = this.#world;
    const member = this.#cluster.primary();
    this.samples.push({ at: now(), primary: member && { name: member.name, ...placeOf(member) } });
    for (const member of this.#cluster.members) if (lies(member)) this.#liedAt.set(member.name, now());
    schedule(EACH_MS, () => this.start());
  }

  /** After the quiet time. */
  end(pointsmen: readonly SimulatedPointsman[]): void {
    for (const { name, server } of this.#cluster.members) {
      if (server.state() === 'primary' || server.state() === 'standby') this.served.add(name);
    }
    for (const [run, pointsman] of pointsmen.entries()) {
      if (pointsman.isKilled || pointsman.drainedAt !== undefined || hasLostAll(pointsman, this.#cluster)) continue;
      const { pools } = pointsman.parts.monitor.table();
      for (const [pool, { route }] of pools) this.lastRoutes.push({ run, pool, route });
    }
  }

  answered(run: number, { api, path }: Request, tookMs: number, result: HttpResult): void {
    const at = this.#world.now();
    const { host } = api.address;
    this.answers.push({ run, host, member: this.#memberAt(host)?.name, path, askedAt: at - tookMs, at, result });
  }

  sent(run: number, host: string, bytes: Uint8Array): void {
    const text = Buffer.from(bytes).toString('latin1');
    if (WRITES.test(text)) this.#strays(host, '', false);
    const session = text.startsWith(PROTOCOL_3, 4) ? /app\.session=([\w-]+)/.exec(text)?.[1] : undefined;
    if (session === undefined) return;
    const member = this.#memberAt(host);
    const server = member && placeOf(member);
    if (session.startsWith('w')) this.#strays(host, session, true);
    this.openings.push({ run, at: this.#world.now(), host, member: member?.name, session, server });
  }

  #strays(host: string, session: string, isOpening: boolean): void {
    const found = this.#memberAt(host);
    const at = this.#world.now();
    if (found === undefined || lies(found)) return;
    const member = found.name;
    const withoutLockMs = withoutLockFor(member, at, this.#cluster.store.leases());
    const afterMs = Math.min(withoutLockMs, at - (this.#liedAt.get(member) ?? -Infinity));
    if (afterMs > 0) this.strays.push({ at, member, session, afterMs, isOpening });
  }

  #memberAt(host: string): SimulatedCluster['members'][number] | undefined {
    return this.#cluster.members.find((one) => one.host.address === host);
  }
}

/** Every member has another address than it knows, so nobody can tell it the new ones. */
export function hasLostAll(pointsman: SimulatedPointsman, { members }: SimulatedCluster): boolean {
  const contacts = pointsman.contacts();
  return !members.some(({ host }) => contacts.has(host.address));
}

/** A manager takes its lease for a time of its wall clock, as Patroni does: a clock that goes back makes it longer. */
function lies({ manager, host }: SimulatedCluster['members'][number]): boolean {
  return manager.api.fault?.kind === 'lie' || (host.steppedByMs < 0 && manager.view().isLeader);
}

function placeOf({ server }: SimulatedCluster['members'][number]): Place {
  const isInRecovery = server.isInRecovery();
  const position = isInRecovery ? server.position() : server.wal.flushed();
  return { isInRecovery, timeline: server.timeline(), position };
}
