// One member's manager: its heartbeat, its PostgreSQL server, and at most one task beside them. decide.ts decides,
// steps.ts carries it out. While a task runs, the manager only keeps its lock and publishes its state.
import type { Parameters, PostgresServer } from '../postgres/server-interface.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import type { ManagerContext } from './context.ts';
import { decide } from './decide.ts';
import type { PeerAnswer } from './election.ts';
import { Heartbeat } from './heartbeat.ts';
import { Instance } from './instance.ts';
import { readMemberFile } from './member-file.ts';
import type { MemberFile } from './member-file.ts';
import { memberView, publishedMember } from './member-view.ts';
import type { MemberFacts } from './member-view.ts';
import type { Pulse } from './operation-outcomes.ts';
import { readCatalog, usable } from './parameter-catalog.ts';
import type { Catalog } from './parameter-catalog.ts';
import { composeParameters } from './parameters.ts';
import type { AskPeers } from './peers.ts';
import type { PostgresReport, ReportOutcome } from './postgres-report.ts';
import { runScheduledRestart } from './restart.ts';
import { NotStreaming, situationOf } from './situation.ts';
import { carryOut } from './steps.ts';
import type { StoreLink } from './store-link.ts';
import { StoreSession } from './store-session.ts';
import { msUntil } from './switchover-plan.ts';
import type { MemberView, ScheduledRestart, Tags } from './view.ts';

export interface ManagerOptions {
  readonly name: string;
  readonly apiUrl: string;
  readonly server: PostgresServer;
  /** The role of the data directory. */
  readonly role: 'primary' | 'replica';
  readonly systemIdentifier: string;
  readonly store: StoreLink;
  readonly askPeers: AskPeers;
  /** The source of a base backup. */
  readonly serverOf: (member: string) => PostgresServer | undefined;
  /** The member's configuration file. May be missing. */
  readonly filePath: string;
  readonly onEvent?: (event: ManagerEvent) => void;
  readonly clock?: Clock;
}

export type ManagerEvent =
  | { readonly kind: 'member_state'; readonly member: string; readonly text: string }
  /** The member became the leader, or its timeline changed. */
  | { readonly kind: 'leads'; readonly member: string; readonly timeline: number }
  | { readonly kind: 'warning'; readonly text: string };

/** A server whose query takes longer counts as hanging. The lock expires meanwhile. */
const HANGING_MS = 10_000;
const MAX_PEER_DEADLINE_MS = 1_000;

export class Manager implements ManagerContext {
  readonly name: string;
  readonly #options: ManagerOptions;
  readonly store: StoreLink;
  readonly session: StoreSession;
  readonly instance: Instance;
  readonly clock: Clock;
  readonly heartbeat: Heartbeat;
  #synchronousStandbyNames = '';
  #scheduledRestart: ScheduledRestart | undefined;
  #report: PostgresReport | undefined;
  #lastReport: PostgresReport | undefined;
  readonly #notStreaming = new NotStreaming();
  #told = '';
  #file: MemberFile = { tags: {}, parameters: {}, warnings: [] };
  #catalog: Catalog | undefined;
  #task: { readonly name: string; readonly ended: Promise<unknown> } | undefined;
  #isAbandoned = false;
  #stopWatching = (): void => {};

  constructor(options: ManagerOptions) {
    const { name, server, role, store, clock = systemClock } = options;
    this.name = name;
    this.#options = options;
    this.store = store;
    this.clock = clock;
    this.session = new StoreSession(name, store, clock);
    this.instance = new Instance({
      server,
      role,
      onState: (state) => {
        this.publish();
        this.tell(state);
      },
    });
    this.heartbeat = new Heartbeat({
      beat: () => this.#beat(),
      onError: (error) => this.warn(`heartbeat failed: ${String(error)}`),
      waitMs: () => this.#waitMs(),
      clock,
    });
  }

  /** The heartbeat does the rest: it starts the server in the role that the lock demands. */
  async start(): Promise<void> {
    await this.readFile();
    this.session.read();
    this.publish();
    this.#stopWatching = this.store.watch(() => this.#onStoreChange());
    this.heartbeat.start();
  }

  /** Stops every start, decision and publication. */
  abandon(): void {
    this.#isAbandoned = true;
    this.instance.abandon();
    this.#stopWatching();
  }

  isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Leaves the server alone. Idempotent. */
  async close(): Promise<void> {
    this.abandon();
    await this.heartbeat.close();
    await this.taskEnded();
  }

  /** Resolves when the heartbeat and the task have stopped. */
  async freeze(): Promise<void> {
    await this.heartbeat.freeze();
    await this.taskEnded();
  }

  report(): PostgresReport | undefined {
    return this.#report;
  }

  reported(report: PostgresReport): void {
    this.#report = report;
  }

  scheduledRestart(): ScheduledRestart | undefined {
    return this.#scheduledRestart;
  }

  setScheduledRestart(restart: ScheduledRestart | undefined): void {
    this.#scheduledRestart = restart;
  }

  setSynchronousStandbyNames(names: string): void {
    this.#synchronousStandbyNames = names;
  }

  serverOf(member: string): PostgresServer | undefined {
    return this.#options.serverOf(member);
  }

  tags(): Tags {
    return this.#file.tags;
  }

