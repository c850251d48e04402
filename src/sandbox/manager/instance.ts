// A member's PostgreSQL, and what its manager knows without a query: state, role, upstream, parameters. It makes no
// decision. An abandoned instance starts nothing any more.
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Parameters, ServerRole, StartOutcome, Upstream } from '../postgres/server-types.ts';
import { isWithin } from '../postgres/within.ts';
import { isSame, raisedToPrimary } from './parameters.ts';
import { reportOf, type ReportOutcome } from './postgres-report.ts';
import type { MemberRole, MemberState } from './view.ts';

/** PostgreSQL names one insufficient parameter per start, and there are five. */
const MAX_RAISES = 5;
const FAST_STOP_MS = 4_000;

export class Instance {
  readonly server: PostgresServer;
  readonly #onState: (state: MemberState) => void;
  readonly #stopListening: () => void;
  #state: MemberState = 'stopped';
  #role: MemberRole;
  #upstream: Upstream | undefined;
  #running: Parameters = {};
  #configured: Parameters = {};
  #failedStarts = 0;
  #isAbandoned = false;

  /** `role`: of the data directory when the manager began. */
  constructor(server: PostgresServer, role: 'primary' | 'replica', onState: (state: MemberState) => void) {
    this.server = server;
    this.#role = role;
    this.#onState = onState;
    this.#stopListening = this.server.onExit(() => {
      // A wanted end has its own state, which was set before the process was gone.
      if (this.#state === 'running') this.#enter('crashed');
    });
  }

  state(): MemberState {
    return this.#state;
  }

  role(): MemberRole {
    return this.#role;
  }

  upstream(): Upstream | undefined {
    return this.#upstream;
  }

  failedStarts(): number {
    return this.#failedStarts;
  }

  report(deadlineMs: number): Promise<ReportOutcome> {
    return this.server.isAlive() ? reportOf(this.server, deadlineMs) : Promise.resolve({ kind: 'failed' });
  }

  async start(role: ServerRole, parameters: Parameters, timeoutMs?: number): Promise<StartOutcome> {
    if (this.#isAbandoned) return { kind: 'failed', reason: 'exited', log: 'abandoned' };
    this.#enter('starting');
    this.#role = role.kind === 'primary' ? 'primary' : 'replica';
    this.#upstream = role.kind === 'primary' ? undefined : role.upstream;
    const { outcome, used } = await this.#startRaised(role, parameters, timeoutMs);
    this.#running = used;
    this.#configured = used;
    if (outcome.kind === 'failed') {
      await this.#endFailedStart(role);
      return outcome;
    }
    this.answered();
    await this.configure(parameters);
    return outcome;
  }

  /** It accepts connections, possibly long after it was started. */
  answered(): void {
    this.#failedStarts = 0;
    this.#enter('running');
  }

  /** Fast, then immediate when that takes too long: a frozen standby can delay a fast shutdown. */
  async stop(mode: 'fast' | 'immediate', state: MemberState = 'stopping'): Promise<void> {
    this.#enter(state);
    const isStopped = mode === 'fast' && (await isWithin(this.server.stop('fast'), FAST_STOP_MS));
    if (!isStopped) await this.server.stop('immediate');
    if (this.#state === 'stopping') this.#enter('stopped');
  }

  /** It is no longer the leader, and says so before its server is gone. */
  demoted(): void {
    this.#role = 'demoted';
  }

  async promote(): Promise<void> {
    await this.server.promote();
    this.#role = 'primary';
    this.#upstream = undefined;
  }

  async follow(upstream: Upstream | undefined): Promise<void> {
    await this.server.follow(upstream);
    this.#upstream = upstream;
  }

  /** Parameters that need a restart stay pending. */
  async configure(parameters: Parameters): Promise<void> {
    if (isSame(parameters, this.#configured) || !this.server.isAlive()) return;
    await this.server.configure(parameters);
    this.#configured = parameters;
  }

  /** A standby is made anew from a base backup. It is not started. */
  async rebuildFrom(source: PostgresServer): Promise<void> {
    if (this.server.isAlive()) await this.stop('immediate');
    if (this.#isAbandoned) return;
    this.#enter('creating replica');
    this.#role = 'uninitialized';
    await this.server.rebuildFrom(source);
    this.#failedStarts = 0;
    this.#running = {};
    this.#role = 'replica';
    this.#enter('stopped');
  }

  /** Called after a failed rebuild. */
  failed(): void {
    this.#failedStarts += 1;
    this.#enter('stopped');
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#stopListening();
  }

  /** A standby may become consistent when more WAL arrives. A primary that is not ready in time cannot lead. */
  async #endFailedStart(role: ServerRole): Promise<void> {
    this.#failedStarts += 1;
    if (!this.server.isAlive()) return this.#enter('start failed');
    if (role.kind === 'standby') return this.#enter('starting');
    await this.server.stop('immediate');
    this.#enter('start failed');
  }

  async #startRaised(
    role: ServerRole,
    parameters: Parameters,
    timeoutMs: number | undefined,
  ): Promise<{ readonly outcome: StartOutcome; readonly used: Parameters }> {
    let used = parameters;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.server.start(role, used, timeoutMs);
      const isTooLow = outcome.kind === 'failed' && outcome.reason === 'insufficient_parameters';
      if (!isTooLow || attempt >= MAX_RAISES || this.#isAbandoned) return { outcome, used };
      const raised = raisedToPrimary(used, this.#running, outcome.log);
      if (raised === undefined) return { outcome, used };
      used = raised;
    }
  }

  #enter(state: MemberState): void {
    if (this.#state === state || this.#isAbandoned) return;
    this.#state = state;
    this.#onState(state);
  }
}
