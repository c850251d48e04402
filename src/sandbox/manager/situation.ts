// Collects the input of decide.ts from a manager at one moment.
import type { LockView, Situation } from './decide.ts';
import { hasDiverged } from './election.ts';
import type { ManagerContext } from './context.ts';
import { isDue } from './switchover-plan.ts';

export function situationOf(manager: ManagerContext, lock: LockView, notStreamingMs: number): Situation {
  const { name, instance, session } = manager;
  const switchover = session.cluster()?.switchover;
  return {
    me: name,
    lock,
    server: serverOf(manager),
    wasPrimary: instance.role() === 'primary',
    upstream: instance.upstream(),
    failedStarts: instance.failedStarts(),
    hasDiverged: isBeyondFork(manager),
    notStreamingMs,
    settings: session.settings(),
    switchover,
    isSwitchoverDue: switchover !== undefined && isDue(switchover, new Date()),
  };
}

function serverOf(manager: ManagerContext): Situation['server'] {
  const { instance } = manager;
  const report = manager.report();
  if (!instance.server.isAlive()) return 'stopped';
  // The server answered with an error: the next beat sees more.
  if (report === undefined) return instance.state() === 'starting' ? 'starting' : 'hanging';
  return report.isInRecovery ? 'standby' : 'primary';
}

function isBeyondFork(manager: ManagerContext): boolean {
  const [report, { session }] = [manager.report(), manager];
  if (report?.wal.kind !== 'replica' || report.isStreaming) return false;
  const own = { timeline: report.timeline, position: report.wal.replayed };
  return hasDiverged(own, session.cluster()?.history ?? []);
}

/** How long a standby has not streamed although its leader runs. */
export class NotStreaming {
  #since: number | undefined;

  ms(manager: ManagerContext, lock: LockView): number {
    const [report, { session, clock }] = [manager.report(), manager];
    const by = lock.kind === 'held' ? lock.by : undefined;
    const leader = session.cluster()?.members.find(({ name }) => name === by);
    const hasSource = leader?.state === 'running' && leader.role !== 'replica';
    const isStuck = hasSource && report?.isInRecovery === true && !report.isStreaming;
    this.#since = isStuck ? (this.#since ?? clock.now()) : undefined;
    return this.#since === undefined ? 0 : clock.now() - this.#since;
  }
}
