// What decide.ts decides by, gathered from a manager in one moment.
import type { LockView, Situation } from './decide.ts';
import { hasDiverged } from './election.ts';
import type { Manager } from './manager.ts';
import { isDue } from './switchover-plan.ts';

export function situationOf(manager: Manager, lock: LockView, notStreamingMs: number): Situation {
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

function serverOf({ instance, report }: Manager): Situation['server'] {
  if (!instance.server.isAlive()) return 'stopped';
  // An error instead of an answer: the next beat sees more.
  if (report === undefined) return instance.state() === 'starting' ? 'starting' : 'hanging';
  return report.isInRecovery ? 'standby' : 'primary';
}

function isBeyondFork({ report, session }: Manager): boolean {
  if (report?.wal.kind !== 'replica' || report.isStreaming) return false;
  const own = { timeline: report.timeline, position: report.wal.replayed };
  return hasDiverged(own, session.cluster()?.history ?? []);
}

/** For how long a standby has not streamed although its leader runs. */
export class NotStreaming {
  #since: number | undefined;

  ms({ report, session, clock }: Manager, lock: LockView): number {
    const by = lock.kind === 'held' ? lock.by : undefined;
    const leader = session.cluster()?.members.find(({ name }) => name === by);
    const hasSource = leader?.state === 'running' && leader.role !== 'replica';
    const isStuck = hasSource && report?.isInRecovery === true && !report.isStreaming;
    this.#since = isStuck ? (this.#since ?? clock.now()) : undefined;
    return this.#since === undefined ? 0 : clock.now() - this.#since;
  }
}
