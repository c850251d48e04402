// A stand-in for the kubelet, for one pod. It plays the order and the timings: init containers with restartPolicy
// Always as sidecars (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/), probes, restarts,
// preStop hooks that sleep, SIGTERM to the application first, and one grace period for all. Processes are real. There
// are no images, no cgroups, and no network of the pod's own.
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, PodSpec, Probe } from './manifests.ts';
import { waitUntil } from '../waiting/wait.ts';

/** A container's process. */
export interface Played {
  readonly signal: (name: NodeJS.Signals) => void;
  /** The exit code, or the signal's name. */
  readonly exited: () => Promise<number | string>;
  /** Whether a GET of the probe's path was answered with success within its time. */
  readonly succeeds: (probe: Probe) => Promise<boolean>;
}

export interface PodEvent {
  readonly container: string;
  readonly what:
    | 'started'
    | 'startup-failed'
    | 'started-up'
    | 'ready'
    | 'unready'
    | 'not-alive'
    | 'pre-stop'
    | 'told-to-end'
    | 'killed'
    | 'exited';
  /** The code of `exited`. */
  readonly code?: number | string;
}

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface Running {
  readonly container: Container;
  readonly played: Played;
  /** Aborted when the process has exited. */
  readonly life: AbortController;
}

/** The least time of a container when its turn to end comes (minimumGracePeriodInSeconds of the kubelet). */
const LEAST_GRACE_SECONDS = 2;
const MOST_RESTARTS = 3;

export class PlayedPod {
  readonly events: PodEvent[] = [];
  phase: Phase = 'Pending';
  readonly #spec: PodSpec;
  readonly #launch: (container: Container) => Promise<Played>;
  readonly #running = new Map<string, Running>();
  readonly #ready = new Set<string>();
  readonly #codes = new Map<string, number | string>();
  #isEnding = false;
  #restarts = 0;
  readonly #ended = Promise.withResolvers<Phase>();

  constructor(spec: PodSpec, launch: (container: Container) => Promise<Played>) {
    this.#spec = spec;
    this.#launch = launch;
  }

  /** Resolves when the application has been started; that is when every sidecar's startup probe has succeeded. */
  async start(): Promise<void> {
    for (const sidecar of this.#spec.initContainers) {
      if (sidecar.restartPolicy !== 'Always') throw new Error(`${sidecar.name}: only sidecars are played`);
      await this.#begin(sidecar);
      await this.#startedUp(sidecar.name);
    }
    for (const container of this.#spec.containers) await this.#begin(container);
    this.phase = 'Running';
  }

  /** As `kubectl delete pod`: every container is told to end, in order. */
  async delete(): Promise<void> {
    this.#isEnding = true;
    const { containers, initContainers } = this.#spec;
    await this.#endAll([...containers, ...initContainers]);
  }

  /** Resolves when everything in a pod that is not restarted has ended. */
  ended(): Promise<Phase> {
    return this.#ended.promise;
  }

  isReady(): boolean {
    const { containers, initContainers } = this.#spec;
    return [...initContainers, ...containers].every(
      ({ name, readinessProbe }) => this.#running.has(name) && (readinessProbe === undefined || this.#ready.has(name)),
    );
  }

  /** For a process that is hurt from outside. */
  process(name: string): Played {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`${name} does not run`);
    return running.played;
  }

  /** Kills every process that still runs, at once; for the end of a test. */
  async remove(): Promise<void> {
    this.#isEnding = true;
    const left = [...this.#running.values()];
    for (const { played } of left) played.signal('SIGKILL');
    await Promise.all(left.map(({ played }) => played.exited()));
  }

  /** `told-to-end pointsman`, in order; for comparing. */
  told(...whats: readonly PodEvent['what'][]): readonly string[] {
    return this.events
      .filter(({ what }) => whats.includes(what))
      .map(({ what, container, code }) => [what, container, code].filter((part) => part !== undefined).join(' '));
  }

  #tell(event: PodEvent): void {
    this.events.push(event);
  }

  async #begin(container: Container): Promise<void> {
    const played = await this.#launch(container);
    const running: Running = { container, played, life: new AbortController() };
    this.#running.set(container.name, running);
    this.#tell({ container: container.name, what: 'started' });
    void played.exited().then((code) => this.#onExit(running, code));
    void this.#probe(running);
  }

