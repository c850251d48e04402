// The manager of one member, as Patroni works (ha.py): a loop that reads the store, keeps or takes the leader lock,
// and starts, stops, promotes and rewinds its PostgreSQL. It acts on what it last saw, which may be old.
import { Program } from '../postgres/program.ts';
import type { PostgresServer } from '../postgres/server.ts';
import type { Random } from '../world/random.ts';
import type { Host } from '../world/world.ts';
import { ApiServer } from './api-server.ts';
import { isHealthiest, mayStand, type PeerAnswer } from './election.ts';
import type { ManagerView } from './node-document.ts';
import { memberKey, ownState } from './own-state.ts';
import { peerAnswers } from './peer-answers.ts';
import { ServerControl } from './server-control.ts';
import { StoreClient } from './store-service.ts';
import type { ClusterConfig, StoreView, Tags } from './store.ts';
import { SynchronousMode } from './synchronous-mode.ts';

export interface ManagerOptions {
  readonly name: string;
  readonly scope: string;
  readonly host: Host;
  readonly apiPort: number;
  readonly server: PostgresServer;
  readonly storeAddress: string;
  readonly config: ClusterConfig;
  readonly tags: Tags;
  readonly random: Random;
  /** For pg_rewind. Undefined: it cannot be reached. */
  readonly serverOf: (name: string) => PostgresServer | undefined;
  readonly note: (line: string) => void;
}

const VERSION = '4.1.4';
const MOST_LOOPS_OF_ORDER = 3;

/** By the words of the server that it wants to follow: waiting does not help. */
function isDiverged(refusal: string | undefined): boolean {
  return refusal !== undefined && /history|ahead|prev-link/.test(refusal);
}

export class Manager {
  readonly api: ApiServer;
  /** As of its configuration file. */
  tags: Tags;
  readonly #options: ManagerOptions;
  readonly #server: PostgresServer;
  #program: Program;
  #store: StoreClient;
  #control: ServerControl;
  #synchronous: SynchronousMode;
  #view: StoreView | undefined;
  #storeSeenAt = 0;
  /** By the wall clock. */
  #leaderUntil = 0;
  #loopAt = 0;
  #promotedTo = 0;
  /** In so many loops without a leader there was an order. */
  #orderSeen = 0;
  #wake: () => void = () => {};

  /** Something else has its ports: nobody can start it there. */
  isAway = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.tags = options.tags;
    this.#server = options.server;
    const life = this.#newLife();
    [this.#program, this.#store, this.#control, this.#synchronous] = life;
    this.#program.end();
    this.api = new ApiServer({ host: options.host, port: options.apiPort, actions: this });
  }

  isRunning(): boolean {
    return !this.#program.isOver();
  }

  isFrozen(): boolean {
    return this.#program.isStopped();
  }