  pulse(): Pulse {
    const { ttlMs, isPaused } = this.session.settings();
    const member = memberView(this.#facts(), this.#report);
    return { heartbeatAgeMs: member.heartbeatAgeMs, role: member.role, ttlMs, isPaused, member };
  }

  async look(deadlineMs: number = HANGING_MS): Promise<MemberView> {
    const outcome = await this.instance.report(deadlineMs);
    return memberView(this.#facts(), this.#noted(outcome));
  }

  publish(): void {
    if (this.#isAbandoned) return;
    const report = this.instance.state() === 'running' ? this.#report : undefined;
    this.store.publish(publishedMember(this.#facts(), report), this.session.settings().ttlMs);
  }

  tell(text: string): void {
    if (this.#isAbandoned || this.#told === text) return;
    this.#told = text;
    this.#options.onEvent?.({ kind: 'member_state', member: this.name, text });
  }

  warn(text: string): void {
    if (!this.#isAbandoned) this.#options.onEvent?.({ kind: 'warning', text: `${this.name}: ${text}` });
  }

  tellLeads(timeline: number): void {
    if (!this.#isAbandoned) this.#options.onEvent?.({ kind: 'leads', member: this.name, timeline });
  }

  parameters(): Parameters {
    return composeParameters({
      dynamic: usable(this.session.settings().parameters, this.#catalog),
      local: usable(this.#file.parameters, this.#catalog),
      synchronousStandbyNames: this.#synchronousStandbyNames,
    });
  }

  /** Returns the problem, with nothing changed; undefined when the file was read. */
  async readFile(): Promise<string | undefined> {
    const read = await readMemberFile(this.#options.filePath);
    if (read.kind === 'invalid') {
      this.warn(read.text);
      return read.text;
    }
    this.#file = read.file;
    for (const warning of read.file.warnings) this.warn(warning);
    return undefined;
  }

  task(): string | undefined {
    return this.#task?.name;
  }

  runAlone<T>(name: string, work: () => Promise<T>): Promise<T> | undefined {
    if (this.#task !== undefined) return undefined;
    const result = this.#runTask(work);
    this.#task = { name, ended: result.catch(() => {}) };
    return result;
  }

  /** Resolves when the current task has ended. */
  async taskEnded(): Promise<void> {
    await this.#task?.ended;
  }

  async askOthers(names?: readonly string[]): Promise<readonly PeerAnswer[]> {
    const others = (this.session.cluster()?.members ?? []).filter(
      ({ name }) => name !== this.name && (names === undefined || names.includes(name)),
    );
    return this.#options.askPeers(others, Math.min(this.session.settings().retryTimeoutMs, MAX_PEER_DEADLINE_MS));
  }

  #onStoreChange(): void {
    if (this.heartbeat.isFrozen()) return;
    this.session.read();
    this.heartbeat.poke();
  }

  async #runTask<T>(work: () => Promise<T>): Promise<T> {
    // The task must be known before it begins.
    await Promise.resolve();
    try {
      return await work();
    } finally {
      this.#task = undefined;
      this.heartbeat.poke();
    }
  }

  #noted(outcome: ReportOutcome): PostgresReport | undefined {
    if (outcome.kind !== 'report') return undefined;
    this.#lastReport = outcome.report;
    return outcome.report;
  }

  /** Returns true when the beat ran to its end. */
  async #beat(): Promise<boolean> {
    const outcome = this.#task === undefined ? await this.instance.report(HANGING_MS) : undefined;
    if (this.#isAbandoned || outcome?.kind === 'hanging') return false;
    this.#report = outcome === undefined ? undefined : this.#noted(outcome);
    const lock = await this.session.heartbeat(() => this.#isVouched());
    if (this.#task === undefined && outcome !== undefined) {
      await this.#applyParameters();
      await carryOut(decide(situationOf(this, lock, this.#notStreaming.ms(this, lock))), this);
      runScheduledRestart(this);
    }
    this.publish();
    return true;
  }

  async #applyParameters(): Promise<void> {
    if (this.#report === undefined) return;
    if (this.instance.state() === 'starting') this.instance.answered();
    this.#catalog ??= await readCatalog(this.instance.server);
    await this.instance.configure(this.parameters());
  }

  /** Failsafe mode: whether every other member answers this primary. */
  async #isVouched(): Promise<boolean> {
    if (this.#report?.isInRecovery !== false) return false;
    const answers = await this.askOthers();
    return answers.every((answer) => answer.kind === 'answered');
  }

  /** Until the next beat. A scheduled operation brings it forward. */
  #waitMs(): number {
    const times = [this.session.cluster()?.switchover?.at, this.#scheduledRestart?.schedule];
    const waits = times.map((at) => msUntil(at, new Date())).filter((ms) => ms > 0);
    return Math.min(this.session.settings().loopWaitMs, ...waits);
  }

  #facts(): MemberFacts {
    const { name, apiUrl, server, systemIdentifier } = this.#options;
    return {
      name,
      apiUrl,
      host: server.host,
      port: server.port,
      systemIdentifier,
      tags: this.#file.tags,
      state: this.instance.state(),
      role: this.instance.role(),
      hasLock: this.session.hasLock(),
      isStandbyCluster: this.session.settings().standbyCluster !== undefined,
      scheduledRestart: this.#scheduledRestart,
      heartbeatAgeMs: this.heartbeat.ageMs(),
      storeSeenAt: this.session.seenAt(),
      cluster: this.session.cluster(),
      lastKnown: this.#lastReport,
      isFailsafeActive: this.session.isFailsafeActive(),
    };
  }
}
