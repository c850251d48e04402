// One client connection from accept to close: the stage that it is in (stage.ts), and what outlives its stages. `move`
// is the only method that changes its state. A session ends with exactly one close reason and one event.
import { CLOSE_REASONS, type CloseReason } from '../model/close-reason.ts';
import type { Address } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { SessionEntry, StatementEnd } from '../reports/session-list.ts';
import { nextSessionState, type SessionEvent, type SessionState } from '../reports/session-state.ts';
import type { Slot } from './accept/admission.ts';
import { Arriving } from './arriving.ts';
import { Leaving } from './ending/leaving.ts';
import { asStepOf } from './fault.ts';
import type { SessionMover } from './moves/session-mover.ts';
import type { ProxyParts } from './assembly.ts';
import { SessionRecord } from './session-record.ts';
import { peerText, type ProxySocket } from './socket.ts';
import type { Assignment, SessionControl, SessionListing, Stage } from './stage.ts';

/** The client of a new session. */
export interface AcceptedSocket {
  readonly policy: PoolPolicy;
  readonly listener: Address;
  readonly client: ProxySocket;
  /** A load balancer, which names its own client first. */
  readonly awaitsHeader: boolean;
}

export class Session implements SessionControl {
  readonly id: number;
  client: string;
  readonly listener: Address;
  pool: PoolName;
  movable: SessionMover | undefined;
  listing: SessionListing | undefined;
  readonly #parts: ProxyParts;
  readonly #record: SessionRecord;
  readonly #slot: Slot;
  readonly #idleListeners = new Set<() => void>();
  #state: SessionState = 'startup';
  #stage: Stage;
  #assignment: Assignment | undefined;

  constructor(id: number, { policy, listener, client, awaitsHeader }: AcceptedSocket, parts: ProxyParts) {
    this.id = id;
    this.listener = listener;
    this.pool = policy.name;
    this.#parts = parts;
    this.client = peerText(client);
    const record = new SessionRecord(this, client, parts);
    this.#record = record;
    const slot = parts.admission.admit(awaitsHeader ? undefined : record.address(), {
      bytesRead: () => client.bytesRead,
      drop: () => this.cut('startup_timeout', 'silent while others needed the room'),
    });
    this.#slot = slot;
    this.#stage = new Arriving({
      session: this,
      client,
      awaitsHeader,
      policy,
      slot,
      record,
      idleListeners: this.#idleListeners,
      parts,
      adopt: (adoption) => {
        this.movable = parts.mover.adopt({ session: this, record, ...adoption });
        return this.movable;
      },
    });
  }

  start(): void {
    this.#parts.registry.add(this);
    if (this.#stage instanceof Arriving) this.#stage.start();
  }

  get state(): SessionState {
    return this.#state;
  }

  assignment(): Assignment | undefined {
    return this.#assignment;
  }

  assign(assignment: Assignment | undefined): void {
    this.#parts.registry.assign(this, assignment, this.#assignment);
    this.#assignment = assignment;
  }

  isIdle(): boolean {
    return this.#state === 'relaying' && this.#stage.isIdle?.() === true;
  }

  settlesInMs(): number {
    return this.#stage.settlesInMs?.() ?? 0;
  }

  onIdle(run: () => void): () => void {
    const listeners = this.#idleListeners;
    listeners.add(run);
    return () => {
      if (listeners.delete(run) && listeners.size === 0) this.movable?.goOn();
    };
  }

  end(reason: CloseReason, detail?: string): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    asStepOf(this, () => {
      const farewell = this.#stage.farewell(reason, detail);
      if (farewell === undefined) return this.cut(reason, detail);
      const leaving = new Leaving(farewell, this.#parts.clock, this);
      if (!this.move('end', leaving)) return undefined;
      this.#record.closing(farewell.reason, farewell.detail);
      this.movable?.ended(farewell.reason, farewell.detail);
      // Its client may take its time to read, and no longer counts as a session.
      if (farewell.isLost === true) this.#slot.becomeOverLimit();
      return leaving.start();
    });
  }

  cut(reason: CloseReason, detail?: string): void {
    if (this.#state === 'closed') return;
    try {
      this.#slot.release();
      this.move('close');
      this.movable?.ended(reason, detail);
    } finally {
      // Whatever has thrown may throw again: its sockets are closed all the same.
      this.#stage.drop(CLOSE_REASONS[reason].isReset);
      this.#record.closed(reason, detail);
    }
  }

  reroute(mustLeave = false): void {
    this.#stage.reroute?.(mustLeave);
  }

  entry(): SessionEntry {
    const stage = this.#stage;
    const isRelayed = this.#state === 'relaying';
    const read = isRelayed ? stage.waitingRead?.() : undefined;
    const known = this.#record.entry(stage.client(), isRelayed ? stage.activity?.() : undefined);
    const entry = read === undefined ? known : { ...known, read };
    return this.movable === undefined ? entry : { ...entry, moves: this.movable.shown() };
  }

  sockets(): { readonly client: ProxySocket; readonly backend: ProxySocket | undefined } {
    return { client: this.#stage.client(), backend: this.#stage.backend?.() };
  }

  endStatement(): StatementEnd {
    return (this.#state === 'relaying' ? this.#stage.endStatement?.() : undefined) ?? 'none';
  }

  move(step: SessionEvent, next?: Stage): boolean {
    const from = this.#state;
    const to = nextSessionState(from, step);
    if (from === 'closed') return false;
    if (to === undefined) {
      this.cut('internal_error', `no step "${step}" from "${from}"`);
      return false;
    }
    this.#state = to;
    if (to !== from) this.#record.stateChanged();
    this.#slot.setStarting(to === 'startup');
    this.#stage.left(to);
    this.#stage = next ?? this.#stage;
    if (to !== 'relaying' && to !== from) this.assign(undefined);
    this.#parts.registry.moved(this, from, to);
    return true;
  }
}
