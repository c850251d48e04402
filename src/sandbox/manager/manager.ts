// One member's manager: its heartbeat, its PostgreSQL server, and at most one task beside them. decide.ts decides,
// steps.ts carries it out. While a task runs, the manager only keeps its lock and publishes its state.
import { systemClock } from './clock.ts';
import { decide } from './decide.ts';
import { Heartbeat } from './heartbeat.ts';
import { ManagedMember, type ManagerOptions } from './managed-member.ts';
import { runScheduledRestart } from './restart.ts';
import { NotStreaming, situationOf } from './situation.ts';
import { carryOut } from './steps.ts';
import { msUntil } from './switchover-plan.ts';

export class Manager {
  readonly member: ManagedMember;
  readonly #heartbeat: Heartbeat;
  readonly #notStreaming = new NotStreaming();
  #stopWatching = (): void => {};

  constructor(options: ManagerOptions) {
    this.#heartbeat = new Heartbeat({
      beat: () => this.#beat(),
      onError: (error) => this.member.warn(`heartbeat failed: ${String(error)}`),
      waitMs: () => this.#waitMs(),
      clock: options.clock ?? systemClock,
    });
    this.member = new ManagedMember(options, this.#heartbeat);
  }

  /** The heartbeat does the rest: it starts the server in the role that the lock demands. */
  async start(): Promise<void> {
    const { configuration, session, store } = this.member;
    await configuration.readFile();
    session.read();
    this.member.publish();
    this.#stopWatching = store.watch(() => {
      if (this.#heartbeat.isFrozen()) return;
      session.read();
      this.#heartbeat.poke();
    });
    this.#heartbeat.start();
  }

  /** Stops every start, decision and publication. */
  abandon(): void {
    this.member.abandon();
    this.#stopWatching();
  }

  /** Leaves the server alone. Idempotent. */
  async close(): Promise<void> {
    this.abandon();
    await this.#heartbeat.close();
    await this.member.task.ended();
  }

  /** Resolves when the heartbeat and the task have stopped. */
  async freeze(): Promise<void> {
    await this.#heartbeat.freeze();
    await this.member.task.ended();
  }

  thaw(): void {
    this.#heartbeat.thaw();
  }

  /** Returns true when the beat ran to its end. */
  async #beat(): Promise<boolean> {
    const { member } = this;
    const { instance, session, task } = member;
    const outcome = task.name() === undefined ? await member.ask() : undefined;
    if (member.isAbandoned() || outcome?.kind === 'hanging') return false;
    member.report = outcome?.kind === 'report' ? outcome.report : undefined;
    const lock = await session.heartbeat(() => this.#isVouched());
    if (task.name() === undefined && outcome !== undefined) {
      if (member.report !== undefined) {
        if (instance.state() === 'starting') instance.answered();
        await member.configuration.learnFrom(instance.server);
        await instance.configure(member.parameters());
      }
      await carryOut(decide(situationOf(member, lock, this.#notStreaming.ms(member, lock))), member);
      runScheduledRestart(member);
    }
    member.publish();
    return true;
  }

  /** Failsafe mode: whether every other member answers this primary. */
  async #isVouched(): Promise<boolean> {
    if (this.member.report?.isInRecovery !== false) return false;
    const answers = await this.member.askOthers();
    return answers.every((answer) => answer.kind === 'answered');
  }

  /** Until the next beat. A scheduled operation brings it forward. */
  #waitMs(): number {
    const { session, scheduledRestart } = this.member;
    const times = [session.cluster()?.switchover?.at, scheduledRestart?.schedule];
    const waits = times.map((at) => msUntil(at, new Date())).filter((ms) => ms > 0);
    return Math.min(session.settings().loopWaitMs, ...waits);
  }
}
