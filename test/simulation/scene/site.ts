// One host with a Pointsman on it. Another one may follow it there, or run beside it for a while. Sites share nothing.
import { SimulatedPointsman } from '../pointsman/simulated-pointsman.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import type { Host } from '../world/world.ts';
import { Wiretap } from '../world/wiretap.ts';
import { EvidenceWitness } from './evidence-witness.ts';
import type { Plan } from './plan.ts';
import type { Scene } from './scene.ts';

export const WRITE_PORT = 5000;
export const READ_PORT = 5001;
/** Shorter than the defaults, as the times of the cluster are. Milliseconds. */
export const WRITE_MAX_AGE_MS = 3_000;
export const READ_MAX_AGE_MS = 4_000;
export const SILENCE_GRACE_MS = 7_000;
export const PARK_MS = 8_000;
export const GRACE_MS = 1_000;
export const DRAIN_MS = 5_000;
/** Smaller than the default, as the databases are. */
export const MOST_LAG_BYTES = 4_096;
/** Sessions on a server that degraded reads may go to, where their number is limited. */
export const MOST_DEGRADED = 1;
/** As in the section `pools`. */
const READ_POLICIES = {
  usual: {},
  none: { fallback: 'none' },
  few: { fallback: { pool: 'write', max_sessions: MOST_DEGRADED } },
  'least lagging': { when_all_lagging: 'least_lagging', max_lagging_sessions: MOST_DEGRADED },
} as const satisfies Record<Plan['shape']['degradedReads'], unknown>;
const MOST_LATE_MS = 300;
/** Where transactions are rolled back: `moves.wait`. Milliseconds. */
const MOVE_WAIT_MS = 2_000;
/** Read sessions move then. */
const LEAVING_READS = { promoted: 'move', lagging: 'move', tagged_out: 'move', fallback_over: 'move' };

type File = Readonly<Record<string, unknown>>;

export class Site {
  readonly host: Host;
  readonly wiretap: Wiretap;
  readonly #scene: Scene;
  #pointsman: SimulatedPointsman;

  constructor(scene: Scene, index: number) {
    this.#scene = scene;
    const name = index === 0 ? 'pointsman' : `pointsman-${index + 1}`;
    this.host = scene.world.network.host(name, `10.0.0.${201 + index}`);
    this.host.wiretap = this.wiretap = new Wiretap(scene.world.now);
    if (scene.plan.shape.isBusy) this.host.isBusyUpTo(MOST_LATE_MS);
    this.#pointsman = this.start();
  }

  /** The one that was started last. */
  get pointsman(): SimulatedPointsman {
    return this.#pointsman;
  }

  start(): SimulatedPointsman {
    const { world, plan, cluster, witnesses, pointsmen, events, found, observer } = this.#scene;
    const { shape } = plan;
    const run = pointsmen.length;
    const witness = new EvidenceWitness(this.host.clock, {
      systemIdentifier: cluster.systemIdentifier,
      writeMaxAgeMs: WRITE_MAX_AGE_MS,
      silenceGraceMs: SILENCE_GRACE_MS,
      delayMs: shape.workers > 1 ? 20 : 0,
      vouching: shape.vouching,
      asksByStartup: shape.moves === 'always',
    });
    witnesses.push(witness);
    this.#pointsman = new SimulatedPointsman({
      world,
      host: this.host,
      file: this.#file(),
      witness: {
        answered: (request, askedAt, result) => {
          witness.answered(request, askedAt, result);
          observer.answered(run, request, this.host.clock.now() - askedAt, result);
        },
        sent: (to, bytes) => {
          witness.sent(to, bytes);
          observer.sent(run, to.address, bytes);
        },
      },
      onEvent: (event) => {
        events.push({ at: world.now(), run, event });
        world.note(() => `pointsman ${run}: ${shortly(event)}`);
      },
    });
    pointsmen.push(this.#pointsman);
    void this.#pointsman
      .start()
      .catch((error: unknown) => found.push(`pointsman ${run} cannot start: ${String(error)}`));
    return this.#pointsman;
  }

  /** SIGHUP with a file that differs. `choice`: any number; undefined: the file of the start. */
  reload(choice: number | undefined): void {
    const pointsman = this.#pointsman;
    const file = this.#file();
    const changes = changesOf(file);
    const change = choice === undefined ? {} : changes[choice % changes.length];
    // A process that stands still takes the signal afterwards.
    this.host.soon(() => void pointsman.reload({ ...file, ...change }));
  }

  #file(): File {
    const { cluster, plan } = this.#scene;
    const { moves, onStays, workers, vouching, holdMs, readsByTag, degradedReads } = plan.shape;
    const isAborting = moves !== 'off' && onStays === 'abort';
    const check = `/replica?lag=${MOST_LAG_BYTES}B${readsByTag ? '&tag_reads=yes' : ''}`;
    const { address } = this.host;
    return {
      cluster: {
        scope: cluster.scope,
        seeds: cluster.members.map(({ host }) => `http://${host.address}:8008`),
      },
      relay: 'streams',
      workers,
      probe: {
        vouching,
        write_max_age: `${WRITE_MAX_AGE_MS}ms`,
        read_max_age: `${READ_MAX_AGE_MS}ms`,
        silence_grace: `${SILENCE_GRACE_MS}ms`,
        urgent: { for: '5s' },
      },
      pools: { read: { check, ...READ_POLICIES[degradedReads], ...(isAborting && { on_leave: LEAVING_READS }) } },
      hold: { client_timeout: `${holdMs}ms`, outage_timeout: '20s' },
      backend: { tcp_keepalives_idle: '5s' },
      client: { tcp_keepalives_idle: '5s' },
      shutdown: { grace: `${GRACE_MS}ms`, drain_timeout: `${DRAIN_MS}ms` },
      listeners: [
        { address: `${address}:${WRITE_PORT}`, pool: 'write', ...(workers === 1 && { reuse_port: true }) },
        { address: `${address}:${READ_PORT}`, pool: 'read', ...(workers === 1 && { reuse_port: true }) },
      ],
      ...(moves !== 'off' && {
        moves: {
          mode: moves,
          roles: ['*'],
          park_timeout: `${PARK_MS}ms`,
          ...(isAborting && { on_stays: 'abort', wait: `${MOVE_WAIT_MS}ms` }),
        },
      }),
    };
  }
}

/** One of them cannot be used. A section that is undefined is not there. */
function changesOf({ client, cluster, listeners, pools }: File): readonly File[] {
  return [
    { probe: { interval: 'soon' } },
    { client: { ...Object(client), max_sessions: 3 } },
    { pools: { read: { ...Object(Object(pools).read), check: '/replica?lag=1kB' } } },
    { cluster: { ...Object(cluster), allow: { networks: ['192.168.0.0/16'] } } },
    { listeners: [...Array.from(Object(listeners)), { address: '127.0.0.1:5002', pool: 'read' }] },
    { moves: undefined },
  ];
}

function shortly(event: ReportedEvent): string {
  const fields = Object.entries(event).filter(
    ([key, value]) => value !== undefined && key !== 'text' && key !== 'client',
  );
  const words = fields.map(([key, value]) => (typeof value === 'string' ? `${key}=${value}` : jsonOf(key, value)));
  return words.join(' ').replace('kind=', '');
}

function jsonOf(key: string, value: unknown): string {
  return `${key}=${JSON.stringify(value, rounded)}`;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? +value.toFixed(1) : value;
}
