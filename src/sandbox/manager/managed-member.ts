// One member as its manager works on it: its server, its view of the store, its settings and its one task. The steps
// and the operations act on it; it decides nothing.
import type { Clock } from '../../model/instant.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Parameters } from '../postgres/server-types.ts';
import { systemClock } from './clock.ts';
import type { PeerAnswer } from './election.ts';
import type { Heartbeat } from './heartbeat.ts';
import { Instance } from './instance.ts';
import { MemberConfiguration } from './member-configuration.ts';
import { memberView, publishedMember } from './member-view.ts';
import type { AskPeers } from './peers.ts';
import type { PostgresReport, ReportOutcome } from './postgres-report.ts';
import { SoleTask } from './sole-task.ts';
import type { StoreLink } from './store-link.ts';
import { StoreSession } from './store-session.ts';
import type { MemberKnowledge, MemberView, ScheduledRestart } from './view.ts';

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
  /** The text begins with the member's name. */
  | { readonly kind: 'member_state' | 'warning'; readonly text: string }
  /** The member became the leader, or its timeline changed. */
  | { readonly kind: 'leads'; readonly member: string; readonly timeline: number };

/** A server whose query takes longer counts as hanging. The lock expires meanwhile. */
const HANGING_MS = 10_000;
const MAX_PEER_DEADLINE_MS = 1_000;

export class ManagedMember {
  readonly name: string;
  readonly clock: Clock;
  readonly store: StoreLink;
  readonly session: StoreSession;
  readonly instance: Instance;
  readonly configuration: MemberConfiguration;
  readonly task: SoleTask;
  readonly heartbeat: Pick<Heartbeat, 'ageMs' | 'poke'>;
  /** The source of a base backup. */
  readonly serverOf: ManagerOptions['serverOf'];
  /** The report of the last heartbeat. Undefined: PostgreSQL did not answer. */
  report: PostgresReport | undefined;
  scheduledRestart: ScheduledRestart | undefined;
  readonly #options: ManagerOptions;
  #lastReport: PostgresReport | undefined;
  #told = '';
  #isAbandoned = false;

  constructor(options: ManagerOptions, heartbeat: ManagedMember['heartbeat']) {
    const { name, server, role, store, serverOf, filePath, clock = systemClock } = options;
    this.name = name;
    this.clock = clock;
    this.store = store;
    this.serverOf = serverOf;
    this.heartbeat = heartbeat;
    this.#options = options;
    this.session = new StoreSession(name, store, clock);
    this.configuration = new MemberConfiguration(filePath, (text) => this.warn(text));
    this.task = new SoleTask(() => heartbeat.poke());
    this.instance = new Instance(server, role, (state) => {
      this.publish();
      this.tell(state);
    });
  }

  /** Stops every start, decision and publication. */
  abandon(): void {
    this.#isAbandoned = true;
    this.instance.abandon();
  }

  isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Queries PostgreSQL. Its last report is shown while it does not answer. */
  async ask(deadlineMs: number = HANGING_MS): Promise<ReportOutcome> {
    const outcome = await this.instance.report(deadlineMs);
    if (outcome.kind === 'report') this.#lastReport = outcome.report;
    return outcome;
  }

  async look(deadlineMs?: number): Promise<MemberView> {
    const outcome = await this.ask(deadlineMs);
    return memberView(this.#facts(), outcome.kind === 'report' ? outcome.report : undefined);
  }

  /** The view of the last heartbeat. */
  pulse(): MemberView {
    return memberView(this.#facts(), this.report);
  }

  publish(): void {
    if (this.#isAbandoned) return;
    const report = this.instance.state() === 'running' ? this.report : undefined;
    this.store.publish(publishedMember(this.#facts(), report), this.session.settings().ttlMs);
  }

  /** The parameters for the PostgreSQL server. */
  parameters(): Parameters {
    return this.configuration.parameters(this.session.settings().parameters);
  }

  /** Asks the other members, as the store last listed them. */
  askOthers(names?: readonly string[]): Promise<readonly PeerAnswer[]> {
    const others = (this.session.cluster()?.members ?? []).filter(
      ({ name }) => name !== this.name && (names === undefined || names.includes(name)),
    );
    return this.#options.askPeers(others, Math.min(this.session.settings().retryTimeoutMs, MAX_PEER_DEADLINE_MS));
  }

  /** Reports the text as an event, once for the same text in a row. */
  tell(text: string): void {
    if (this.#told === text) return;
    this.#told = text;
    this.#emit({ kind: 'member_state', text: `${this.name}: ${text}` });
  }

  tellLeads(timeline: number): void {
    this.#emit({ kind: 'leads', member: this.name, timeline });
  }

  warn(text: string): void {
    this.#emit({ kind: 'warning', text: `${this.name}: ${text}` });
  }

  #emit(event: ManagerEvent): void {
    if (!this.#isAbandoned) this.#options.onEvent?.(event);
  }

  #facts(): MemberKnowledge {
    const { name, apiUrl, server, systemIdentifier } = this.#options;
    return {
      name,
      apiUrl,
      host: server.host,
      port: server.port,
      systemIdentifier,
      tags: this.configuration.tags(),
      state: this.instance.state(),
      role: this.instance.role(),
      hasLock: this.session.hasLock(),
      scheduledRestart: this.scheduledRestart,
      heartbeatAgeMs: this.heartbeat.ageMs(),
      storeSeenAt: this.session.seenAt(),
      cluster: this.session.cluster(),
      lastKnown: this.#lastReport,
      isFailsafeActive: this.session.isFailsafeActive(),
    };
  }
}
