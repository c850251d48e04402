// The facts about one client connection that its events report: the client, its login, its member, and how it ended.
import type { Socket } from 'node:net';
import type { CloseReason } from '../model/close-reason.ts';
import type { Login, ProxyEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Traffic } from './relay/directions.ts';
import { peerText } from './socket.ts';

export interface RecordInputs {
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
}

export class SessionRecord {
  readonly traffic: Traffic = { toBackendBytes: 0, toClientBytes: 0 };
  readonly #session: number;
  readonly #client: string;
  readonly #address: string;
  readonly #inputs: RecordInputs;
  readonly #acceptedAt: Instant;
  #login: Login = {};
  #member: MemberName | undefined;
  #heldSince: Instant | undefined;
  #ending: { readonly reason: CloseReason; readonly detail: string | undefined } | undefined;

  constructor(session: number, client: Socket, inputs: RecordInputs) {
    this.#session = session;
    this.#client = peerText(client);
    this.#address = client.remoteAddress ?? 'unknown';
    this.#inputs = inputs;
    this.#acceptedAt = inputs.clock.now();
  }

  /** The client's, without its port. */
  address(): string {
    return this.#address;
  }

  accepted(pool: PoolName): void {
    this.#inputs.onEvent({ kind: 'client_accepted', pool, session: this.#session, client: this.#client });
  }

  loggedIn(login: Login): void {
    this.#login = login;
  }

  /** The start of its first wait for a route, over all its waits. It is now if this is the first one. */
  heldSince(): Instant {
    this.#heldSince ??= this.#inputs.clock.now();
    return this.#heldSince;
  }

  waitedMs(): number {
    return this.#heldSince === undefined ? 0 : this.#inputs.clock.now() - this.#heldSince;
  }

  /** The last member that it was connected to. */
  reached(member: MemberName): void {
    this.#member = member;
  }

  opened(pool: PoolName, member: MemberName): void {
    this.reached(member);
    this.#inputs.onEvent({ kind: 'session_opened', ...this.#identity(pool), member });
  }

  /** The reason of the close message. It stays the reason, whatever happens while the client lingers. */
  closing(reason: CloseReason, detail: string | undefined): void {
    this.#ending ??= { reason, detail };
  }

  closed(pool: PoolName, reason: CloseReason, detail: string | undefined): void {
    const { clock, onEvent } = this.#inputs;
    onEvent({
      kind: 'session_closed',
      ...this.#identity(pool),
      member: this.#member,
      ...(this.#ending ?? { reason, detail }),
      durationMs: clock.now() - this.#acceptedAt,
      ...this.traffic,
    });
  }

  #identity(pool: PoolName) {
    return { pool, session: this.#session, client: this.#client, ...this.#login };
  }
}
