// Collects the input of decide.ts from a manager at one moment.
import type { LockView, Situation } from './decide.ts';
import { hasDiverged } from './election.ts';
import type { ManagedMember } from './managed-member.ts';
import { isDue } from './switchover-plan.ts';

export function situationOf(member: ManagedMember, lock: LockView, notStreamingMs: number): Situation {
  const { name, instance, session } = member;
  const switchover = session.cluster()?.switchover;
  return {
    me: name,
    lock,
    server: serverOf(member),
    wasPrimary: instance.role() === 'primary',
    upstream: instance.upstream(),
    failedStarts: instance.failedStarts(),
    hasDiverged: isBeyondFork(member),
    notStreamingMs,
    settings: session.settings(),
    switchover,
    isSwitchoverDue: switchover !== undefined && isDue(switchover, new Date()),
  };
}

function serverOf(member: ManagedMember): Situation['server'] {
  const { instance } = member;
  const report = member.report;
  if (!instance.server.isAlive()) return 'stopped';
  // The server answered with an error: the next beat sees more.
  if (report === undefined) return instance.state() === 'starting' ? 'starting' : 'hanging';
  return report.isInRecovery ? 'standby' : 'primary';
}

function isBeyondFork(member: ManagedMember): boolean {
  const [report, { session }] = [member.report, member];
  if (report?.wal.kind !== 'replica' || report.isStreaming) return false;
  const own = { timeline: report.timeline, position: report.wal.replayed };
  return hasDiverged(own, session.cluster()?.history ?? []);
}

/** How long a standby has not streamed although its leader runs. */
export class NotStreaming {
  #since: number | undefined;

  ms(member: ManagedMember, lock: LockView): number {
    const [report, { session, clock }] = [member.report, member];
    const by = lock.kind === 'held' ? lock.by : undefined;
    const leader = session.cluster()?.members.find(({ name }) => name === by);
    const hasSource = leader?.state === 'running' && leader.role !== 'replica';
    const isStuck = hasSource && report?.isInRecovery === true && !report.isStreaming;
    this.#since = isStuck ? (this.#since ?? clock.now()) : undefined;
    return this.#since === undefined ? 0 : clock.now() - this.#since;
  }
}