  async #startedUp(name: string): Promise<void> {
    const isUp = () => this.events.some(({ container, what }) => container === name && what === 'started-up');
    const { periodSeconds = 0, failureThreshold = 0 } = this.#running.get(name)?.container.startupProbe ?? {};
    const timeoutMs = (periodSeconds * failureThreshold + 60) * 1000;
    await waitUntil(`${name} started up`, () => Promise.resolve(isUp() || this.#isEnding), { timeoutMs });
  }

  /** Startup first; readiness and liveness only when that has succeeded. */
  async #probe({ container, played, life }: Running): Promise<void> {
    const { name, startupProbe, readinessProbe, livenessProbe } = container;
    const isOver = () => life.signal.aborted;
    const asked = async (probe: Probe, act: (isGood: boolean, failures: number) => 'done' | 'again'): Promise<void> => {
      for (let failures = 0; !isOver();) {
        const isGood = await played.succeeds(probe);
        failures = isGood ? 0 : failures + 1;
        if (isOver() || act(isGood, failures) === 'done') return;
        await delay(probe.periodSeconds * 1000, undefined, { signal: life.signal }).catch(() => undefined);
      }
    };
    const giveUp = (): 'done' => {
      this.#tell({ container: name, what: 'not-alive' });
      played.signal('SIGTERM');
      return 'done';
    };
    if (startupProbe !== undefined) {
      await asked(startupProbe, (isGood, failures) => {
        this.#tell({ container: name, what: isGood ? 'started-up' : 'startup-failed' });
        if (isGood) return 'done';
        return failures < startupProbe.failureThreshold ? 'again' : giveUp();
      });
    }
    const judgeReadiness = (probe: Probe) => (isGood: boolean, failures: number) => {
      const isOut = failures >= probe.failureThreshold;
      if (isGood && !this.#ready.has(name)) this.#tell({ container: name, what: 'ready' });
      if (isGood) this.#ready.add(name);
      if (isOut && this.#ready.delete(name)) this.#tell({ container: name, what: 'unready' });
      return 'again' as const;
    };
    const judgeLiveness = (probe: Probe) => (_: boolean, failures: number) =>
      failures < probe.failureThreshold ? 'again' : giveUp();
    await Promise.all([
      readinessProbe && asked(readinessProbe, judgeReadiness(readinessProbe)),
      livenessProbe && asked(livenessProbe, judgeLiveness(livenessProbe)),
    ]);
  }

  async #onExit({ container, life }: Running, code: number | string): Promise<void> {
    const { name } = container;
    life.abort();
    this.#running.delete(name);
    this.#ready.delete(name);
    this.#codes.set(name, code);
    this.#tell({ container: name, what: 'exited', code });
    if (this.#isEnding) return;
    const isSidecar = this.#spec.initContainers.includes(container);
    if (isSidecar || this.#spec.restartPolicy === 'Always') {
      if (this.#restarts++ < MOST_RESTARTS) await this.#begin(container);
      return;
    }
    if (this.#spec.containers.some((one) => this.#running.has(one.name))) return;
    // Only its own containers keep a Job from completing.
    this.#isEnding = true;
    await this.#endAll(this.#spec.initContainers);
    const isWell = this.#spec.containers.every((one) => this.#codes.get(one.name) === 0);
    this.phase = isWell ? 'Succeeded' : 'Failed';
    this.#ended.resolve(this.phase);
  }

  /** One grace period for all. A sidecar's turn comes when the application and every later sidecar have exited. */
  async #endAll(containers: readonly Container[]): Promise<void> {
    const began = performance.now();
    const { initContainers, terminationGracePeriodSeconds } = this.#spec;
    const leftSeconds = () => terminationGracePeriodSeconds - (performance.now() - began) / 1000;
    const gone = new Map(containers.map((container) => [container, Promise.withResolvers<void>()] as const));
    const turnOf = (container: Container): Promise<unknown> => {
      const place = initContainers.indexOf(container);
      const before =
        place === -1 ? [] : containers.filter((one) => one !== container && initContainers.indexOf(one) > place);
      const application = place === -1 ? [] : containers.filter((one) => !initContainers.includes(one));
      return Promise.all([...before, ...application].map(async (container) => await gone.get(container)?.promise));
    };
    await Promise.all(
      containers.map(async (container) => {
        await this.#endOne(container, turnOf(container), leftSeconds);
        gone.get(container)?.resolve();
      }),
    );
  }

  async #endOne({ name, lifecycle }: Container, turn: Promise<unknown>, leftSeconds: () => number): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) return;
    const { played, life } = running;
    const atMost = (seconds: number) =>
      delay(Math.max(0, seconds) * 1000, undefined, { signal: life.signal }).catch(() => undefined);
    if (lifecycle !== undefined) {
      this.#tell({ container: name, what: 'pre-stop' });
      await atMost(Math.min(lifecycle.preStop.sleep.seconds, leftSeconds()));
    }
    await Promise.race([turn, atMost(leftSeconds())]);
    this.#tell({ container: name, what: 'told-to-end' });
    played.signal('SIGTERM');
    await Promise.race([played.exited(), atMost(Math.max(LEAST_GRACE_SECONDS, leftSeconds()))]);
    if (this.#running.has(name)) {
      this.#tell({ container: name, what: 'killed' });
      played.signal('SIGKILL');
    }
    await played.exited();
  }
}