  /** The process begins. */
  start(): void {
    if (this.isAway) return;
    this.#program.end();
    [this.#program, this.#store, this.#control, this.#synchronous] = this.#newLife();
    this.#view = undefined;
    this.#leaderUntil = 0;
    this.api.start(this.#program);
    void this.#loop();
  }

  /** In a cluster that has run before: the member holds the lock. */
  startAsLeader(): void {
    this.start();
    this.#leads();
  }

  kill(): void {
    if (this.#program.isOver()) return;
    this.#note('the manager is killed');
    this.#program.end();
    this.api.close();
  }

  freeze(): void {
    this.#note('the manager is frozen');
    this.#program.stop();
  }

  thaw(): void {
    if (!this.#program.isStopped()) return;
    this.#note('the manager goes on');
    this.#program.goOn();
  }

  // For the API

  program(): Program {
    return this.#program;
  }

  store(): StoreClient {
    return this.#store;
  }

  view(): ManagerView {
    const { name, scope, host } = this.#options;
    const { tags } = this;
    const view = this.#view;
    return {
      name,
      scope,
      version: VERSION,
      server: this.#server,
      task: this.#control.task(),
      role: this.#control.role,
      isLeader: host.wallClock() < this.#leaderUntil,
      view,
      storeSeenAt: this.#storeSeenAt,
      tags,
      isStandbySynchronous: view?.config.synchronous_mode === true && view.sync?.standby === name,
    };
  }

  /** /liveness: the loop runs. */
  isAlive(): boolean {
    const { ttl } = this.#config();
    const limitMs = (this.#server.isInRecovery() ? 2 : 1) * ttl * 1_000;
    return this.#config().pause === true || this.#options.host.wallClock() - this.#loopAt < limitMs;
  }

  /** POST /restart. Resolves when PostgreSQL runs again. */
  async restart(): Promise<boolean> {
    if (this.#control.task() !== undefined) return false;
    this.#note('restarts PostgreSQL');
    await this.#control.restart();
    return true;
  }

  wakeUp(): void {
    this.#wake();
  }

  // Within

  #newLife(): [Program, StoreClient, ServerControl, SynchronousMode] {
    const { name, host, storeAddress } = this.#options;
    const program = new Program(host.clock);
    const store = new StoreClient(host, storeAddress, program);
    const control = new ServerControl(this.#server, program, () => this.wakeUp());
    return [program, store, control, new SynchronousMode(name, this.#server, store)];
  }

  #identity(): ManagerOptions {
    return { ...this.#options, tags: this.tags };
  }

  #config(): ClusterConfig {
    return this.#view?.config ?? this.#options.config;
  }

  #note(line: string): void {
    this.#options.note(`${this.#options.name}: ${line}`);
  }

  #leads(): void {
    this.#leaderUntil = this.#options.host.wallClock() + this.#config().ttl * 1_000;
  }

  /** Ends with its program, in the middle of a wait. */
  async #loop(): Promise<never> {
    for (;;) {
      await this.#cycle();
      this.#loopAt = this.#options.host.wallClock();
      const waitMs = this.#config().loop_wait * 1_000;
      const timer = Promise.withResolvers<void>();
      this.#wake = timer.resolve;
      const cancel = this.#program.schedule(waitMs, timer.resolve);
      const watch = this.#view === undefined ? undefined : this.#store.watch(this.#view.version, waitMs);
      void watch?.then((version) => version !== undefined && timer.resolve());
      await timer.promise;
      cancel();
      await this.#program.turn();
    }
  }

  #storeMs(): number {
    return this.#config().retry_timeout * 1_000;
  }

  async #cycle(): Promise<void> {
    const view = await this.#store.read(this.#storeMs());
    if (view === undefined) return this.#withoutStore();
    this.#view = view;
    this.#storeSeenAt = this.#options.host.wallClock() / 1_000;
    const ttlMs = view.config.ttl * 1_000;
    if (
      (await this.#store.touch(memberKey(this.api.document(), this.#identity()), ttlMs, this.#storeMs())) === undefined
    )
      return this.#withoutStore();
    const { name } = this.#options;
    if (this.#control.task() !== undefined) return view.leader === name ? this.#renew(view) : undefined;
    if (view.leader === name) return this.#lead(view);
    this.#leaderUntil = 0;
    return view.leader === undefined ? this.#race(view) : this.#followLeader(view, view.leader);
  }

  /** A primary must not go on without the store. */
  async #withoutStore(): Promise<void> {
    if (this.#config().pause === true || this.#server.isInRecovery() || this.#control.task() !== undefined) return;
    await this.#demote('the store does not answer');
  }

  async #lead(view: StoreView): Promise<void> {
    const state = this.#server.state();
    const isDown = this.#control.isDown();
    if (isDown && view.config.pause === true) {
      this.#note('gives the lock back: PostgreSQL does not run');
      await this.#store.release(this.#options.name, undefined, this.#storeMs());
      this.#leaderUntil = 0;
      return;
    }
    if (await this.#isToldToLeave(view)) return this.#handOver();
    await this.#renew(view);
    if (this.#leaderUntil === 0 || !this.isRunning()) return;
    if (isDown) {
      this.#note('holds the lock, and starts PostgreSQL again');
      void this.#control.during('starting', () => this.#control.start(true));
    } else if (state === 'standby') this.#promote(view);
    else if (state === 'primary') await this.#tellTheStore(view);
  }

  async #renew({ config }: StoreView): Promise<void> {
    const ttlMs = config.ttl * 1_000;
    const isRenewed = await this.#store.renew(this.#options.name, ttlMs, this.#server.wal.flushed(), this.#storeMs());
    if (isRenewed === true) return this.#leads();
    if (isRenewed === undefined) return this.#withoutStore();
    this.#leaderUntil = 0;
    if (this.#control.task() === undefined && !this.#server.isInRecovery()) await this.#demote('it has lost the lock');
    return undefined;
  }

  async #isToldToLeave({ failover }: StoreView): Promise<boolean> {
    const { name, host } = this.#options;
    if (failover === undefined || (failover.at !== undefined && failover.at > host.wallClock())) return false;
    const isFitting = (failover.leader ?? name) === name && failover.candidate !== name;
    if (isFitting && this.#server.state() === 'primary') {
      const peers = await this.#askPeers(failover.candidate);
      if (peers.some(({ isRunning, isNoFailover }) => isRunning && !isNoFailover)) return true;
      this.#note('no candidate can take over');
    }
    await this.#store.order(undefined, this.#storeMs());
    return false;
  }

  /** A switchover: the lock is given away when PostgreSQL has stopped, and has sent the standbys everything. */
  #handOver(): void {
    this.#note('hands over: stops PostgreSQL, and keeps the lock until then');
    void this.#control.during('stopping', async () => {
      await this.#control.stop();
      this.#control.role = 'demoted';
      await this.#store.release(this.#options.name, this.#server.wal.flushed(), this.#storeMs());
      this.#leaderUntil = 0;
      await this.#program.pause(this.#options.random.between(500, 1_500));
      this.#server.follow(undefined);
      await this.#control.start(false);
    });
  }

  /** Stops PostgreSQL at once, and has it start as a standby. */
  async #demote(why: string): Promise<void> {
    this.#note(`demotes PostgreSQL: ${why}`);
    await this.#control.during('stopping', async () => {
      await this.#control.stop();
      this.#leaderUntil = 0;
      this.#control.role = 'demoted';
      this.#server.follow(undefined);
      await this.#control.start(false);
    });
  }

  async #race(view: StoreView): Promise<void> {
    const own = ownState(this.#identity());
    const stands = mayStand(own, view, this.#options.host.wallClock());
    const candidacy = stands.kind === 'stand' ? isHealthiest(own, await this.#askPeers(), view) : stands;
    if (candidacy.kind === 'yield') {
      if (own.isPrimary && own.isRunning && view.config.pause !== true) return this.#demote(candidacy.why);
      this.#reviveUnlessPaused(view);
      return this.#forgetOldOrder(view);
    }
    const ttlMs = view.config.ttl * 1_000;
    if ((await this.#store.acquire(this.#options.name, ttlMs, this.#storeMs())) !== true) return this.wakeUp();
    this.#leads();
    this.#note('takes the leader lock');
    if (view.failover !== undefined) await this.#store.order(undefined, this.#storeMs());
    const isReady = own.isPrimary || (await this.#synchronous.begin(view.config, this.#storeMs()));
    if (!isReady) return undefined;
    if (!own.isPrimary) this.#promote(view);
    return undefined;
  }

  /** An order that nobody can follow must not keep the cluster without a leader. */
  async #forgetOldOrder({ failover }: StoreView): Promise<void> {
    this.#orderSeen = failover === undefined || failover.at !== undefined ? 0 : this.#orderSeen + 1;
    if (this.#orderSeen > MOST_LOOPS_OF_ORDER) await this.#store.order(undefined, this.#storeMs());
  }

  #promote({ history }: StoreView): void {
    if (this.#server.state() !== 'standby') return;
    this.#control.role = 'promoted';
    this.#note('promotes PostgreSQL');
    this.#server.promote((history.at(-1)?.timeline ?? 0) + 1, () => this.#program.run(() => this.wakeUp()));
  }

  async #followLeader(view: StoreView, leader: string): Promise<void> {
    if (this.#server.state() === 'primary') {
      if (view.config.pause === true) return;
      await this.#demote(`${leader} has the lock`);
      return;
    }
    this.#control.role = 'replica';
    this.#reviveUnlessPaused(view);
    const member = view.members.find(({ name }) => name === leader);
    if (member !== undefined) this.#server.follow({ address: member.host, port: member.port });
    if (!isDiverged(this.#server.streamRefusal()) || this.#server.state() !== 'standby') return;
    this.#note(`rewinds PostgreSQL to the history of ${leader}`);
    const { serverOf, random } = this.#options;
    void this.#control.rewind(serverOf(leader), random.between(300, 1_500));
  }

  /** In pause a server that was stopped stays stopped. */
  #reviveUnlessPaused({ config }: StoreView): void {
    if (!this.#control.isDown() || config.pause === true) return;
    void this.#control.during('starting', () => this.#control.start(false));
  }

  async #tellTheStore(view: StoreView): Promise<void> {
    const timeline = this.#server.timeline();
    this.#control.role = 'primary';
    if (timeline > 1 && this.#promotedTo !== timeline) {
      const entries = this.#server.wal.forks();
      if ((await this.#store.writeHistory(entries, this.#storeMs())) === null) this.#promotedTo = timeline;
    }
    await this.#synchronous.adjust(view, this.#storeMs());
  }

  /** `one`: this member alone. */
  async #askPeers(one?: string): Promise<readonly PeerAnswer[]> {
    const { name, host } = this.#options;
    const others = (this.#view?.members ?? []).filter(
      (member) => member.name !== name && (one ?? member.name) === member.name,
    );
    const answers = await peerAnswers(host, others);
    await this.#program.turn();
    return answers;
  }
}
